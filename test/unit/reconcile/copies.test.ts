// Copies whose name and metadata are templates on their namespace, and copies that two shares want with the same content.
import { describe, expect, test } from 'vitest';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { shareOf, team } from '../../support/provided.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();
const teamLabel = "${namespaceObject.metadata.labels['team']}";
const target = {
  name: `pull-${teamLabel}`,
  labels: { team: teamLabel },
  annotations: { 'reloader.stakater.com/match': 'true', of: '${namespaceObject.metadata.name}' },
};

function scene(options: Parameters<typeof harness>[0] = {}): Harness {
  const h = harness(options);
  h.namespace('reeve-shared');
  h.secret('reeve-shared', 'regcred', { user: 'u', password: 'canary' });
  h.secret('reeve-shared', 'same', { user: 'u', password: 'canary' });
  return h;
}

async function settled(h: Harness): Promise<Harness> {
  h.start();
  await h.settle();
  return h;
}

const names = (h: Harness, namespace: string): readonly string[] =>
  h.memory.list('Secret', namespace).map(({ metadata }) => metadata.name ?? '');
const ownerOf = (h: Harness, name: string): unknown =>
  h.get('Secret', name, 'a')?.metadata.annotations?.['reeve.dev/owner'];

describe('templates of copies', () => {
  test('a copy gets the name, labels and annotations that its namespace gives', async () => {
    const h = scene();
    h.namespace('a', { ...team, team: 'red' });
    h.share('s', shareOf({ target }));
    await settled(h);
    expect(h.get('Secret', 'pull-red', 'a')?.metadata).toMatchObject({
      labels: { team: 'red', 'reeve.dev/secretshare': 's' },
      annotations: { 'reloader.stakater.com/match': 'true', of: 'a' },
    });
    h.takeWrites();
    h.namespace('a', { ...team, team: 'red', other: 'x' });
    await h.settle();
    expect(h.takeWrites().filter(({ kind }) => kind === 'Secret')).toEqual([]);
  });

  test('a share that drops an annotation removes it from its copies', async () => {
    const h = scene();
    h.namespace('a', { ...team, team: 'red' });
    h.share('s', shareOf({ target }));
    await settled(h);
    h.share('s', shareOf({ target: { ...target, annotations: { of: 'b' } } }));
    await h.settle();
    const { annotations } = h.get('Secret', 'pull-red', 'a')?.metadata ?? {};
    expect(annotations).toMatchObject({ of: 'b' });
    expect(annotations).not.toHaveProperty('reloader.stakater.com/match');
  });

  test('a namespace whose label changes gets a copy of the new name, and loses the old one', async () => {
    const h = scene();
    h.namespace('a', { ...team, team: 'red' });
    h.share('s', shareOf({ target }));
    await settled(h);
    h.namespace('a', { ...team, team: 'blue' });
    await h.settle();
    expect(names(h, 'a')).toEqual(['pull-blue']);
  });

  test('the fuse counts the copies whose rendered name changes', async () => {
    const h = scene();
    for (const name of ['a', 'b', 'c']) h.namespace(name, { ...team, team: name });
    h.share('s', shareOf({ target, maxDeletions: 1 }));
    await settled(h);
    h.share('s', shareOf({ target: { ...target, name: `new-${teamLabel}` }, maxDeletions: 1 }));
    await h.settle();
    expect(['a', 'b', 'c'].map((name) => names(h, name))).toEqual([
      ['new-a', 'pull-a'],
      ['new-b', 'pull-b'],
      ['new-c', 'pull-c'],
    ]);
    expect(h.condition('SecretShare', 's', 'Stalled')).toMatchObject({ reason: 'TooManyDeletions' });
  });

  test('a namespace without the label gets no copy, which the status lists', async () => {
    const h = scene();
    h.namespace('a', team);
    h.namespace('b', { ...team, team: 'red' });
    h.share('s', shareOf({ target }));
    await settled(h);
    expect([names(h, 'a'), names(h, 'b')]).toEqual([[], ['pull-red']]);
    expect(h.status('SecretShare', 's')).toMatchObject({
      desired: 1,
      synced: 1,
      skipped: 1,
      skippedContents: [{ namespace: 'a' }],
    });
    expect(h.condition('SecretShare', 's')).toMatchObject({
      status: 'True',
      message: `1 object is in sync; 1 skipped, first Secret ${target.name} in namespace a: label team is missing`,
    });
  });

  test('a label that gives no legal name keeps the copy, and the status names the namespace', async () => {
    const h = scene();
    h.namespace('a', { ...team, team: 'red' });
    h.share('s', shareOf({ target }));
    await settled(h);
    h.namespace('a', { ...team, team: 'B_c' });
    await h.settle();
    expect(names(h, 'a')).toEqual(['pull-red']);
    expect(h.status('SecretShare', 's')).toMatchObject({
      failed: 1,
      failures: [
        {
          namespace: 'a',
          reason: 'RenderFailed',
          message: expect.stringContaining('name (from label team) is "pull-B_c"; accepted: ') as string,
        },
      ],
    });
  });

  test('a name that the install does not list is not written, and the copy of the old name stays', async () => {
    const h = scene({ install: { secretNames: ['pull-red', 'pull-blue'] } });
    h.namespace('a', { ...team, team: 'red' });
    h.namespace('b', { ...team, team: 'blue' });
    h.share('s', shareOf({ target }));
    await settled(h);
    expect([names(h, 'a'), names(h, 'b')]).toEqual([['pull-red'], ['pull-blue']]);
    h.namespace('a', { ...team, team: 'green' });
    await h.settle();
    expect(names(h, 'a')).toEqual(['pull-red']);
    expect(h.status('SecretShare', 's')).toMatchObject({
      failures: [
        { namespace: 'a', name: 'pull-green', reason: 'NameNotAllowed' },
        { namespace: 'a', name: 'pull-red', reason: 'NameNotAllowed' },
      ],
    });
  });
});

describe('two shares of the same content', () => {
  const [first, second] = [shareOf(), shareOf({ source: { namespace: 'reeve-shared', name: 'same' } })];
  const named = { target: { name: 'regcred' } };

  test('the first share by name owns the copy, and the status of both names the two', async () => {
    const h = scene();
    h.namespace('a', team);
    h.share('one', first);
    h.share('two', { ...second, ...named });
    await settled(h);
    expect(ownerOf(h, 'regcred')).toBe('SecretShare/one');
    for (const name of ['one', 'two']) {
      expect(h.status('SecretShare', name)).toMatchObject({ desired: 1, synced: 1, conflicts: 0 });
      expect(h.condition('SecretShare', name)).toMatchObject({
        status: 'True',
        message:
          '1 object is in sync; SecretShare/one owns 1 that SecretShare/two wants with the same content',
      });
    }
  });

  test('the second share takes over without a deletion when the first one is deleted', async () => {
    const h = scene();
    h.namespace('a', team);
    h.share('one', first);
    h.share('two', { ...second, ...named });
    await settled(h);
    const uid = h.get('Secret', 'regcred', 'a')?.metadata.uid;
    h.memory.delete(refTo('SecretShare', 'one'));
    await h.settle();
    expect(ownerOf(h, 'regcred')).toBe('SecretShare/two');
    expect(h.get('Secret', 'regcred', 'a')?.metadata.uid).toBe(uid);
    expect(h.condition('SecretShare', 'two')).toMatchObject({ message: '1 object is in sync' });
  });

  test('a source that changes ends the agreement, and the same content begins it again', async () => {
    const h = scene();
    h.namespace('a', team);
    h.share('one', first);
    h.share('two', { ...second, ...named });
    await settled(h);
    h.secret('reeve-shared', 'same', { user: 'u', password: 'other' });
    await h.settle();
    const message =
      'SecretShare/one already provides it, with different data; make both the same, or rename or remove one';
    expect(h.status('SecretShare', 'two')).toMatchObject({ conflicts: 1, failures: [{ message }] });
    h.secret('reeve-shared', 'regcred', { user: 'u', password: 'other' });
    await h.settle();
    expect(h.status('SecretShare', 'two')).toMatchObject({ synced: 1, conflicts: 0 });
  });

  test.each<readonly [string, object]>([
    ['type', { type: 'example.com/x' }],
    ['data', { keys: [{ from: 'user', to: 'user' }] }],
    ['labels', { labels: { a: 'b' } }],
    ['annotations', { annotations: { a: 'b' } }],
    ['immutable', { immutable: true }],
  ])('a share that differs in %s is in conflict', async (field, other) => {
    const h = scene();
    h.namespace('a', team);
    h.share('one', first);
    h.share('two', { ...second, target: { name: 'regcred', ...other } });
    await settled(h);
    expect(h.status('SecretShare', 'two')).toMatchObject({
      conflicts: 1,
      failures: [
        { reason: 'ProvidedByAnother', message: expect.stringContaining(`different ${field};`) as string },
      ],
    });
  });

  test('a share whose source is missing is in conflict, because nothing shows that the content is the same', async () => {
    const h = scene();
    h.namespace('a', team);
    h.share('one', first);
    h.share('two', { ...shareOf({ source: { namespace: 'reeve-shared', name: 'missing' } }), ...named });
    await settled(h);
    expect(h.status('SecretShare', 'two')).toMatchObject({ conflicts: 1 });
    expect(h.status('SecretShare', 'one')).toMatchObject({ synced: 1 });
  });
});

describe('values that are built', () => {
  const sources = ['regcred', 'host'].map((name) => ({ namespace: 'reeve-shared', name }));
  const built = { name: 'login', template: { url: 'x://${data.user}:${data.password}@${data.host}' } };
  const several = (more: object = {}): object => {
    const { source: _source, ...rest } = shareOf({ target: built, ...more }) as { readonly source: unknown };
    return { ...rest, sources };
  };
  const urlIn = (h: Harness): string => {
    const data = h.get('Secret', 'login', 'a')?.['data'] as { readonly url: string } | undefined;
    return atob(data?.url ?? '');
  };

  test('a copy follows each of its sources, and stays while one of them is missing', async () => {
    const h = scene();
    h.namespace('a', team);
    h.secret('reeve-shared', 'host', { host: 'one' });
    h.share('s', several());
    await settled(h);
    expect(urlIn(h)).toBe('x://u:canary@one');
    h.secret('reeve-shared', 'host', { host: 'two' });
    await h.settle();
    expect(urlIn(h)).toBe('x://u:canary@two');
    h.secret('reeve-shared', 'regcred', { user: 'v', password: 'canary' });
    await h.settle();
    expect(urlIn(h)).toBe('x://v:canary@two');
    h.memory.delete(refTo('Secret', 'host', 'reeve-shared'));
    await h.settle();
    expect(urlIn(h)).toBe('x://v:canary@two');
    expect(h.condition('SecretShare', 's', 'SourceAvailable')).toMatchObject({ reason: 'SourceMissing' });
  });

  test('a key of two sources keeps the copies, and the status names the key', async () => {
    const h = scene();
    h.namespace('a', team);
    h.secret('reeve-shared', 'host', { host: 'one' });
    h.share('s', several());
    await settled(h);
    h.secret('reeve-shared', 'host', { host: 'two', user: 'x' });
    await h.settle();
    expect(urlIn(h)).toBe('x://u:canary@one');
    expect(h.condition('SecretShare', 's')).toMatchObject({
      status: 'False',
      reason: 'KeyTwice',
      message: 'two sources have the key user',
    });
  });

  test.each<readonly [string, object]>([
    ['an error that quotes a value', { template: { url: '${string(int(data.password))}' } }],
    ['a key that a value names', { template: { url: '${data[data.password]}' } }],
    [
      'a value of another kind',
      { template: { url: '${data.password.matches(data.password + "(") ? "a" : "b"}' } },
    ],
    ['a copy that can be built', { template: { url: '${data.password}' } }],
    ['a registry', { dockerConfig: { registry: 'r', usernameKey: 'user', passwordKey: 'password' } }],
  ])('no value leaves the reconciler: %s', async (_what, fields) => {
    const h = scene();
    h.namespace('a', team);
    h.namespace('b', team);
    h.secret('b', 'login', { of: 'another owner' });
    h.secret('reeve-shared', 'host', { host: 'one' });
    h.share('s', several({ target: { name: 'login', ...fields } }));
    await settled(h);
    const shown = JSON.stringify([
      h.told,
      h.status('SecretShare', 's'),
      h.get('Namespace', 'a', ''),
      h.get('Namespace', 'b', ''),
    ]);
    for (const value of ['canary', btoa('canary'), btoa('u:canary')]) expect(shown).not.toContain(value);
  });
});

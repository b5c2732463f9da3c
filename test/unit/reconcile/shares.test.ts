import { describe, expect, test } from 'vitest';
import { adoptLabel } from '../../../src/schema/names.ts';
import { shareOf, team } from '../../support/provided.ts';
import { failure } from '../../support/memory-objects.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

async function sharing(
  fields: object = {},
  more: object = {},
  namespaces: readonly string[] = ['a', 'b'],
): Promise<Harness> {
  const h = harness();
  h.namespace('reeve-shared');
  h.secret('reeve-shared', 'regcred', { user: 'u', password: 'canary' }, more);
  for (const name of namespaces) h.namespace(name, team);
  h.share('s', shareOf(fields));
  h.start();
  await h.settle();
  return h;
}

const dataOf = (h: Harness, namespace: string, name = 'regcred') =>
  h.get('Secret', name, namespace)?.['data'];
const data = { user: btoa('u'), password: btoa('canary') };

describe('a shared Secret', () => {
  test('every selected namespace gets a copy, new ones too', async () => {
    const h = await sharing();
    h.namespace('c', team);
    h.namespace('d');
    await h.settle();
    expect(['a', 'b', 'c', 'd'].map((name) => dataOf(h, name))).toEqual([data, data, data, undefined]);
    expect(h.status('SecretShare', 's')).toMatchObject({ desired: 3, synced: 3 });
    expect(h.condition('SecretShare', 's', 'SourceAvailable')).toMatchObject({ status: 'True' });
  });

  test('a copy has no labels and annotations of its source', async () => {
    const metadata = {
      name: 'regcred',
      namespace: 'reeve-shared',
      labels: { 'argocd.argoproj.io/instance': 'x' },
      annotations: { note: 'y' },
    };
    const h = await sharing({}, { metadata });
    const copied = h.get('Secret', 'regcred', 'a')?.metadata;
    expect(copied?.annotations).toMatchObject({ 'reeve.dev/owner': 'SecretShare/s' });
    expect(copied?.annotations).not.toHaveProperty('note');
    expect(copied?.labels).toEqual({ 'app.kubernetes.io/managed-by': 'reeve', 'reeve.dev/secretshare': 's' });
  });

  test('a copy has the name, type, keys and labels of its share', async () => {
    const target = {
      name: 'copy',
      type: 'example.com/x',
      keys: [{ from: 'password', to: 'PW' }],
      labels: { team: 'x' },
    };
    const h = await sharing({ target });
    expect(h.get('Secret', 'copy', 'a')).toMatchObject({
      type: 'example.com/x',
      metadata: { labels: { team: 'x' } },
    });
    expect(dataOf(h, 'a', 'copy')).toEqual({ PW: btoa('canary') });
  });

  test('a copy can have any key', async () => {
    const h = harness();
    h.namespace('reeve-shared');
    h.namespace('a', team);
    const hostile = JSON.parse('{"__proto__":"eA==","constructor":"eQ=="}') as object;
    h.memory.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'regcred', namespace: 'reeve-shared' },
      type: 'Opaque',
      data: hostile,
    });
    h.share('s', shareOf());
    h.start();
    await h.settle();
    expect(JSON.stringify(dataOf(h, 'a'))).toBe('{"__proto__":"eA==","constructor":"eQ=="}');
  });

  test.each<readonly [string, object]>([
    ['another value', { data: { user: 'eA==' } }],
    ['a further key', { data: { extra: 'eA==' } }],
    ['a missing key', { data: { user: null } }],
    ['no label', { metadata: { annotations: { 'reeve.dev/owner': 'SecretShare/other' } } }],
  ])('a copy with %s is corrected', async (_what, patch) => {
    const h = await sharing();
    h.memory.change(refTo('Secret', 'regcred', 'a'), patch as Record<string, unknown>);
    h.takeWrites();
    await h.settle();
    expect(dataOf(h, 'a')).toEqual(data);
    expect(h.takeWrites().map(({ verb, namespace }) => `${verb} ${namespace}`)).toEqual(['update a']);
  });

  test('a changed source costs one write per namespace', async () => {
    const h = await sharing();
    h.takeWrites();
    h.secret('reeve-shared', 'regcred', { user: 'v' });
    await h.settle();
    expect([dataOf(h, 'a'), dataOf(h, 'b')]).toEqual([{ user: btoa('v') }, { user: btoa('v') }]);
    expect(h.takeWrites().map(({ verb, kind, namespace }) => `${verb} ${kind} ${namespace}`)).toEqual([
      'update Secret a',
      'update Secret b',
    ]);
  });

  test('an immutable copy, or a copy of another type, is deleted and created again', async () => {
    const h = await sharing({ target: { immutable: true } });
    const uid = h.get('Secret', 'regcred', 'a')?.metadata.uid;
    expect(h.get('Secret', 'regcred', 'a')).toMatchObject({ immutable: true });
    h.secret('reeve-shared', 'regcred', { user: 'v' });
    await h.settle();
    expect(dataOf(h, 'a')).toEqual({ user: btoa('v') });
    expect(h.get('Secret', 'regcred', 'a')?.metadata.uid).not.toBe(uid);
    h.share('s', shareOf({ target: { type: 'example.com/x' } }));
    await h.settle();
    expect(h.get('Secret', 'regcred', 'a')).toMatchObject({ type: 'example.com/x' });
    expect(h.get('Secret', 'regcred', 'a')).not.toHaveProperty('immutable');
  });

  test('copies are deleted in namespaces that are no longer selected, and with their share', async () => {
    const h = await sharing();
    h.namespace('b', {});
    await h.settle();
    expect([dataOf(h, 'a'), dataOf(h, 'b')]).toEqual([data, undefined]);
  });

  test('a conflict names a value of the label for adoption that offers nothing', async () => {
    const h = harness();
    h.namespace('reeve-shared');
    h.secret('reeve-shared', 'regcred', { user: 'u' });
    h.namespace('a', team);
    const metadata = { name: 'regcred', namespace: 'a', labels: { [adoptLabel]: 'yes' } };
    h.secret('a', 'regcred', { theirs: 'x' }, { metadata });
    h.share('s', shareOf());
    h.start();
    await h.settle();
    expect(h.status('SecretShare', 's')).toMatchObject({
      failures: [
        {
          message:
            'a Secret of this name exists that Reeve does not manage; its owner can label it ' +
            'reeve.dev/adopt=true (not "yes", the value that the label has) to hand it over, or delete or rename it',
        },
      ],
    });
  });

  test('a source is never overwritten by its own copy', async () => {
    const h = harness({ install: { sourceNamespaces: ['src'] } });
    h.namespace('src', team);
    h.namespace('a', team);
    h.secret(
      'src',
      'regcred',
      { user: 'u' },
      { metadata: { name: 'regcred', namespace: 'src', labels: { [adoptLabel]: 'true' } } },
    );
    h.share('s', shareOf({ source: { namespace: 'src', name: 'regcred' } }));
    h.start();
    await h.settle();
    expect(h.get('Secret', 'regcred', 'src')?.metadata.annotations).toBeUndefined();
    expect(h.status('SecretShare', 's')).toMatchObject({ desired: 1, synced: 1 });
  });
});

describe('the source of a share', () => {
  test('copies stay when their source is deleted, and follow when it is created again', async () => {
    const h = await sharing();
    h.memory.delete(refTo('Secret', 'regcred', 'reeve-shared'));
    await h.settle();
    expect(dataOf(h, 'a')).toEqual(data);
    for (const type of ['Ready', 'SourceAvailable'])
      expect(h.condition('SecretShare', 's', type)).toMatchObject({
        status: 'False',
        reason: 'SourceMissing',
      });
    const told = h.told.events.filter(({ reason }) => reason === 'SourceMissing');
    expect(told.map(({ regarding, type }) => [regarding.kind, type])).toEqual([['SecretShare', 'Warning']]);
    // The namespaces keep the last copies.
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({ status: 'True' });
    h.namespace('c', team);
    await h.settle();
    expect(h.condition('Namespace', 'c', 'reeve.dev/Ready')).toMatchObject({
      status: 'False',
      reason: 'SourceMissing',
    });
    h.secret('reeve-shared', 'regcred', { user: 'back' });
    await h.settle();
    expect(dataOf(h, 'c')).toEqual({ user: btoa('back') });
    expect(h.condition('SecretShare', 's')).toMatchObject({ status: 'True' });
  });

  test('copies stay when their share names another source, until that can be copied', async () => {
    const h = await sharing();
    h.share('s', shareOf({ source: { namespace: 'reeve-shared', name: 'misspelled' } }));
    await h.settle();
    expect(dataOf(h, 'a')).toEqual(data);
    expect(h.condition('SecretShare', 's')).toMatchObject({ status: 'False', reason: 'SourceMissing' });
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({ status: 'False' });
    h.secret('reeve-shared', 'misspelled', { user: 'new' });
    await h.settle();
    expect(h.get('Secret', 'regcred', 'a')).toBeUndefined();
    expect(h.get('Secret', 'misspelled', 'a')?.['data']).toEqual({ user: btoa('new') });
  });

  test.each<readonly [string, string, object, object]>([
    [
      'in a namespace that is not for sources',
      'SourceNotAllowed',
      { source: { namespace: 'a', name: 'x' } },
      {},
    ],
    ['that does not exist', 'SourceMissing', { source: { namespace: 'reeve-shared', name: 'x' } }, {}],
    ['without a key that the share copies', 'KeyMissing', { target: { keys: [{ from: 'x', to: 'y' }] } }, {}],
    ['that is a token', 'SourceTypeForbidden', {}, { type: 'kubernetes.io/service-account-token' }],
    [
      'that is a Helm release',
      'SourceTypeForbidden',
      { target: { type: 'Opaque' } },
      { type: 'helm.sh/release.v1' },
    ],
    [
      'that is itself a copy',
      'SourceNotAllowed',
      {},
      {
        metadata: {
          name: 'regcred',
          namespace: 'reeve-shared',
          labels: { 'app.kubernetes.io/managed-by': 'reeve' },
          annotations: { 'reeve.dev/owner': 'SecretShare/t' },
        },
      },
    ],
  ])('a source %s is not copied', async (_what, reason, fields, source) => {
    const h = await sharing(fields, source, ['a']);
    expect(h.memory.list('Secret', 'a')).toEqual([]);
    expect(h.condition('SecretShare', 's', 'SourceAvailable')).toMatchObject({ status: 'False', reason });
    expect(h.condition('SecretShare', 's')).toMatchObject({ status: 'False', reason });
  });

  test('a new process reads the source before it deletes a copy whose successor is a conflict', async () => {
    const h = await sharing();
    await h.stop();
    h.secret('a', 'other', { of: 'somebody' });
    h.share('s', shareOf({ target: { name: 'other' } }));
    h.start();
    await h.settle();
    expect(['a', 'b'].map((name) => dataOf(h, name))).toEqual([undefined, undefined]);
    expect(dataOf(h, 'a', 'other')).toEqual({ of: btoa('somebody') });
    expect(h.status('SecretShare', 's')).toMatchObject({ synced: 1, conflicts: 1, failed: 0 });
  });

  test('a copy with another name stays while its source cannot be read, and the status says so', async () => {
    const h = await sharing();
    await h.stop();
    h.secret('a', 'other', { of: 'somebody' });
    h.share('s', shareOf({ target: { name: 'other' } }));
    h.memory.fault = (verb, { name }) => (verb === 'read' && name === 'regcred' ? failure(403) : undefined);
    h.start();
    await h.settle();
    expect(dataOf(h, 'a')).toEqual(data);
    expect(JSON.stringify(h.status('SecretShare', 's'))).toContain('it stays until its source can be read');
  });

  test('a source is read once for all namespaces', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `n${index}`);
    const h = harness();
    h.namespace('reeve-shared');
    h.secret('reeve-shared', 'regcred', { user: 'u' });
    for (const name of names) h.namespace(name, team);
    h.share('s', shareOf());
    h.start();
    await h.settle();
    expect(h.memory.list('Secret')).toHaveLength(31);
    // The source, and the share for its finalizer and its status.
    expect(h.memory.reads).toBeLessThanOrEqual(3);
  });
});

test('a copy with a name that the install does not list is not created', async () => {
  const h = harness({ install: { secretNames: ['regcred'] } });
  h.namespace('reeve-shared');
  h.secret('reeve-shared', 'regcred', { user: 'u' });
  h.namespace('a', team);
  h.share('s', shareOf());
  h.share('t', shareOf({ target: { name: 'other' } }));
  h.start();
  await h.settle();
  expect(h.memory.list('Secret', 'a').map(({ metadata }) => metadata.name)).toEqual(['regcred']);
  expect(h.status('SecretShare', 't')).toMatchObject({ failures: [{ reason: 'NameNotAllowed' }] });
});

test('a copy of two shares exists while one of them does, and is never missing in between', async () => {
  for (const order of [
    ['s', 't'],
    ['t', 's'],
  ]) {
    const h = await sharing({}, {}, ['a']);
    h.secret('reeve-shared', 'second', { other: 'x' });
    h.share(
      't',
      shareOf({ source: { namespace: 'reeve-shared', name: 'second' }, target: { name: 'regcred' } }),
    );
    await h.settle();
    expect(dataOf(h, 'a')).toEqual(data);
    h.takeWrites();
    h.memory.delete(refTo('SecretShare', order[0] ?? ''));
    await h.settle();
    expect(dataOf(h, 'a')).toEqual(order[0] === 's' ? { other: btoa('x') } : data);
    expect(h.takeWrites().filter(({ verb, kind }) => verb === 'delete' && kind === 'Secret')).toEqual([]);
    h.memory.delete(refTo('SecretShare', order[1] ?? ''));
    await h.settle();
    expect(dataOf(h, 'a')).toBeUndefined();
  }
});

test('defaults of policies for Secrets are set on copies, and refused copies are not written', async () => {
  const h = harness();
  h.namespace('reeve-shared');
  h.secret('reeve-shared', 'regcred', { user: 'u' });
  for (const name of ['a', 'b']) h.namespace(name, { ...team, [name]: 'yes' });
  h.policy('p', {
    match: { names: ['a'] },
    secrets: {
      defaults: {
        labels: { of: '${namespaceObject.metadata.name}' },
        annotations: { by: '${request.userInfo.username}' },
      },
    },
  });
  h.policy('q', { match: { names: ['b'] }, secrets: { forbiddenTypes: ['Opaque'] } });
  h.share('s', shareOf());
  h.start();
  await h.settle();
  expect(h.get('Secret', 'regcred', 'a')?.metadata.labels).toMatchObject({ of: 'a' });
  expect(h.get('Secret', 'regcred', 'a')?.metadata.annotations).not.toHaveProperty('by');
  expect(dataOf(h, 'b')).toBeUndefined();
  expect(h.status('SecretShare', 's')).toMatchObject({
    synced: 1,
    failures: [{ namespace: 'b', reason: 'RefusedByPolicy' }],
  });
});

test('no payload appears in events, statuses or observer calls', async () => {
  const h = await sharing();
  h.memory.change(refTo('Secret', 'regcred', 'a'), { data: { password: btoa('tampered-canary') } });
  h.secret('b', 'regcred', { theirs: 'canary-theirs' });
  await h.settle();
  h.memory.fault = (verb) => (verb === 'apply' ? failure(422) : undefined);
  h.secret('reeve-shared', 'regcred', { user: 'canary-new' });
  await h.settle();
  const told = JSON.stringify([h.told, h.status('SecretShare', 's'), h.memory.list('Namespace')]);
  for (const text of ['canary', btoa('canary'), btoa('canary-new'), btoa('tampered-canary')])
    expect(told).not.toContain(text);
});

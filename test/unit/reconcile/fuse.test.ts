import { describe, expect, test } from 'vitest';
import { bindingPolicy, shareOf, team } from '../../support/provided.ts';
import { failure } from '../../support/memory-objects.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();
const confirm = (count: string) => ({ 'reeve.dev/confirm-deletions': count });

async function inNamespaces(
  count: number,
  spec: object = bindingPolicy({ maxDeletions: 3 }),
): Promise<Harness> {
  const h = harness();
  for (let index = 0; index < count; index += 1) h.namespace(`n${index}`, team);
  h.policy('p', spec);
  h.start();
  await h.settle();
  expect(h.memory.list('RoleBinding')).toHaveLength(count);
  return h;
}

const nothing = bindingPolicy({ maxDeletions: 3, match: { names: ['none'] } });
const left = (h: Harness) => h.memory.list('RoleBinding').length;
const marked = (h: Harness) =>
  h.memory
    .list('RoleBinding')
    .filter(({ metadata }) => metadata.annotations?.['reeve.dev/owner'] !== undefined).length;

describe('the fuse', () => {
  test('as many objects as maxDeletions allows are deleted at once', async () => {
    const h = await inNamespaces(3);
    h.policy('p', nothing);
    await h.settle();
    expect(left(h)).toBe(0);
    expect(h.condition('NamespacePolicy', 'p', 'Stalled')).toBeUndefined();
  });

  test('all objects are kept when more would be deleted, and the status says how to confirm', async () => {
    const h = await inNamespaces(4);
    h.policy('p', nothing);
    await h.settle();
    expect(left(h)).toBe(4);
    const message = 'kubectl annotate namespacepolicy p reeve.dev/confirm-deletions=4 --overwrite';
    expect(h.condition('NamespacePolicy', 'p', 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'TooManyDeletions',
      message: expect.stringContaining(message) as string,
    });
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({
      status: 'False',
      reason: 'TooManyDeletions',
    });
    expect(h.told.events.filter(({ reason }) => reason === 'TooManyDeletions')).toHaveLength(1);
    expect(h.told.observed).toContainEqual(['deletionsHeld', 'NamespacePolicy/p', 4, 3]);
    // Waiting does not lift the hold.
    await h.settle(120_000);
    expect(left(h)).toBe(4);
  });

  test.each<readonly [string, number]>([
    ['3', 4],
    ['4', 0],
    ['100', 0],
    ['four', 4],
    ['-5', 4],
    ['4.0', 4],
  ])('with a confirmation of %s, %i of four objects stay', async (count, expected) => {
    const h = await inNamespaces(4);
    h.policy('p', nothing);
    await h.settle();
    h.memory.change(refTo('NamespacePolicy', 'p'), { metadata: { annotations: confirm(count) } });
    await h.settle();
    expect(left(h)).toBe(expected);
  });

  test('a confirmation is used up by one wave of deletions', async () => {
    const h = await inNamespaces(4);
    h.policy('p', nothing, confirm('4'));
    await h.settle();
    expect([left(h), h.status('NamespacePolicy', 'p')['confirmationUsed']]).toEqual([0, '4']);
    h.policy('p', bindingPolicy({ maxDeletions: 3 }), confirm('4'));
    await h.settle();
    await h.clock.advance(61_000);
    h.policy('p', nothing, confirm('4'));
    await h.settle();
    expect(left(h)).toBe(4);
    h.policy('p', nothing, confirm('5'));
    await h.settle();
    expect([left(h), h.status('NamespacePolicy', 'p')['confirmationUsed']]).toEqual([0, '5']);
    h.policy('p', nothing);
    await h.settle();
    expect(h.status('NamespacePolicy', 'p')).not.toHaveProperty('confirmationUsed');
  });

  test('a change of the spec counts together with the deletions of the last ten minutes, as by the webhook', async () => {
    const h = await inNamespaces(3);
    const all = bindingPolicy({ maxDeletions: 3 });
    const readiness = (): unknown => h.condition('NamespacePolicy', 'p')?.['reason'];
    for (const [round, expected] of [
      ['the first', [0, 'MatchesNothing']],
      ['within ten minutes', [3, 'TooManyDeletions']],
      ['later', [0, 'MatchesNothing']],
    ] as const) {
      if (round === 'later') await h.clock.advance(611_000);
      h.policy('p', nothing);
      await h.settle();
      expect([left(h), readiness()], round).toEqual(expected);
      h.policy('p', all);
      await h.settle();
      expect([left(h), readiness()], round).toEqual([3, 'Synced']);
    }
  });

  test('held deletions go on when another policy takes objects over and leaves as many as maxDeletions allows', async () => {
    const h = await inNamespaces(6);
    h.policy('p', bindingPolicy({ maxDeletions: 3, match: { names: ['n4', 'n5'] } }));
    await h.settle();
    expect(left(h)).toBe(6);
    h.policy('q', bindingPolicy({ match: { names: ['n0'] } }));
    await h.settle();
    expect(left(h)).toBe(3);
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ reason: 'Synced' });
  });

  test('held deletions go on when another client deletes an object that a matching namespace no longer needs', async () => {
    const spec = (contents: object) => ({ maxDeletions: 3, match: {}, contents });
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'team' },
      spec: { hard: { pods: '5' } },
    };
    const h = harness();
    for (const name of ['n0', 'n1', 'n2', 'n3']) h.namespace(name, team);
    h.policy('p', spec({ resources: [quota] }));
    h.start();
    await h.settle();
    h.policy('p', spec({ resources: [{ ...quota, metadata: { name: 'other' } }] }));
    await h.settle();
    expect(h.memory.list('ResourceQuota')).toHaveLength(8);
    h.memory.delete(refTo('ResourceQuota', 'team', 'n0'));
    await h.settle();
    expect(h.memory.list('ResourceQuota').map(({ metadata }) => metadata.name)).toEqual(
      Array(4).fill('other'),
    );
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ reason: 'Synced' });
  });

  test('objects that are handed over, replaced, expired or in terminating namespaces do not count', async () => {
    const h = await inNamespaces(5, bindingPolicy({ maxDeletions: 0 }));
    h.policy('q', bindingPolicy());
    await h.settle();
    h.policy('p', bindingPolicy({ maxDeletions: 0, match: { names: ['none'] } }));
    await h.settle();
    expect([left(h), h.condition('NamespacePolicy', 'p')?.['status']]).toEqual([5, 'True']);
    h.policy('q', bindingPolicy({ maxDeletions: 0 }, { roleRef: { kind: 'ClusterRole', name: 'view' } }));
    await h.settle();
    expect(
      h.memory.list('RoleBinding').every((each) => (each['roleRef'] as { name: string }).name === 'view'),
    ).toBe(true);
    h.policy(
      'q',
      bindingPolicy(
        { maxDeletions: 0 },
        { roleRef: { kind: 'ClusterRole', name: 'view' }, expiresAt: '2026-11-21T12:00:00Z' },
      ),
    );
    await h.settle();
    expect(left(h)).toBe(0);
    expect(h.condition('NamespacePolicy', 'q')).toMatchObject({ status: 'True' });
  });

  test('objects in namespaces that are being deleted do not trip the fuse', async () => {
    const h = await inNamespaces(4);
    for (const name of ['n0', 'n1', 'n2', 'n3']) h.memory.delete(refTo('Namespace', name));
    h.policy('p', nothing);
    await h.settle();
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'True' });
    expect(left(h)).toBe(4);
  });
});

describe('a provider that is being deleted', () => {
  test.each<readonly [string, object, Readonly<Record<string, string>>, number]>([
    ['deletes all its objects when they are few', { maxDeletions: 4 }, {}, 0],
    ['releases all its objects when they exceed the limit', { maxDeletions: 3 }, {}, 4],
    [
      'deletes all its objects when they exceed the limit and are confirmed',
      { maxDeletions: 3 },
      confirm('4'),
      0,
    ],
    ['releases all its objects when too few are confirmed', { maxDeletions: 3 }, confirm('3'), 4],
    [
      'releases all its objects with deletionPolicy Orphan',
      { maxDeletions: 9, deletionPolicy: 'Orphan' },
      {},
      4,
    ],
    ['releases all its objects when it is suspended', { maxDeletions: 9, suspend: true }, {}, 4],
  ])('a provider that is being deleted %s', async (_what, fields, annotations, expected) => {
    const h = await inNamespaces(4);
    h.policy('p', bindingPolicy(fields), annotations);
    await h.settle();
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle();
    expect([left(h), marked(h), h.get('NamespacePolicy', 'p')]).toEqual([expected, 0, undefined]);
  });

  test('a provider created and deleted again within a minute deletes its objects each time', async () => {
    const h = await inNamespaces(3);
    for (let round = 0; round < 4; round += 1) {
      h.policy('p', bindingPolicy({ maxDeletions: 3 }));
      await h.settle();
      expect(marked(h)).toBe(3);
      h.memory.delete(refTo('NamespacePolicy', 'p'));
      await h.settle();
      expect([round, left(h), h.get('NamespacePolicy', 'p')]).toEqual([round, 0, undefined]);
    }
    expect(h.told.observed.filter(([name]) => name === 'orphaned')).toEqual([]);
  });

  test('a deletion is judged by the objects that exist, not by those deleted before it', async () => {
    const h = await inNamespaces(6);
    for (const name of ['n0', 'n1', 'n2']) h.namespace(name, {});
    await h.settle();
    expect(left(h)).toBe(3);
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle();
    expect([left(h), h.get('NamespacePolicy', 'p')]).toEqual([0, undefined]);
  });

  test.each<readonly [string, object, Harness['terminatingKinds'], string, string]>([
    [
      'exceed the limit',
      { maxDeletions: 3 },
      [],
      'TooManyDeletions',
      'more than maxDeletions, and the annotation reeve.dev/confirm-deletions did not confirm the number',
    ],
    [
      'go with their kind',
      {},
      ['NamespacePolicy'],
      'KindDeleted',
      'its CustomResourceDefinition was deleted too',
    ],
    ['are suspended', { suspend: true }, [], 'Suspended', 'it was deleted while suspended'],
  ])(
    'objects left behind because they %s are counted and named',
    async (_what, fields, kinds, why, cause) => {
      const h = await inNamespaces(4);
      h.policy('p', bindingPolicy(fields));
      await h.settle();
      h.terminatingKinds = kinds;
      h.memory.delete(refTo('NamespacePolicy', 'p'));
      await h.settle();
      expect(h.told.observed.filter(([name]) => name === 'orphaned')).toEqual([
        ['orphaned', 'NamespacePolicy/p', why, 4],
      ]);
      const said = h.told.events
        .filter(({ reason }) => reason === 'Orphaned')
        .map(({ note, type }) => [type, note]);
      const mark =
        'find them by the label reeve.dev/orphaned-from=p; a new NamespacePolicy of this name takes them back';
      expect(said).toEqual([['Warning', `4 objects stay without Reeve: ${cause}; ${mark}`]]);
    },
  );

  test('objects of a provider that lost its finalizer before its deletion are counted and named once', async () => {
    const h = await inNamespaces(4);
    h.memory.change(refTo('NamespacePolicy', 'p'), { metadata: { finalizers: null } });
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle();
    expect([left(h), marked(h)]).toEqual([4, 0]);
    expect(h.told.observed.filter(([name]) => name === 'orphaned')).toEqual([
      ['orphaned', 'NamespacePolicy/p', 'OwnerUnknown', 4],
    ]);
    const said = h.told.events.filter(({ reason }) => reason === 'Orphaned').map(({ type }) => type);
    expect(said).toEqual(['Warning']);
  });

  test('a provider that is deleted with its kind releases all its objects', async () => {
    const h = await inNamespaces(2);
    h.terminatingKinds = ['NamespacePolicy'];
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle();
    expect([left(h), marked(h), h.get('NamespacePolicy', 'p')]).toEqual([2, 0, undefined]);
  });

  test('an invalid provider that is deleted releases all its objects', async () => {
    const h = await inNamespaces(2);
    h.memory.change(refTo('NamespacePolicy', 'p'), { spec: { nonsense: 1 } });
    await h.settle();
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle();
    expect([left(h), marked(h), h.get('NamespacePolicy', 'p')]).toEqual([2, 0, undefined]);
  });

  test('a deleted provider hands any number of objects over to another provider of them', async () => {
    const h = await inNamespaces(5);
    h.policy('q', bindingPolicy());
    await h.settle();
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle();
    expect([left(h), marked(h), h.get('NamespacePolicy', 'p')]).toEqual([5, 5, undefined]);
  });

  test('terminating namespaces and objects do not keep the finalizer of a deleted provider', async () => {
    const h = await inNamespaces(3);
    h.memory.change(refTo('Namespace', 'n0'), { metadata: { finalizers: ['example.com/slow'] } });
    h.memory.delete(refTo('Namespace', 'n0'));
    h.memory.change(refTo('RoleBinding', 'devs', 'n1'), { metadata: { finalizers: ['example.com/slow'] } });
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle();
    expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
    expect(h.get('RoleBinding', 'devs', 'n2')).toBeUndefined();
  });

  test('no object of a deleted provider is deleted until it is known whether its kind is being deleted', async () => {
    let isDown = true;
    const h = harness({
      kinds: {
        isKindTerminating: async () => {
          if (isDown) throw failure(503);
          return await Promise.resolve(true);
        },
      },
    });
    h.namespace('a', team);
    h.policy('p', bindingPolicy());
    h.start();
    await h.settle();
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle();
    expect([left(h), marked(h)]).toEqual([1, 1]);
    isDown = false;
    await h.settle(60_000);
    expect([left(h), marked(h)]).toEqual([1, 0]);
  });
});

test('the fuse also protects the copies of a share', async () => {
  const h = harness();
  h.namespace('reeve-shared');
  h.secret('reeve-shared', 'regcred', { k: 'v' });
  for (let index = 0; index < 4; index += 1) h.namespace(`n${index}`, team);
  h.share('s', shareOf({ maxDeletions: 3 }));
  h.start();
  await h.settle();
  h.share('s', shareOf({ maxDeletions: 3, targets: { names: ['none'] } }));
  await h.settle();
  expect(h.memory.list('Secret')).toHaveLength(5);
  expect(h.condition('SecretShare', 's', 'Stalled')).toMatchObject({
    message: expect.stringContaining('kubectl annotate secretshare s ') as string,
  });
});

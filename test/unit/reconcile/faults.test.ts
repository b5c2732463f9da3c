import { expect, test } from 'vitest';
import { bindingPolicy, quotaOf, bindingOf, shareOf, team, teams } from '../../support/provided.ts';
import { failure } from '../../support/memory-objects.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

async function begun(): Promise<Harness> {
  const h = harness();
  h.start();
  for (const name of ['a', 'b']) h.namespace(name, team);
  await h.settle();
  h.takeWrites();
  return h;
}

/** Lets so many requests of this kind fail with this code. */
function failing(
  h: Harness,
  verb: string,
  kind: string,
  code: number,
  times = Infinity,
  namespace?: string,
): () => number {
  let count = 0;
  h.memory.fault = (each, ref) => {
    const isIt =
      each === verb && ref.kind === kind && (namespace === undefined || ref.namespace === namespace);
    if (!isIt || count >= times) return undefined;
    count += 1;
    return failure(code);
  };
  return () => count;
}

test.each([409, 429, 500, 503, 0])(
  'a write that fails briefly with %i is retried, and nothing is reported',
  async (code) => {
    const h = await begun();
    failing(h, 'apply', 'RoleBinding', code, 3);
    h.policy('p', bindingPolicy());
    await h.settle(10_000);
    expect(h.memory.list('RoleBinding')).toHaveLength(2);
    const statuses = h
      .takeWrites()
      .filter(({ subresource, kind }) => subresource === 'status' && kind === 'NamespacePolicy');
    expect([
      h.status('NamespacePolicy', 'p')['synced'],
      h.status('NamespacePolicy', 'p')['failed'],
      statuses.length,
    ]).toEqual([2, 0, statuses.length]);
    expect(statuses.length).toBeLessThanOrEqual(2);
  },
);

test('a write that keeps failing with 503 is reported, and succeeds when the API server is back', async () => {
  const h = await begun();
  failing(h, 'apply', 'RoleBinding', 503);
  h.policy('p', bindingPolicy());
  await h.settle(10_000);
  await h.clock.advance(10_000);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({
    failed: 2,
    failures: [{ reason: 'ApiError' }, {}],
  });
  h.memory.fault = () => undefined;
  await h.settle(70_000);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({ failed: 0, synced: 2 });
});

test('a write that fails with 422 is reported, and not retried until something changes', async () => {
  const h = await begun();
  const tries = failing(h, 'apply', 'RoleBinding', 422);
  h.policy('p', bindingPolicy());
  await h.settle(60_000);
  expect(tries()).toBe(2);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({
    failed: 2,
    failures: [{ namespace: 'a', kind: 'RoleBinding', name: 'devs', reason: 'Rejected' }, {}],
  });
  expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({
    status: 'False',
    reason: 'Rejected',
  });
  h.policy('p', bindingPolicy({}, { subjects: [{ kind: 'User', name: 'x' }] }));
  await h.settle();
  expect(tries()).toBe(4);
});

test('a write that fails with 403 is reported, and retried now and then', async () => {
  const h = await begun();
  const tries = failing(h, 'apply', 'RoleBinding', 403, Infinity, 'a');
  h.policy('p', bindingPolicy());
  await h.settle();
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({
    failed: 1,
    synced: 1,
    failures: [{ reason: 'InsufficientPermissions' }],
  });
  expect(tries()).toBe(1);
  await h.clock.advance(31_000);
  expect(tries()).toBe(2);
  h.memory.fault = () => undefined;
  await h.settle(70_000);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({ failed: 0 });
});

test('a failing write delays no other object and no other namespace', async () => {
  const h = await begun();
  failing(h, 'apply', 'RoleBinding', 500, Infinity, 'a');
  h.policy('p', { match: teams, contents: { roleBindings: [bindingOf()], resources: [quotaOf()] } });
  await h.settle(200);
  expect(h.memory.list('ResourceQuota')).toHaveLength(2);
  expect(h.memory.list('RoleBinding')).toHaveLength(1);
});

test('a write that fails because the namespace is being deleted is not reported', async () => {
  const h = await begun();
  h.memory.isLagging = true;
  h.memory.delete(refTo('Namespace', 'a'));
  h.policy('p', bindingPolicy());
  await h.settle();
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({ matched: 1, synced: 1, failed: 0 });
  expect(h.told.observed.filter(([name]) => name === 'failed')).toEqual([]);
});

test('the observer of a failing write gets names and a reason, and nothing else', async () => {
  const h = await begun();
  failing(h, 'apply', 'RoleBinding', 422);
  h.policy('p', bindingPolicy());
  await h.settle();
  expect(h.told.observed).toContainEqual([
    'failed',
    { namespace: 'a', kind: 'RoleBinding', name: 'devs', owner: 'NamespacePolicy/p' },
    'Rejected',
  ]);
});

test('a deletion that fails is reported, and keeps the finalizer of the provider', async () => {
  const h = await begun();
  h.policy('p', bindingPolicy());
  await h.settle();
  failing(h, 'delete', 'RoleBinding', 403);
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.settle();
  expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'False', reason: 'Failed' });
  h.memory.fault = () => undefined;
  await h.settle(70_000);
  expect([h.get('NamespacePolicy', 'p'), h.memory.list('RoleBinding')]).toEqual([undefined, []]);
});

test('a deletion of an object that is already deleted succeeds', async () => {
  const h = await begun();
  h.policy('p', bindingPolicy());
  await h.settle();
  h.memory.isLagging = true;
  h.memory.delete(refTo('RoleBinding', 'devs', 'a'));
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.settle();
  expect([h.get('NamespacePolicy', 'p'), h.memory.list('RoleBinding')]).toEqual([undefined, []]);
});

test('a read that fails is retried', async () => {
  const h = await begun();
  h.namespace('reeve-shared');
  h.secret('reeve-shared', 'regcred', { k: 'v' });
  failing(h, 'read', 'Secret', 500, 3);
  h.share('s', shareOf());
  await h.settle(10_000);
  expect(h.status('SecretShare', 's')).toMatchObject({ synced: 2, failed: 0 });
});

test('a read that is forbidden is reported', async () => {
  const h = await begun();
  h.namespace('reeve-shared');
  h.secret('reeve-shared', 'regcred', { k: 'v' });
  failing(h, 'read', 'Secret', 403);
  h.share('s', shareOf());
  await h.settle();
  expect(h.condition('SecretShare', 's', 'SourceAvailable')).toMatchObject({
    status: 'False',
    reason: 'SourceUnreadable',
  });
  expect(h.status('SecretShare', 's')).toMatchObject({
    failed: 2,
    failures: [{ reason: 'InsufficientPermissions' }, {}],
  });
  h.memory.fault = () => undefined;
  await h.settle(70_000);
  expect(h.condition('SecretShare', 's')).toMatchObject({ status: 'True' });
});

test('an object that another client keeps changing back is left alone for a while', async () => {
  const h = await begun();
  h.policy('p', bindingPolicy());
  await h.settle();
  h.takeWrites();
  let fights = 0;
  h.memory.after = ({ verb, ref }) => {
    if (verb !== 'apply' || ref.kind !== 'RoleBinding' || ref.namespace !== 'a' || fights >= 100) return;
    fights += 1;
    setImmediate(() => h.memory.change(ref, { subjects: [] }));
  };
  h.memory.change(refTo('RoleBinding', 'devs', 'a'), { subjects: [] });
  await h.settle(1000);
  expect(fights).toBeLessThanOrEqual(10);
  expect(h.told.observed).toContainEqual([
    'rewriteLimited',
    { namespace: 'a', kind: 'RoleBinding', name: 'devs', owner: 'NamespacePolicy/p' },
  ]);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({
    synced: 1,
    failures: [{ namespace: 'a', reason: 'Contended' }],
  });
  h.memory.after = () => undefined;
  await h.settle(10_000);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({ synced: 2, failed: 0 });
});

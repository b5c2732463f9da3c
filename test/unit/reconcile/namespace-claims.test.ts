import { expect, test } from 'vitest';
import { KubeError } from '../../../src/base/kube-error.ts';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { apiVersion } from '../../../src/schema/names.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();
const requester = { username: 'alice', groups: ['shop'] };
const claimRef = { apiVersion, kind: 'NamespaceClaim', namespace: 'team-shop', name: 'dev' };

/** The API server adds what the webhook sets, and `refuses` stands for its answer. */
function claims(refuses: () => string | undefined = () => undefined): Harness {
  const created: { harness?: Harness } = {};
  const createNamespace = async (object: KubeObject): Promise<KubeObject> => {
    const { memory } = created.harness ?? {};
    const text = refuses();
    if (text !== undefined) {
      const refusal = { by: 'webhook', name: 'namespaces.validate.reeve.dev', text } as const;
      throw new KubeError({ code: 403, reason: 'Forbidden', retryable: false, refusal });
    }
    if (memory === undefined || memory.get(refTo('Namespace', object.metadata.name ?? '')) !== undefined)
      throw new KubeError({ code: 409, reason: 'AlreadyExists', retryable: false });
    return await Promise.resolve(memory.put(object));
  };
  const made = harness({ createNamespace });
  created.harness = made;
  made.policy('teams', { match: { namespaceSelector: { matchLabels: { tier: 'team' } } } });
  return made;
}

function write(h: Harness, spec: object = {}, name = 'dev'): void {
  const whole = {
    name: 'shop-dev',
    policy: 'teams',
    labels: { tier: 'team' },
    deletionPolicy: 'Retain',
    requester,
  };
  h.memory.put({
    apiVersion,
    kind: 'NamespaceClaim',
    metadata: { namespace: 'team-shop', name },
    spec: { ...whole, ...spec },
  });
}

const claimOf = (h: Harness, name = 'dev') => h.memory.get({ ...claimRef, name });
const namespaceOf = (h: Harness, name = 'shop-dev') => h.get('Namespace', name);

function readinessOf(h: Harness, name = 'dev'): string {
  const status = claimOf(h, name)?.['status'] as { conditions?: Record<string, string>[] } | undefined;
  const { status: ready = '', reason = '' } = status?.conditions?.[0] ?? {};
  return `${ready} ${reason}`;
}

test('a claim gets its Namespace, and is ready when the Namespace is', async () => {
  const h = claims();
  write(h);
  h.start();
  await h.settle();
  expect(namespaceOf(h)?.metadata).toMatchObject({
    labels: { tier: 'team' },
    annotations: { 'reeve.dev/claim': 'team-shop/dev', 'reeve.dev/claim-uid': claimOf(h)?.metadata.uid },
  });
  expect(readinessOf(h)).toBe('True NothingProvided');
  expect(claimOf(h)?.['status']).toMatchObject({ namespaceUID: namespaceOf(h)?.metadata.uid });
  h.takeWrites();
  await h.settle();
  expect(h.takeWrites()).toEqual([]);
});

test('a claim takes over no Namespace of others, nor that of another claim', async () => {
  const h = claims();
  h.namespace('theirs');
  write(h, { name: 'theirs', deletionPolicy: 'Delete' });
  write(h, {}, 'first');
  h.start();
  await h.settle();
  write(h, {}, 'second');
  await h.settle();
  expect(readinessOf(h)).toBe('False NameTaken');
  expect(readinessOf(h, 'second')).toBe('False NameTaken');
  h.memory.delete(claimRef);
  await h.settle();
  expect(claimOf(h)).toBeUndefined();
  expect(namespaceOf(h, 'theirs')?.metadata.deletionTimestamp).toBeUndefined();
});

test('a claim without a stamp creates nothing', async () => {
  const h = claims();
  write(h, { requester: undefined });
  h.start();
  await h.settle();
  expect(readinessOf(h)).toBe('False NotJudged');
  expect(namespaceOf(h)).toBeUndefined();
});

test('a refused claim says why, and is tried again when a policy changes', async () => {
  let refusal: string | undefined = 'team shop already has 2 of 2 namespaces';
  const h = claims(() => refusal);
  write(h);
  h.start();
  await h.settle();
  expect(readinessOf(h)).toBe('False Refused');
  expect(JSON.stringify(claimOf(h)?.['status'])).toContain('team shop already has 2 of 2 namespaces');
  refusal = undefined;
  h.policy('other', { match: { names: ['x'] } });
  await h.settle();
  expect(namespaceOf(h)).toBeDefined();
});

test('a deleted Namespace does not come back', async () => {
  const h = claims();
  write(h);
  h.start();
  await h.settle();
  h.memory.delete(refTo('Namespace', 'shop-dev'));
  await h.settle();
  expect(readinessOf(h)).toBe('False NamespaceTerminating');
  h.memory.finishNamespace('shop-dev');
  await h.settle();
  expect(readinessOf(h)).toBe('False NamespaceDeleted');
  expect(namespaceOf(h)).toBeUndefined();
});

test('the end of a claim leaves its Namespace, unless it asks for the deletion', async () => {
  const h = claims();
  write(h);
  write(h, { name: 'shop-test', deletionPolicy: 'Delete' }, 'test');
  h.start();
  await h.settle();
  expect(claimOf(h)?.metadata['finalizers'] ?? []).toEqual([]);
  h.memory.delete(claimRef);
  h.memory.delete({ ...claimRef, name: 'test' });
  await h.settle();
  expect([claimOf(h), claimOf(h, 'test')]).toEqual([undefined, undefined]);
  expect(namespaceOf(h)?.metadata.deletionTimestamp).toBeUndefined();
  expect(namespaceOf(h, 'shop-test')?.metadata.deletionTimestamp).toBeDefined();
});

test('a claim that is deleted together with its definition leaves its Namespace', async () => {
  const h = claims();
  write(h, { deletionPolicy: 'Delete' });
  h.start();
  await h.settle();
  h.terminatingKinds = ['NamespaceClaim'];
  h.memory.delete(claimRef);
  await h.settle();
  expect(claimOf(h)).toBeUndefined();
  expect(namespaceOf(h)?.metadata.deletionTimestamp).toBeUndefined();
});

test('more deletions than maxDeletions of the policy wait for a confirmation', async () => {
  const h = claims();
  h.policy('teams', { match: { namespaceSelector: { matchLabels: { tier: 'team' } } }, maxDeletions: 1 });
  for (const name of ['a', 'b']) write(h, { name: `shop-${name}`, deletionPolicy: 'Delete' }, name);
  h.start();
  await h.settle();
  for (const name of ['a', 'b']) {
    h.memory.delete({ ...claimRef, name });
    await h.settle();
  }
  expect([claimOf(h, 'a'), readinessOf(h, 'b')]).toEqual([undefined, 'False TooManyDeletions']);
  expect(namespaceOf(h, 'shop-b')?.metadata.deletionTimestamp).toBeUndefined();
  const annotations = { 'reeve.dev/confirm-deletions': 'shop-b' };
  h.memory.change({ ...claimRef, name: 'b' }, { metadata: { annotations } });
  await h.settle();
  expect(claimOf(h, 'b')).toBeUndefined();
  expect(namespaceOf(h, 'shop-b')?.metadata.deletionTimestamp).toBeDefined();
});

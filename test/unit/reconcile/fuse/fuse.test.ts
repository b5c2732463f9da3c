import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bindingPolicy, shareOf, team } from '../../../support/provided.ts';
import { refTo, type Harness } from '../../../support/reconcile-harness.ts';
import { useHarness } from '../../../support/use-harness.ts';

const harness = useHarness();

/** Starts with a policy and a share, and answers whether their kinds are being deleted. */
async function withBoth(isKindTerminating: () => Promise<boolean>): Promise<Harness> {
  const h = harness({ kinds: { isKindTerminating } });
  h.namespace('reeve-shared');
  h.namespace('a', team);
  h.secret('reeve-shared', 'regcred', { key: 'value' });
  h.policy('p', bindingPolicy());
  h.share('s', shareOf());
  h.start();
  await h.settle();
  return h;
}

function marks(h: Harness): readonly unknown[] {
  return [h.get('RoleBinding', 'devs', 'a'), h.get('Secret', 'regcred', 'a')].map(
    (object) => object && (object.metadata.labels?.['app.kubernetes.io/managed-by'] ?? 'unmarked'),
  );
}

test('a provider that is deleted while another one is being asked about is asked about too', async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const h = await withBoth(async () => {
    asked.resolve();
    await answer.promise;
    return true;
  });
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await asked.promise;
  h.memory.delete(refTo('SecretShare', 's'));
  while (h.memory.hasNews) await setImmediate();
  answer.resolve();
  await h.settle();
  expect(marks(h)).toEqual(['unmarked', 'unmarked']);
});

test('the answer for one deleted provider does not count for the next one', async () => {
  let isTerminating = false;
  const h = await withBoth(async () => await Promise.resolve(isTerminating));
  h.policy('q', bindingPolicy({}, { name: 'others' }));
  await h.settle();
  h.memory.delete(refTo('NamespacePolicy', 'q'));
  await h.quiet();
  expect(h.get('RoleBinding', 'others', 'a')).toBeUndefined();
  isTerminating = true;
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.quiet();
  expect(marks(h)).toEqual(['unmarked', 'reeve']);
});

const confirm = (count: string) => ({ 'reeve.dev/confirm-deletions': count });
const left = (h: Harness): number => h.memory.list('RoleBinding').length;

async function inNamespaces(count: number): Promise<Harness> {
  const h = harness();
  for (let index = 0; index < count; index += 1) h.namespace(`n${index}`, team);
  h.policy('p', bindingPolicy({ maxDeletions: 2 }));
  h.start();
  await h.settle();
  return h;
}

test('the confirmation of a deleted provider counts existing objects, not earlier deletions', async () => {
  const h = await inNamespaces(5);
  for (const name of ['n0', 'n1']) h.namespace(name, {});
  await h.settle();
  expect(left(h)).toBe(3);
  h.memory.change(refTo('NamespacePolicy', 'p'), { metadata: { annotations: confirm('3') } });
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.settle();
  expect([left(h), h.get('NamespacePolicy', 'p')]).toEqual([0, undefined]);
});

test('the status does not ask for a confirmation that has been used up', async () => {
  const h = await inNamespaces(3);
  h.memory.change(refTo('NamespacePolicy', 'p'), { metadata: { annotations: confirm('3') } });
  await h.settle();
  expect(h.status('NamespacePolicy', 'p')['confirmationUsed']).toBe('3');
  h.policy('p', bindingPolicy({ maxDeletions: 2, match: { names: ['none'] } }), confirm('3'));
  await h.settle();
  expect(left(h)).toBe(3);
  const message = 'kubectl annotate namespacepolicy p reeve.dev/confirm-deletions=03 --overwrite';
  expect(h.condition('NamespacePolicy', 'p', 'Stalled')).toMatchObject({
    message: expect.stringContaining(message) as string,
  });
});

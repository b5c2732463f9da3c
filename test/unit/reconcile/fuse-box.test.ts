import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bindingPolicy, shareOf, team } from '../../support/provided.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

/** A policy and a share, and whether somebody can be found who deletes the definitions of their kinds. */
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

test('whoever begins to go while it is asked about another one is asked about too', async () => {
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

test('what was found out when one went does not count for the next one', async () => {
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

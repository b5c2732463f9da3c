// Tests the deletion of RoleBindings that a finalizer of others holds.
import { expect, test } from 'vitest';
import { bindingPolicy, team } from '../../support/provided.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

test('a RoleBinding that a finalizer of others holds grants nothing once it is deleted, and the namespace says so', async () => {
  const h = harness();
  h.namespace('a', team);
  h.policy('p', bindingPolicy());
  h.start();
  await h.settle();
  const binding = h.get('RoleBinding', 'devs', 'a');
  // The guard refuses this, except in an emergency.
  h.memory.put({
    ...binding,
    metadata: { ...binding?.metadata, name: 'devs', finalizers: ['example.com/hold'] },
  });
  h.policy('p', bindingPolicy({ match: { names: ['other'] } }));
  await h.settle();
  const held = h.get('RoleBinding', 'devs', 'a');
  expect([held?.metadata.deletionTimestamp === undefined, held?.['subjects']]).toEqual([false, undefined]);
  expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({
    status: 'False',
    reason: 'Terminating',
    message:
      'RoleBinding devs of NamespacePolicy/p: the object is being deleted and waits for its finalizers',
  });
});

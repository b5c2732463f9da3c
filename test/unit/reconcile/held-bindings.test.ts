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
  const notes = h.told.events.filter(({ action }) => action === 'Delete').map(({ note }) => note);
  expect(notes).toEqual([
    'Deleting RoleBinding devs for NamespacePolicy/p: it waits for its finalizers',
    'Deleting RoleBinding devs in namespace a: it waits for its finalizers',
  ]);
});

test('a RoleBinding that expires while its policy is suspended is reported as access that has outlived its end', async () => {
  const h = harness();
  h.namespace('a', team);
  const binding = { expiresAt: '2026-11-21T12:01:00Z' };
  h.policy('p', bindingPolicy({}, binding));
  h.start();
  await h.settle();
  h.policy('p', bindingPolicy({ suspend: true }, binding));
  await h.settle();
  expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'True', reason: 'Suspended' });
  await h.clock.advance(60_000);
  await h.settle();
  const message = 'it expired at 2026-11-21T12:01:00.000Z and still grants, because its policy is suspended';
  expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({
    status: 'False',
    message: `RoleBinding devs of NamespacePolicy/p: ${message}`,
  });
  expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'False', reason: 'Suspended' });
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({ failures: [{ name: 'devs', message }] });
  h.policy('p', bindingPolicy({}, binding));
  await h.settle();
  expect(h.get('RoleBinding', 'devs', 'a')).toBeUndefined();
  expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({ status: 'True' });
});

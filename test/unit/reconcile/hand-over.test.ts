import { expect, test } from 'vitest';
import { bindingPolicy, team } from '../../support/provided.ts';
import type { Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

const owner = (h: Harness) => h.get('RoleBinding', 'devs', 'a')?.metadata.annotations?.['reeve.dev/owner'];

test.each(['p', 'q'])('%s keeps the object that it owns when it is suspended', async (name) => {
  const h = harness();
  h.namespace('a', team);
  h.policy(name, bindingPolicy());
  h.start();
  await h.settle();
  h.policy(name, bindingPolicy({ suspend: true }));
  const other = name === 'p' ? 'q' : 'p';
  h.policy(other, bindingPolicy({}, { subjects: [{ kind: 'Group', name: 'others' }] }));
  await h.settle();
  expect(owner(h)).toBe(`NamespacePolicy/${name}`);
  const already = `NamespacePolicy/${name} already provides it, with different subjects`;
  expect(h.status('NamespacePolicy', other)).toMatchObject({
    failures: [{ reason: 'ProvidedByAnother', message: expect.stringContaining(already) as string }],
  });
  expect(h.condition('NamespacePolicy', name)).toMatchObject({ status: 'True', reason: 'Suspended' });
});

test('a suspended policy gets no object that it did not own before', async () => {
  const h = harness();
  h.namespace('a', team);
  h.policy('p', bindingPolicy({ suspend: true }));
  h.policy('q', bindingPolicy());
  h.start();
  await h.settle();
  expect(owner(h)).toBe('NamespacePolicy/q');
  expect(h.condition('NamespacePolicy', 'q')).toMatchObject({ status: 'True', reason: 'Synced' });
  expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({ status: 'True' });
  h.policy('p', bindingPolicy());
  await h.settle();
  expect(owner(h)).toBe('NamespacePolicy/p');
});

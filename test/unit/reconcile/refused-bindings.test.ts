// What Reeve changes of a RoleBinding that the rules of another policy refuse.
import { expect, test } from 'vitest';
import { adoptLabel } from '../../../src/schema/names.ts';
import { bindingPolicy, settledWith, team, teams } from '../../support/provided.ts';
import type { Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

const devs = { kind: 'Group', name: 'devs' };
const others = { kind: 'Group', name: 'others' };
const onlyView = { allowedRoleRefs: ['ClusterRole/view'] };

const binding = (h: Harness) => h.get('RoleBinding', 'devs', 'a');
const reason = (h: Harness): unknown => h.condition('NamespacePolicy', 'p')?.['reason'];

/** Resolves when policy `p` has provided its RoleBinding, and then the rules and the change have been written. */
async function changedUnder(rbac: object, ...change: Parameters<typeof bindingPolicy>): Promise<Harness> {
  const h = await settledWith(harness(), bindingPolicy({}, { subjects: [devs, others] }), ['a']);
  h.policy('rules', { match: teams, rbac });
  h.policy('p', bindingPolicy(...change));
  await h.settle();
  return h;
}

test('a RoleBinding that a later rule refuses still loses its subjects', async () => {
  const h = await changedUnder(onlyView, {}, { subjects: [devs] });
  expect(binding(h)).toMatchObject({ subjects: [{ name: 'devs' }] });
  expect(reason(h)).toBe('Synced');
});

test('a RoleBinding keeps one forbidden subject while it loses another one', async () => {
  const h = await changedUnder({ forbiddenSubjects: ['Group/*'] }, {}, { subjects: [others] });
  expect(binding(h)).toMatchObject({ subjects: [{ name: 'others' }] });
});

test('a RoleBinding does not get a new subject that a rule forbids', async () => {
  const h = await changedUnder(
    { forbiddenSubjects: ['Group/*'] },
    {},
    { subjects: [{ ...devs, name: 'new' }] },
  );
  expect(binding(h)).toMatchObject({ subjects: [{ name: 'devs' }, { name: 'others' }] });
  expect(reason(h)).toBe('Failed');
});

test('a RoleBinding does not get another role that a rule refuses', async () => {
  const h = await changedUnder(onlyView, {}, { roleRef: { kind: 'ClusterRole', name: 'admin' } });
  expect(binding(h)).toMatchObject({
    roleRef: { name: 'edit' },
    subjects: [{ name: 'devs' }, { name: 'others' }],
  });
  expect(reason(h)).toBe('Failed');
});

test("a stranger's RoleBinding that a rule refuses is not adopted", async () => {
  const h = harness();
  h.namespace('a', team);
  h.memory.put({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'devs', namespace: 'a', labels: { [adoptLabel]: 'true' } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ kind: 'User', name: 'them' }],
  });
  h.policy('rules', { match: teams, rbac: onlyView });
  h.policy('p', bindingPolicy());
  h.start();
  await h.settle();
  expect(binding(h)).toMatchObject({ subjects: [{ name: 'them' }] });
  expect(reason(h)).toBe('Failed');
});

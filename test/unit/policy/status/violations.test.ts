import { expect, test } from 'vitest';
import { allViolations } from '../../../../src/policy/status/provider-tally.ts';

const violation = { policy: 'p', rule: 'r', path: 'x', found: 'y', accepted: 'z' };
const namespacesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...violation, namespace: `n${index}` }));
const objectsOf = (count: number) =>
  namespacesOf(count).map((each, index) => ({ ...each, kind: 'RoleBinding', name: `b${index}` }));

test('the sum has all resources, and a resource that is not audited is left out', () => {
  const counts = new Map([
    ['roles', 0],
    ['rolebindings', 30],
  ] as const);
  const objects = { counts, top: objectsOf(20), leavesOutSecrets: true };
  const { count, byResource } = allViolations({ count: 12, top: namespacesOf(12) }, objects);
  expect([count, byResource]).toEqual([42, { namespaces: 12, roles: 0, roleBindings: 30 }]);
});

test('ten objects come before the Namespaces, the others after them, and twenty are listed', () => {
  const objects = {
    counts: new Map([['rolebindings', 30]] as const),
    top: objectsOf(20),
    leavesOutSecrets: false,
  };
  const { top } = allViolations({ count: 5, top: namespacesOf(5) }, objects);
  expect(top.map(({ kind = 'Namespace' }) => kind)).toEqual([
    ...Array.from({ length: 10 }, () => 'RoleBinding'),
    ...Array.from({ length: 5 }, () => 'Namespace'),
    ...Array.from({ length: 5 }, () => 'RoleBinding'),
  ]);
});

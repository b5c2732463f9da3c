// Imports what Capsule allows its users: to create and change namespaces of their tenants alone.
// https://github.com/projectcapsule/capsule/blob/main/internal/webhook/namespace/mutation/assignment.go
import type { ImportRun } from '../import-run.ts';
import type { BoundSubject } from '../contents.ts';
import { distinct, inParts, type Reader, type ToolObject } from '../reader.ts';
import { selectedBy } from '../reach.ts';
import { tenantLabel } from './capsule-resources.ts';

/** Selectors list at most this many values. Expressions have at most this many characters. */
const [maxValues, maxExpression] = [100, 4096];

export interface CapsuleUsers {
  /** CEL that is true for a user whom Capsule limits to tenants. */
  readonly isLimited: string;
  readonly prefixesNames: boolean;
}

/** Without a CapsuleConfiguration in the input, the owners are the users. */
export function capsuleUsers(run: ImportRun, owners: readonly BoundSubject[]): CapsuleUsers {
  const specs = run.ofKind('CapsuleConfiguration').map(({ reader }) => reader.at('spec'));
  const listed = (key: string): readonly BoundSubject[] =>
    specs.flatMap((spec) => spec.at(key).items().flatMap(userOf));
  const named = (key: string, kind: string): readonly BoundSubject[] =>
    specs.flatMap((spec) => (spec.at(key).texts() ?? []).map((name) => ({ kind, name })));
  const users = [...listed('users'), ...named('userGroups', 'Group'), ...named('userNames', 'User')];
  const free = [...listed('administrators'), ...named('ignoreUserWithGroups', 'Group')];
  const limited = isOneOf(users.length === 0 ? owners : users);
  return {
    isLimited: free.length === 0 ? limited : `(${limited}) && !(${isOneOf(free)})`,
    prefixesNames: specs.some((spec) => spec.at('forceTenantPrefix').flag() === true),
  };
}

function userOf(item: Reader): readonly BoundSubject[] {
  const [kind, name] = item.textsAt('kind', 'name');
  return kind === undefined || name === undefined ? [] : [{ kind, name }];
}

/** Returns CEL that is true for these users. A ServiceAccount with a namespace is a user with a long name. */
function isOneOf(subjects: readonly BoundSubject[]): string {
  const groups = subjects.filter(({ kind }) => kind === 'Group').map(({ name }) => name);
  const users = subjects
    .filter(({ kind }) => kind !== 'Group')
    .map(({ namespace, name }) =>
      namespace === undefined ? name : `system:serviceaccount:${namespace}:${name}`,
    );
  const tests = [
    ...(groups.length === 0
      ? []
      : [`request.userInfo.groups.exists(group, group in ${JSON.stringify(distinct(groups))})`]),
    ...(users.length === 0 ? [] : [`request.userInfo.username in ${JSON.stringify(distinct(users))}`]),
  ];
  return tests.length === 0 ? 'false' : tests.join(' || ');
}

/** Keeps owners of other tenants from changing a namespace of this tenant, and its own owners from adding namespaces to it. */
export function ownersRule(
  tenant: ToolObject,
  owners: readonly BoundSubject[],
  { isLimited }: CapsuleUsers,
): readonly object[] {
  const labels = 'oldObject.metadata.labels';
  const [key, value] = [JSON.stringify(tenantLabel), JSON.stringify(tenant.name)];
  const wasHere = `has(${labels}) && ${key} in ${labels} && ${labels}[${key}] == ${value}`;
  const expression = `request.operation == "CREATE" || !(${isLimited}) || ((${isOneOf(owners)}) && ${wasHere})`;
  if (expression.length <= maxExpression)
    return [
      { name: 'owners', expression, message: `only owners of tenant ${tenant.name} change its namespaces` },
    ];
  tenant.reader.limit(
    'too many users for a rule that keeps users of other tenants out of its namespaces',
    'list groups as owners, and users in groups in the CapsuleConfiguration',
  );
  return [];
}

/** Refuses namespaces outside of tenants to the users of Capsule, as Capsule does. */
export function limitToTenants(
  run: ImportRun,
  tenants: readonly ToolObject[],
  { isLimited }: CapsuleUsers,
): void {
  const [first] = tenants;
  if (first === undefined) return;
  const requirements = inParts(
    tenants.map(({ name }) => name),
    maxValues,
  ).map((values) => ({ key: tenantLabel, operator: 'NotIn' as const, values }));
  const validations = [
    {
      name: 'tenants-only',
      expression: `!(${isLimited})`,
      message: `users of Capsule create and change namespaces of their tenants only, which have the label ${tenantLabel}`,
    },
  ];
  const spec = { match: selectedBy(requirements), validationActions: ['Audit'], validations };
  run.provide('NamespacePolicy', 'outside-tenants', spec, [first.reader]);
  first.reader.limit(
    'ClusterRole capsule-namespace-provisioner lets users of Capsule create and patch all namespaces; policies limit that to their tenants, but not in the namespaces that Reeve leaves alone',
    'give users the right to create namespaces only, and to patch one by a RoleBinding in that namespace',
  );
}

// Imports rules of a Tenant: labels and annotations that Capsule sets or forbids, and which namespaces its users may write.
// https://github.com/projectcapsule/capsule/blob/main/pkg/tenant/metdata.go
import type { JsonObject } from '../../base/json.ts';
import type { StringMap } from '../../base/metadata.ts';
import { filled, type Reader, distinct, inParts, type ToolObject } from '../reader.ts';
import { both, type NamespaceReach, selectedBy } from '../reach.ts';
import { textWithoutTemplates, namespaceNameTemplate } from '../templates.ts';
import { tenantLabel, tenantTemplates } from './capsule-resources.ts';
import type { ImportRun } from '../import-run.ts';
import type { BoundSubject } from '../contents.ts';

const fields = ['labels', 'annotations'] as const;
type Field = (typeof fields)[number];
type Metadata = Readonly<Record<Field, StringMap>>;

interface MetadataRules {
  readonly required?: object;
  readonly defaults?: object;
  readonly validations: readonly object[];
}

/** An item of additionalMetadataList. */
export interface SelectedMetadata {
  readonly from: Reader;
  readonly reach: NamespaceReach;
  readonly metadata: Metadata;
}

/** A rule cannot list longer values. */
const maxValue = 1024;

/** Capsule writes these keys again when an owner changes them, so the rules demand their values. */
export function metadataRules(tenant: string, given: Metadata, patterns?: Metadata): MetadataRules {
  const { write } = tenantTemplates(tenant);
  const writtenMap = (map: StringMap): StringMap =>
    Object.fromEntries(Object.entries(map).map(([key, text]) => [key, String(write(text))]));
  const written: Metadata = {
    labels: writtenMap(given.labels),
    annotations: writtenMap(given.annotations),
  };
  const required = {
    labels: requiredKeys(written.labels, patterns?.labels),
    annotations: requiredKeys(written.annotations, patterns?.annotations),
  };
  const validations = fields.flatMap((field) =>
    Object.entries(written[field])
      .filter(([, text]) => (textWithoutTemplates(text)?.length ?? maxValue + 1) > maxValue)
      .map(([key, text], index) => valueRule(field, key, text, index)),
  );
  return {
    ...filled({ required: filled(required), defaults: filled({ ...written }) }),
    validations,
  };
}

function requiredKeys(written: StringMap, patterns: StringMap = {}): JsonObject {
  const texts = Object.entries(written).map(([key, text]) => [key, textWithoutTemplates(text)] as const);
  const fixed = texts.filter(([, text]) => text !== undefined && text.length <= maxValue);
  const values = new Map(fixed.map(([key, text]) => [key, { values: [text] }]));
  const matching = Object.entries(patterns).map(
    ([key, pattern]) => [key, { pattern, ...values.get(key) }] as const,
  );
  return { ...Object.fromEntries(values), ...Object.fromEntries(matching) };
}

function valueRule(field: Field, key: string, text: string, index: number): object {
  const texts = text.split(namespaceNameTemplate).map((part) => JSON.stringify(part.replaceAll('$${', '${')));
  const parts = texts.flatMap((part, at) => (at === 0 ? [part] : ['object.metadata.name', part]));
  const value = parts.filter((part) => part !== '""').join(' + ');
  const [map, name] = [`object.metadata.${field}`, JSON.stringify(key)];
  return {
    name: `${field}-${index + 1}`,
    expression: `has(${map}) && ${name} in ${map} && ${map}[${name}] == ${value}`,
    message: `the tenant sets the value of ${key}`,
  };
}

/** Returns the items without the keys that an earlier part of the Tenant sets: Capsule overwrites no key. */
export function selectedMetadata(
  items: readonly SelectedMetadata[],
  first: Metadata,
): readonly SelectedMetadata[] {
  return items.map(({ from, reach, metadata }, index) => {
    const earlier = items.slice(0, index).filter((other) => both(other.reach, reach).names?.length !== 0);
    const kept = (field: Field): StringMap =>
      Object.fromEntries(
        Object.entries(metadata[field]).filter(([key, value]) => {
          if (Object.hasOwn(first[field], key)) {
            if (first[field][key] !== value)
              from
                .at(field, key)
                .lose(
                  'additionalMetadata sets another value, which the policy requires in all namespaces of the tenant',
                  'write a policy for these namespaces, and take the key out of the other one',
                );
            return false;
          }
          const others = earlier.flatMap((other) => other.metadata[field][key] ?? []);
          if (others.every((other) => other === value)) return true;
          from
            .at(field, key)
            .lose(
              'an earlier item may select the same namespaces, and sets another value',
              'write a policy for the namespaces that the earlier item leaves',
            );
          return false;
        }),
      );
    return { from, reach, metadata: { labels: kept('labels'), annotations: kept('annotations') } };
  });
}

/** Forbids these keys to owners. Keys that Capsule and Kubernetes set are left out. */
export function forbiddenKeys(options: Reader, managed: Metadata): readonly object[] {
  return fields.flatMap((field) => {
    const list = options.at(field === 'labels' ? 'forbiddenLabels' : 'forbiddenAnnotations');
    const denied = list.at('denied').texts() ?? [];
    const pattern = list.at('deniedRegex').text() ?? '';
    const tests = [
      ...(denied.length === 0 ? [] : [`!(key in ${JSON.stringify(denied)})`]),
      ...(pattern === '' ? [] : [`!key.matches(${JSON.stringify(pattern)})`]),
    ];
    const own = field === 'labels' ? ['kubernetes.io/metadata.name', tenantLabel] : [];
    const free = [...own, ...Object.keys(managed[field])];
    const exempt = free.length === 0 ? '' : `key in ${JSON.stringify(free)} || `;
    const map = `object.metadata.${field}`;
    const all = `${map}.all(key, ${exempt}${tests.join(' && ')})`;
    const rule = { name: `forbidden-${field}`, expression: `!has(${map}) || ${all}` };
    return tests.length === 0 ? [] : [rule];
  });
}

// Imports what Capsule allows its users: to create and change namespaces of their tenants alone.
// https://github.com/projectcapsule/capsule/blob/main/internal/webhook/namespace/mutation/assignment.go

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

// Defines roles and their bindings. https://kubernetes.io/docs/reference/access-authn-authz/rbac/
import { labelSelector } from '../../schema/selector.ts';
import { isJsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { rbacApiGroup as group } from '../../base/rbac-rules.ts';
import type { Resource } from '../resource.ts';
import { age, column, itemsAt, textAt } from './column.ts';
import { define } from './define.ts';
import { anyText, fields, oneOf, ruled, several, some, someText, texts } from './shape.ts';

const subjectKinds = ['User', 'Group', 'ServiceAccount'] as const;
const accepted = "a name other than '.' and '..', without '/' and '%'";
const name = { ...anyText, pattern: '^(?!\\.{1,2}$)[^/%]+$', accepted };
const apiGroup = oneOf(group, '');

function role(isNamespaced: boolean): Resource {
  const shape = fields(
    { verbs: some(anyText) },
    { apiGroups: texts, resources: texts, resourceNames: texts, nonResourceURLs: texts },
  );
  const rule = ruled(shape, 'resources in API groups, or in a ClusterRole non-resource URLs', (given) => {
    const has = (field: string): boolean => itemsAt(given, field).length > 0;
    if (has('nonResourceURLs')) return isNamespaced || has('resources') ? ['nonResourceURLs'] : undefined;
    const missing = ['apiGroups', 'resources'].find((field) => !has(field));
    return missing === undefined ? undefined : [missing];
  });
  const aggregationRule = fields({}, { clusterRoleSelectors: several(labelSelector) });
  return define(group, isNamespaced ? 'Role' : 'ClusterRole', {
    description: `Rules that permit verbs on resources, ${isNamespaced ? 'in one namespace' : 'in the whole cluster'}.`,
    isNamespaced,
    name,
    optional: { rules: several(rule), ...(isNamespaced ? {} : { aggregationRule }) },
  });
}

function binding(isNamespaced: boolean): Resource {
  const kind = isNamespaced ? oneOf('Role', 'ClusterRole') : oneOf('ClusterRole');
  const subject = ruled(
    fields({ kind: oneOf(...subjectKinds), name: someText }, { apiGroup, namespace: anyText }),
    'the namespace of the service account',
    (given) => {
      const isAccount = textAt(given, 'kind') === 'ServiceAccount';
      return isAccount && !isNamespaced && textAt(given, 'namespace') === '' ? ['namespace'] : undefined;
    },
  );
  return define(group, isNamespaced ? 'RoleBinding' : 'ClusterRoleBinding', {
    description: `Grants a role to its subjects, ${isNamespaced ? 'in one namespace' : 'in the whole cluster'}.`,
    isNamespaced,
    name,
    columns: [
      column('Role', ({ roleRef }) => `${textAt(roleRef, 'kind')}/${textAt(roleRef, 'name')}`),
      age,
      ...subjectKinds.map((one) => column(`${one}s`, (object) => subjectNames(object, one), { priority: 1 })),
    ],
    needed: { roleRef: fields({ kind, name: someText }, { apiGroup }) },
    optional: { subjects: several(subject) },
    unchanging: ['roleRef'],
    finish: ({ subjects, roleRef, ...rest }) => ({
      ...rest,
      ...(subjects === undefined ? {} : { subjects: itemsAt(subjects).map(withGroup) }),
      roleRef: withGroup(roleRef),
    }),
  });
}

function withGroup(reference: unknown): unknown {
  const isRbac = isJsonObject(reference) && reference['kind'] !== 'ServiceAccount';
  return isRbac ? { ...reference, apiGroup: group } : reference;
}

function subjectNames(object: KubeObject, kind: string): string {
  const wanted = itemsAt(object, 'subjects').filter((subject) => textAt(subject, 'kind') === kind);
  const parts = kind === 'ServiceAccount' ? ['namespace', 'name'] : ['name'];
  return wanted.map((subject) => parts.map((part) => textAt(subject, part)).join('/')).join(', ');
}

export const roleKind: Resource = role(true);
export const clusterRoleKind: Resource = role(false);
export const roleBindingKind: Resource = binding(true);
export const clusterRoleBindingKind: Resource = binding(false);
export const rbacKinds: readonly Resource[] = [
  roleKind,
  clusterRoleKind,
  roleBindingKind,
  clusterRoleBindingKind,
];

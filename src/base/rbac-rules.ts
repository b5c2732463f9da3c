// Reads roles and bindings, and tells what a rule of a role permits:
// https://kubernetes.io/docs/reference/access-authn-authz/rbac/#role-and-clusterrole
import { isJsonObject, ownMember, type JsonObject } from './json.ts';
import type { KubeObject } from './metadata.ts';

export const rbacApiGroup = 'rbac.authorization.k8s.io';

export interface ResourceAction {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

export interface PathAction {
  readonly verb: string;
  readonly path: string;
}

export type Action = ResourceAction | PathAction;

/** The rules of cluster-admin. */
export const clusterAdminRules: readonly JsonObject[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];

export function rulesIn(role: unknown): readonly JsonObject[] {
  return itemsIn(role, 'rules').filter(isJsonObject);
}

export function textsAt(holder: unknown, field: string): readonly string[] {
  return itemsIn(holder, field).filter((text) => typeof text === 'string');
}

/**
 * Returns the users and groups of a binding, as `User/alice` and `Group/red`. A ServiceAccount is a user too:
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-subjects
 */
export function subjectsOf(binding: KubeObject): readonly string[] {
  return itemsIn(binding, 'subjects').map((subject) => {
    const [kind, name, home] = ['kind', 'name', 'namespace'].map((field) => textIn(subject, field));
    if (kind !== 'ServiceAccount') return `${kind}/${name}`;
    return `User/system:serviceaccount:${home === '' ? (binding.metadata.namespace ?? '') : home}:${name}`;
  });
}

/** Returns the role that a binding names. The field cannot be changed. */
export function roleRefOf(binding: unknown): { readonly isLocal: boolean; readonly name: string } {
  const ref = ownMember(binding, 'roleRef');
  return { isLocal: textIn(ref, 'kind') === 'Role', name: textIn(ref, 'name') };
}

export function ruleAllows(rule: JsonObject, action: Action): boolean {
  if (!names(rule, 'verbs', action.verb)) return false;
  if ('path' in action) return textsAt(rule, 'nonResourceURLs').some((url) => covers(url, action.path));
  const { group, resource, subresource = '', name = '' } = action;
  const path = subresource === '' ? resource : `${resource}/${subresource}`;
  const resourceNames = textsAt(rule, 'resourceNames');
  return (
    names(rule, 'apiGroups', group) &&
    (names(rule, 'resources', path) || names(rule, 'resources', path.replace(/^[^/]*/, '*'))) &&
    // A create or a list has no name, so a rule with resourceNames does not permit it.
    (resourceNames.length === 0 || resourceNames.includes(name))
  );
}

function names(rule: JsonObject, field: string, asked: string): boolean {
  const permitted = textsAt(rule, field);
  return permitted.includes('*') || permitted.includes(asked);
}

function covers(url: string, path: string): boolean {
  return url === path || (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, '')));
}

function itemsIn(holder: unknown, field: string): readonly unknown[] {
  const value = ownMember(holder, field);
  return Array.isArray(value) ? value : [];
}

function textIn(holder: unknown, field: string): string {
  const value = ownMember(holder, field);
  return typeof value === 'string' ? value : '';
}

// What makes two objects of one namespace the same one: group, kind and name; the version is only a view of it.
import type { ObjectType } from './compile-contents.ts';

/** `rbac.authorization.k8s.io/RoleBinding/dev-team`, `/Secret/regcred`. */
export type ObjectKey = `${string}/${string}/${string}`;

export function objectKey({ apiVersion, kind }: ObjectType, name: string): ObjectKey {
  return `${groupOf(apiVersion)}/${kind}/${name}`;
}

/** `apps` of `apps/v1`; empty for the core group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
}

/** `RoleBinding` of `rbac.authorization.k8s.io/RoleBinding/dev-team`. */
export function kindOfKey(key: ObjectKey): string {
  return key.split('/', 2)[1] ?? '';
}

/** `dev-team` of it: no name of an object holds a slash. */
export function nameOfKey(key: ObjectKey): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

// Defines types of objects, the types that Reeve knows by itself, and the key that tells the objects of one namespace apart.

/** The kind of an object, which is never templated. */
export interface ObjectType {
  readonly apiVersion: string;
  readonly kind: string;
}

export const roleBindingType: ObjectType = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
};

export const roleType: ObjectType = { apiVersion: roleBindingType.apiVersion, kind: 'Role' };

export const serviceAccountType: ObjectType = { apiVersion: 'v1', kind: 'ServiceAccount' };

export const secretObjectType: ObjectType = { apiVersion: 'v1', kind: 'Secret' };

export const configMapType: ObjectType = { apiVersion: 'v1', kind: 'ConfigMap' };

/** Reads `v1/ResourceQuota` and `networking.k8s.io/v1/NetworkPolicy`. */
export function objectTypeOf(text: string): ObjectType {
  const slash = text.lastIndexOf('/');
  return { apiVersion: text.slice(0, slash), kind: text.slice(slash + 1) };
}

export function isSameObjectType(a: ObjectType, b: ObjectType): boolean {
  return a.kind === b.kind && a.apiVersion === b.apiVersion;
}

/**
 * Group, kind and name: `rbac.authorization.k8s.io/RoleBinding/dev-team`, `/Secret/regcred`.
 * The version is left out, because it is only a view of the object.
 */
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

/** `dev-team` of `rbac.authorization.k8s.io/RoleBinding/dev-team`. Names contain no slash. */
export function nameOfKey(key: ObjectKey): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

/** Leaves out the version, which is only a view of the kind. */
export function groupKind({ apiVersion, kind }: ObjectType): string {
  return `${groupOf(apiVersion)}/${kind}`;
}

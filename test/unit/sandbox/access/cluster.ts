// Builds a store with RBAC objects only, and the authorizer that reads it.
import { kindDefinitions } from '../../../../src/api/kinds.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { createAuthorizer, type Access } from '../../../../src/sandbox/access/authorizer.ts';
import { kindsServedFrom } from '../../../../src/sandbox/kinds/served-kinds.ts';
import type { Resource } from '../../../../src/sandbox/resource.ts';
import { MemoryStore } from '../../../../src/sandbox/store.ts';
import { builtInRoles } from '../../../../src/sandbox/sandbox.ts';
import type { User } from '../../../../src/sandbox/access/users.ts';

export interface Cluster {
  readonly access: Access;
  put(...objects: readonly KubeObject[]): void;
  remove(kind: string, name: string, namespace?: string): void;
  resource(kind: string): Resource;
}

/** Contains the built-in roles. */
export function cluster(...objects: readonly KubeObject[]): Cluster {
  const store = new MemoryStore();
  const kinds = kindsServedFrom(store, kindDefinitions);
  const resource = (kind: string): Resource => {
    const found = kinds.ofKind('rbac.authorization.k8s.io/v1', kind);
    if (found === undefined) throw new Error(`no ${kind}`);
    return found;
  };
  const stored = (kind: string, { namespace, name = '' }: KubeObject['metadata']) =>
    store.get(resource(kind), namespace, name);
  const put = (...written: readonly KubeObject[]): void => {
    for (const object of written) {
      const kind = object.kind ?? '';
      store.put(resource(kind), object, stored(kind, object.metadata));
    }
  };
  // One half exists before the authorizer, the other half is added later.
  put(...builtInRoles());
  const access = createAuthorizer(store);
  put(...objects);
  return {
    access,
    put,
    resource,
    remove: (kind, name, namespace) => {
      const object = stored(kind, { name, ...(namespace === undefined ? {} : { namespace }) });
      if (object !== undefined) store.remove(resource(kind), object);
    },
  };
}

export function user(username: string, ...groups: readonly string[]): User {
  return { username, groups: [...groups, 'system:authenticated'] };
}

const apiVersion = 'rbac.authorization.k8s.io/v1';

export interface Rule {
  readonly verbs: string;
  readonly groups?: readonly string[];
  readonly resources?: string;
  readonly names?: string;
  readonly urls?: string;
}

export function role(name: string, namespace: string | undefined, ...rules: readonly Rule[]): KubeObject {
  const metadata = namespace === undefined ? { name } : { name, namespace };
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  return { apiVersion, kind, metadata, rules: rules.map(ruleOf) };
}

function ruleOf({ verbs, groups = [''], resources, names, urls }: Rule): object {
  return {
    verbs: verbs.split(' '),
    ...(resources === undefined ? {} : { apiGroups: groups, resources: resources.split(' ') }),
    ...(names === undefined ? {} : { resourceNames: names.split(' ') }),
    ...(urls === undefined ? {} : { nonResourceURLs: urls.split(' ') }),
  };
}

/**
 * `subject` is `User ann`, `Group g` or `ServiceAccount ns/name`. The role is a ClusterRole unless it begins with
 * `Role `.
 */
export function binding(
  name: string,
  namespace: string | undefined,
  of: string,
  ...subjects: readonly string[]
): KubeObject {
  const metadata = namespace === undefined ? { name } : { name, namespace };
  const kind = namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding';
  const isLocal = of.startsWith('Role ');
  const roleRef = {
    apiGroup: 'rbac.authorization.k8s.io',
    kind: isLocal ? 'Role' : 'ClusterRole',
    name: isLocal ? of.slice('Role '.length) : of,
  };
  return { apiVersion, kind, metadata, roleRef, subjects: subjects.map(subjectOf) };
}

function subjectOf(text: string): object {
  const [kind = '', name = ''] = text.split(' ');
  if (kind !== 'ServiceAccount') return { kind, name };
  const [home = '', account = ''] = name.split('/');
  return home === '' ? { kind, name: account } : { kind, namespace: home, name: account };
}

// Decides what a user may do by the stored roles and bindings, and refuses the rest as the API server does.
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { clusterRoleBindingKind, clusterRoleKind, roleBindingKind, roleKind } from '../kinds/rbac-kinds.ts';
import type { SandboxStore } from '../store.ts';
import {
  roleRefOf,
  ruleAllows,
  rulesIn,
  subjectsOf,
  type PathAction,
  type ResourceAction,
} from '../../base/rbac-rules.ts';
import type { User } from './users.ts';
import { ApiError, forbiddenError } from '../api-error.ts';

export type { PathAction, ResourceAction };

export interface Authorizer {
  /** Members of system:masters may do everything; all others what the stored roles and bindings permit. */
  allows(user: User, action: ResourceAction | PathAction): boolean;
}

/** The role of a binding. `rules` is undefined when the role does not exist. */
interface BoundRole {
  readonly kind: 'Role' | 'ClusterRole';
  readonly name: string;
  readonly rules: readonly JsonObject[] | undefined;
}

export interface Access extends Authorizer {
  /** The rules for the whole cluster and for the namespace. */
  rulesOf(user: User, namespace: string | undefined): readonly JsonObject[];
  roleOf(binding: unknown, namespace: string | undefined): BoundRole;
}

export function createAuthorizer(store: SandboxStore): Access {
  const bindings = new Bindings(store);
  const roleOf: Access['roleOf'] = (binding, namespace) => {
    const { isLocal, name } = roleRefOf(binding);
    const role = isLocal ? store.get(roleKind, namespace, name) : store.get(clusterRoleKind, undefined, name);
    return { kind: isLocal ? 'Role' : 'ClusterRole', name, rules: role && rulesIn(role) };
  };
  const rulesOf: Access['rulesOf'] = (user, namespace = '') =>
    [...new Set(['', namespace])]
      .flatMap((scope) => bindings.of(user, scope))
      .flatMap((binding) => roleOf(binding, binding.metadata.namespace).rules ?? []);
  const allows: Access['allows'] = (user, action) => {
    const namespace = 'path' in action ? undefined : action.namespace;
    return isMaster(user) || rulesOf(user, namespace).some((rule) => ruleAllows(rule, action));
  };
  return { allows, rulesOf, roleOf };
}

/** https://kubernetes.io/docs/reference/access-authn-authz/rbac/#user-facing-roles */
export function isMaster({ groups }: User): boolean {
  return groups.includes('system:masters');
}

/** Indexes all bindings by subject, so that a request looks only at the bindings of its user. */
class Bindings {
  /** The key is a namespace (empty for ClusterRoleBindings) and a subject; the value holds its bindings by name. */
  readonly #bySubject = new Map<string, Map<string, KubeObject>>();

  constructor(store: SandboxStore) {
    for (const kind of [roleBindingKind, clusterRoleBindingKind])
      store.list(kind).forEach((one) => this.#add(one));
    store.subscribe(({ type, resource, object, before }) => {
      if (resource !== roleBindingKind && resource !== clusterRoleBindingKind) return;
      if (before !== undefined) this.#remove(before);
      if (type !== 'deleted') this.#add(object);
    });
  }

  /** Returns a binding once, even when it names the user several times. */
  of({ username, groups }: User, namespace: string): readonly KubeObject[] {
    const subjects = [`User/${username}`, ...groups.map((group) => `Group/${group}`)];
    const found = subjects.flatMap((subject) => [...(this.#bySubject.get(`${namespace}/${subject}`) ?? [])]);
    return [...new Map(found).values()];
  }

  #remove(binding: KubeObject): void {
    for (const subject of keysOf(binding)) {
      const bindings = this.#bySubject.get(subject);
      bindings?.delete(binding.metadata.name ?? '');
      if (bindings?.size === 0) this.#bySubject.delete(subject);
    }
  }

  #add(binding: KubeObject): void {
    for (const subject of keysOf(binding)) {
      const bindings = this.#bySubject.get(subject) ?? new Map<string, KubeObject>();
      this.#bySubject.set(subject, bindings.set(binding.metadata.name ?? '', binding));
    }
  }
}

function keysOf(binding: KubeObject): readonly string[] {
  return subjectsOf(binding).map((subject) => `${binding.metadata.namespace ?? ''}/${subject}`);
}

interface Asked extends Pick<ResourceAction, 'subresource' | 'namespace' | 'name'> {
  readonly user: User;
  readonly resource: { readonly group: string; readonly plural: string };
  readonly query: URLSearchParams;
}

/** https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb */
export function assertMayDo(authorizer: Authorizer, asked: Asked, verb: string): void {
  const { group, plural } = asked.resource;
  const { user, subresource, name = selectedName(asked, verb) } = asked;
  // For RBAC, a Namespace is in itself.
  const namespace = group === '' && plural === 'namespaces' ? asked.name : asked.namespace;
  assertAllowed(authorizer, user, { verb, group, resource: plural, subresource, namespace, name });
}

/**
 * Returns the name of a fieldSelector that selects by the name alone:
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-resources
 */
function selectedName({ query }: Asked, verb: string): string | undefined {
  if (!/^(list|watch|deletecollection)$/.test(verb)) return undefined;
  return /^metadata\.name==?([^,=!\\]+)$/.exec(query.get('fieldSelector') ?? '')?.[1];
}

export function assertAllowed(authorizer: Authorizer, user: User, action: ResourceAction | PathAction): void {
  if (authorizer.allows(user, action)) return;
  const who = `User ${JSON.stringify(user.username)} cannot ${action.verb}`;
  if ('path' in action) {
    const message = `forbidden: ${who} path ${JSON.stringify(action.path)}`;
    throw new ApiError({ code: 403, reason: 'Forbidden', message, details: {} });
  }
  const { group, resource, subresource, namespace = '', name = '' } = action;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  const why = `${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`;
  throw forbiddenError({ group, plural: resource }, name, why);
}

// Decides what a user may do by the stored roles and bindings, and refuses the rest as the API server does.
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { clusterRoleBindingKind, clusterRoleKind, roleBindingKind, roleKind } from '../kinds/rbac-kinds.ts';
import type { SandboxStore } from '../store.ts';
import {
  roleRefOf,
  ruleAllows,
  rulesIn,
  subjectsOf,
  type PathAction,
  type ResourceAction,
  clusterAdminRules,
  rbacApiGroup,
  textsAt,
} from '../../base/rbac-rules.ts';
import type { User } from './users.ts';
import { ApiError, forbiddenError, notFoundError } from '../api-error.ts';
import { isDeepStrictEqual } from 'node:util';
import type { ObjectRequest } from '../resource.ts';

export type { PathAction, ResourceAction };

export interface Authorizer {
  /** Members of system:masters may do everything. Other users may do what the stored roles and bindings permit. */
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
function isMaster({ groups }: User): boolean {
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

// Stops a user from granting rights that the user does not hold, unless the user may `escalate` or `bind`.
// https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping

interface RbacWrite extends Pick<ObjectRequest, 'user' | 'resource' | 'namespace'> {
  readonly object: KubeObject;
  readonly stored: KubeObject | undefined;
}

/** Takes writes of every kind and ignores those outside RBAC. Throws an ApiError. */
export function assertNoEscalation(access: Access, write: RbacWrite): void {
  const { user, resource, object, stored } = write;
  if (resource.group !== rbacApiGroup || isMaster(user)) return;
  if (stored !== undefined && isDeepStrictEqual(granting(object), granting(stored))) return;
  if (resource.plural.endsWith('bindings')) checkBinding(access, write);
  else checkRole(access, write);
}

/**
 * A user who may write the object may always change its owners and finalizers; otherwise it might never be deleted.
 */
function granting({ metadata, ...rest }: KubeObject): object {
  const { ownerReferences: _o, finalizers: _f, managedFields: _m, resourceVersion: _v, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

function checkRole(access: Access, write: RbacWrite): void {
  const { user, resource, namespace, object, stored } = write;
  const name = stored === undefined ? undefined : object.metadata.name;
  const escalate = { verb: 'escalate', group: rbacApiGroup, resource: resource.plural, namespace, name };
  if (access.allows(user, escalate)) return;
  checkHeld(access, write, rulesIn(object));
  // An aggregated role can gather any rule, so the user must hold all rights.
  if ((object['aggregationRule'] ?? stored?.['aggregationRule']) !== undefined)
    checkHeld(access, write, clusterAdminRules);
}

function checkBinding(access: Access, write: RbacWrite): void {
  const { user, resource, namespace, object } = write;
  const { kind, name, rules } = access.roleOf(object, namespace);
  const bind = { verb: 'bind', group: rbacApiGroup, resource: `${kind.toLowerCase()}s`, namespace, name };
  if (access.allows(user, bind)) return;
  // The API server, too, names the kind of the binding instead of the role.
  if (rules === undefined) throw notFoundError(resource, name);
  checkHeld(access, write, rules);
}

function checkHeld(access: Access, write: RbacWrite, rules: readonly JsonObject[]): void {
  const { user, resource, namespace, object } = write;
  const held = access.rulesOf(user, namespace);
  const missing = rules.flatMap((rule) => unheld(rule, held));
  if (missing.length === 0) return;
  const who = `user ${JSON.stringify(user.username)} (groups=${quoted(user.groups)})`;
  const why = `${who} is attempting to grant RBAC permissions not currently held:`;
  throw forbiddenError(resource, object.metadata.name ?? '', [why, ...missing.toSorted()].join('\n'));
}

/**
 * Returns a line for each target of the rule, with the verbs that no held rule permits. Only a held `*` permits a
 * `*`.
 */
function unheld(rule: JsonObject, held: readonly JsonObject[]): readonly string[] {
  const names = textsAt(rule, 'resourceNames');
  const targets = textsAt(rule, 'apiGroups').flatMap((group) =>
    textsAt(rule, 'resources').flatMap((resource) =>
      (names.length === 0 ? [undefined] : names).map((name) => ({ group, resource, name })),
    ),
  );
  const paths = textsAt(rule, 'nonResourceURLs').map((path) => ({ path }));
  return [...targets, ...paths].flatMap((target) => {
    const isHeld = (verb: string): boolean => held.some((each) => ruleAllows(each, { verb, ...target }));
    const verbs = textsAt(rule, 'verbs').filter((verb) => !isHeld(verb));
    return verbs.length === 0 ? [] : [`{${described(target)}, Verbs:${quoted(verbs)}}`];
  });
}

function described(target: Omit<ResourceAction, 'verb'> | Omit<PathAction, 'verb'>): string {
  if ('path' in target) return `NonResourceURLs:${quoted([target.path])}`;
  const names = target.name === undefined ? '' : `, ResourceNames:${quoted([target.name])}`;
  return `APIGroups:${quoted([target.group])}, Resources:${quoted([target.resource])}${names}`;
}

function quoted(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`;
}

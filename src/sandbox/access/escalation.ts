// Stops a user from granting rights that the user does not hold, unless the user may `escalate` or `bind`.
// https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { forbiddenError, notFoundError } from '../api-error.ts';
import type { ObjectRequest } from '../request.ts';
import { isMaster, type Access, type PathAction, type ResourceAction } from './authorizer.ts';
import { clusterAdminRules, rbacApiGroup, ruleAllows, rulesIn, textsAt } from '../../base/rbac-rules.ts';

interface RbacWrite extends Pick<ObjectRequest, 'user' | 'resource' | 'namespace'> {
  readonly object: KubeObject;
  readonly stored: KubeObject | undefined;
}

/** Takes writes of every kind and ignores those outside RBAC. Throws an ApiError. */
export function checkEscalation(access: Access, write: RbacWrite): void {
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
  // The API server, too, names the kind of the binding here.
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

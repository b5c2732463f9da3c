// Selects what applies to a review: rules, the Namespace they need, and the policy that owns a default.
import type { Review } from '../terms/review.ts';
import type { OwnsDefault } from '../../rules/rule.ts';
import { helmReleaseType } from '../../rules/secret-types.ts';
import { secretType } from '../../rules/secret-values.ts';
import type { CompiledPolicy } from './compile-policy.ts';
import type { CompiledRule } from './compile-rules.ts';
import type { PolicySet } from './snapshot.ts';
import { isExcepted } from '../terms/exceptions.ts';

export function rulesFor(policy: CompiledPolicy, { resource, object }: Review): readonly CompiledRule[] {
  const isHelmRelease =
    resource === 'secrets' && object !== undefined && secretType(object) === helmReleaseType;
  return isHelmRelease && !policy.judgesHelmReleases ? [] : policy.rules[resource];
}

/** Returns the Namespace that must be known to decide. Excluded namespaces and objects without rules need no lookup. */
export function namespaceNeeded(review: Review, policies: PolicySet): string | undefined {
  const { resource, operation, namespace } = review;
  // Deletions of these objects are not judged, so that cleaning up always works.
  if (resource === 'namespaces' || operation === 'DELETE') return undefined;
  return policies.isExcluded(namespace) || !policies.judges(resource) ? undefined : namespace;
}

/** The failurePolicy of the webhooks for Secrets, Roles and RoleBindings. `Off`: without these webhooks. */
export type HookMode = 'Off' | 'Ignore' | 'Fail';

/** The kinds besides Namespaces for which a policy in force has rules or defaults. */
export interface JudgedKinds {
  readonly secrets: boolean;
  readonly roles: boolean;
  readonly rolebindings: boolean;
  readonly secretDefaults: boolean;
}

export function judgedKinds(policies: PolicySet): JudgedKinds {
  return {
    secrets: policies.judges('secrets'),
    roles: policies.judges('roles'),
    rolebindings: policies.judges('rolebindings'),
    secretDefaults: policies.policies.some(({ secretDefaults }) => secretDefaults.length > 0),
  };
}

/** Returns the parts of the spec that need a webhook which this install leaves out. They apply only to our own writes. */
export function partsWithoutHook(policy: CompiledPolicy, mode: HookMode): readonly ('secrets' | 'rbac')[] {
  if (mode !== 'Off') return [];
  const { secrets, roles, rolebindings } = policy.rules;
  return [
    ...(secrets.length > 0 ? (['secrets'] as const) : []),
    ...(roles.length + rolebindings.length > 0 ? (['rbac'] as const) : []),
  ];
}

/** Returns which policy sets each default. `matching` is sorted by name, and the first policy wins. */
export function defaultOwners(
  kind: 'namespaces' | 'secrets',
  matching: readonly CompiledPolicy[],
  namespace: string,
  now: Date,
): (policy: CompiledPolicy) => OwnsDefault {
  const owners = new Map<string, CompiledPolicy>();
  for (const policy of matching) {
    const keys = kind === 'namespaces' ? policy.namespaceDefaults : policy.secretDefaults;
    if (keys.length === 0 || isExcepted(policy.exceptions, `${kind}.defaults`, namespace, now)) continue;
    for (const { field, key } of keys) {
      const id = `${field} ${key}`;
      if (!owners.has(id)) owners.set(id, policy);
    }
  }
  return (policy) => (field, key) => owners.get(`${field} ${key}`) === policy;
}

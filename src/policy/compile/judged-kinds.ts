// Says for which kinds beside Namespaces there are rules, and which rules an install demands of nobody.
import type { CompiledPolicy } from './compiled-policy.ts';
import type { PolicySet } from './policy-set.ts';

/** Whether Secrets, Roles and RoleBindings are reviewed, and whether they can be written while nobody answers. */
export type HookMode = 'Off' | 'Ignore' | 'Fail';

/** What some policy in force has rules or defaults for, beside Namespaces. */
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

/** The parts of its spec that need a webhook which this install leaves out: of other writers, nobody demands them. */
export function partsWithoutHook(policy: CompiledPolicy, mode: HookMode): readonly ('secrets' | 'rbac')[] {
  if (mode !== 'Off') return [];
  const { secretRules, secretDefaults, roleRules, roleBindingRules } = policy;
  return [
    ...(secretRules.length + secretDefaults.length > 0 ? (['secrets'] as const) : []),
    ...(roleRules.length + roleBindingRules.length > 0 ? (['rbac'] as const) : []),
  ];
}

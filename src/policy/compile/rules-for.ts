// Picks the rules of a policy that judge the object of a review.
import type { CompiledPolicy } from './compiled-policy.ts';
import type { Review } from '../terms/review.ts';
import type { Rule } from '../rules/rule.ts';
import { helmReleaseType } from '../rules/secret-types.ts';
import { secretType } from '../rules/secret-values.ts';

export function rulesFor(policy: CompiledPolicy, { resource, object }: Review): readonly Rule[] {
  switch (resource) {
    case 'secrets': {
      const isHelmRelease = object !== undefined && secretType(object) === helmReleaseType;
      return isHelmRelease && !policy.judgesHelmReleases ? [] : policy.secretRules;
    }
    case 'roles':
      return policy.roleRules;
    case 'rolebindings':
      return policy.roleBindingRules;
    case 'namespaces':
      return policy.namespaceRules;
    default:
      return resource satisfies never;
  }
}

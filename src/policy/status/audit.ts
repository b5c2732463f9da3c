// Judges a Namespace that is already there by the rules of a policy: what would have to change before they all hold.
import type { KubeObject } from '../../base/kube-object.ts';
import { unlimitedBudget } from '../terms/budget.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import { judge } from '../decide/judge.ts';
import { matchNamespace } from '../terms/match.ts';
import { nameOf } from '../../base/metadata.ts';
import type { Review } from '../terms/review.ts';
import type { Rule } from '../rules/rule.ts';
import type { JudgedViolation, Violation } from '../terms/verdict.ts';

export interface Audit {
  /** An error of the match is no yes: nothing is judged then. */
  readonly isMatched: boolean;
  readonly violations: readonly Violation[];
}

const unmatched: Audit = { isMatched: false, violations: [] };

export function auditNamespace(policy: CompiledPolicy, namespaceObject: KubeObject, now: Date): Audit {
  if (matchNamespace(policy.match, namespaceObject).kind !== 'yes') return unmatched;
  const violations: JudgedViolation[] = [];
  const context = {
    review: standing(namespaceObject),
    now,
    namespaceObject,
    matchesNew: true,
    matchedOld: false,
    actions: policy.actions,
    countOthers: () => 0,
    // Values are free; only that the key is there is asked.
    ownsDefault: () => false,
  };
  judge(policy, policy.namespaceRules.filter(judgesStanding), context, unlimitedBudget, violations);
  return { isMatched: true, violations: violations.map(({ violation }) => violation) };
}

/** Not the rules on how it is changed, and by whom; quotas are for all namespaces together. */
function judgesStanding(rule: Rule): boolean {
  return rule.shape === 'state' ? rule.graced : rule.id === 'namespaces.defaults';
}

function standing(namespaceObject: KubeObject): Review {
  const name = nameOf(namespaceObject);
  return {
    uid: '',
    resource: 'namespaces',
    subresource: '',
    operation: 'CREATE',
    name,
    namespace: name,
    requester: { username: '', groups: [] },
    dryRun: false,
    // There is no request: what a default would take from one is not demanded.
    isOwnWrite: true,
    object: namespaceObject,
    attributes: {},
  };
}

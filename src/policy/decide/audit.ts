// Judges an existing Namespace by the rules of a policy.
import type { KubeObject } from '../../base/kube-object.ts';
import { unlimitedBudget } from '../terms/budget.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import { judge } from './judge.ts';
import { matchNamespace } from '../terms/match.ts';
import { nameOf } from '../../base/metadata.ts';
import type { Review } from '../terms/review.ts';
import type { Rule } from '../rules/rule.ts';
import type { JudgedViolation, Violation } from '../terms/verdict.ts';

/** The result for one policy and one existing Namespace. */
export interface Audit {
  /** An error of the match counts as no match. */
  readonly isMatched: boolean;
  readonly violations: readonly Violation[];
}

const unmatched: Audit = { isMatched: false, violations: [] };

export function auditNamespace(policy: CompiledPolicy, namespaceObject: KubeObject, now: Date): Audit {
  if (matchNamespace(policy.match, namespaceObject).kind !== 'yes') return unmatched;
  const violations: JudgedViolation[] = [];
  const context = {
    review: creationOf(namespaceObject),
    now,
    budget: unlimitedBudget,
    namespaceObject,
    matchesNew: true,
    matchedOld: false,
    actions: policy.actions,
    countOthers: () => 0,
    // An audit asks only whether a defaulted key exists; its value is free.
    ownsDefault: () => false,
  };
  judge(policy, policy.namespaceRules.filter(isAuditable), context, violations);
  return { isMatched: true, violations: violations.map(({ violation }) => violation) };
}

/**
 * Leaves out rules about who may change what. Quotas concern all namespaces together, so they are counted elsewhere.
 * A content that fails is a failure in the status, not a violation.
 */
function isAuditable(rule: Rule): boolean {
  if (rule.id === 'contents') return false;
  return rule.shape === 'state' ? rule.graced : rule.id === 'namespaces.defaults';
}

/** Returns a review as if the Namespace were created now. */
function creationOf(namespaceObject: KubeObject): Review {
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
    // Without a request, a default that reads the request is not required.
    isOwnWrite: true,
    object: namespaceObject,
    attributes: {},
  };
}

// Runs the rules of one policy on one write: exceptions, grace for old violations, the evaluation budget.
import type { Budget } from '../terms/budget.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import { isExcepted } from '../terms/exceptions.ts';
import type { MatchResult } from '../terms/match.ts';
import type { RuleViolation, Rule, StateRule, StepContext } from '../rules/rule.ts';
import type { JudgedViolation } from '../terms/verdict.ts';

/** One object can violate one rule in tens of thousands of places, more than a person reads. */
const maxViolations = 100;

/** Adds what the write violates to `violations`. Returns false when the budget ran out before the last rule. */
export function judge(
  policy: CompiledPolicy,
  rules: readonly Rule[],
  context: StepContext,
  budget: Budget,
  violations: JudgedViolation[],
): boolean {
  for (const rule of rules) {
    if (budget.isSpent()) return false;
    if (isExcepted(policy.exceptions, rule.id, context.review.namespace, context.now)) continue;
    for (const violation of bounded(violationsOf(rule, context)))
      violations.push(judgedViolation(policy, rule.id, violation));
  }
  return true;
}

/** The violation for a policy whose match condition has an error: without an answer, the write is not safe. */
export function matchErrorViolation(
  policy: CompiledPolicy,
  error: MatchResult & { kind: 'error' },
): JudgedViolation {
  return judgedViolation(policy, 'match', {
    path: 'metadata',
    found: `an error in match condition ${error.condition}: ${error.message}`,
    accepted: 'an object for which the condition is true or false',
    message: `match condition ${error.condition} failed: ${error.message}`,
    identity: undefined,
  });
}

function violationsOf(rule: Rule, context: StepContext): readonly RuleViolation[] {
  if (rule.shape === 'step') return rule.judge(context);
  const { object } = context.review;
  // A rule about the state of an object applies only if the policy matches the new object.
  if (object === undefined || !context.matchesNew) return [];
  const violations = rule.judge(object, context);
  return violations.length === 0 ? violations : withoutOld(rule, violations, context);
}

/** Leaves out what the old object already violated under the same policy: it does not block a write. */
function withoutOld(
  rule: StateRule,
  violations: readonly RuleViolation[],
  context: StepContext,
): readonly RuleViolation[] {
  const { oldObject } = context.review;
  if (!rule.graced || oldObject === undefined || !context.matchedOld) return violations;
  const old = new Set(rule.judge(oldObject, context).map(({ identity }) => identity));
  return violations.filter(({ identity }) => identity === undefined || !old.has(identity));
}

/** Returns the first violations, and one more that counts the rest. */
function bounded(violations: readonly RuleViolation[]): readonly RuleViolation[] {
  const [first] = violations;
  if (first === undefined || violations.length <= maxViolations) return violations;
  const found = `${violations.length - maxViolations} more like these`;
  const { accepted, identity } = first;
  return [...violations.slice(0, maxViolations), { path: 'the same and below', found, accepted, identity }];
}

function judgedViolation(
  policy: CompiledPolicy,
  rule: string,
  { path, found, accepted, message }: RuleViolation,
): JudgedViolation {
  const { name, contact, actions } = policy;
  return {
    violation: {
      policy: name,
      rule,
      path,
      found,
      accepted,
      ...(message === undefined ? {} : { message }),
      ...(contact === undefined ? {} : { contact }),
    },
    actions,
  };
}

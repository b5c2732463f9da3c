// Runs the rules of one policy on one write: exceptions, grace for old violations, the evaluation budget.
import type { ValidationAction } from '../../api/namespace-policy/namespace-policy.ts';
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
    const { fresh, old } = violationsOf(rule, context, policy.actions);
    for (const violation of bounded(fresh))
      violations.push(judgedViolation(policy, rule.id, violation, policy.actions));
    for (const violation of bounded(old))
      violations.push(judgedViolation(policy, rule.id, violation, policy.actions.filter(isReport)));
  }
  return true;
}

/** The violation for a policy whose match condition has an error: without an answer, the write is not safe. */
export function matchErrorViolation(
  policy: CompiledPolicy,
  error: MatchResult & { kind: 'error' },
): JudgedViolation {
  return judgedViolation(
    policy,
    'match',
    {
      path: 'metadata',
      found: `an error in match condition ${error.condition}: ${error.message}`,
      accepted: 'an object for which the condition is true or false',
      message: `match condition ${error.condition} failed: ${error.message}`,
      identity: undefined,
    },
    policy.actions,
  );
}

interface Violations {
  /** Violations that this write causes, or that no grace covers. */
  readonly fresh: readonly RuleViolation[];
  /** Violations that the old object had as well. They are reported and block no write. */
  readonly old: readonly RuleViolation[];
}

const isReport = (action: ValidationAction): boolean => action !== 'Deny';

function violationsOf(rule: Rule, context: StepContext, actions: readonly ValidationAction[]): Violations {
  if (rule.shape === 'step') return { fresh: rule.judge(context), old: [] };
  const { object } = context.review;
  // A rule about the state of an object applies only if the policy matches the new object.
  const violations = object === undefined || !context.matchesNew ? [] : rule.judge(object, context);
  // Warn and Audit report every violation, so without Deny the old object makes no difference.
  if (violations.length === 0 || !actions.includes('Deny')) return { fresh: violations, old: [] };
  const { fresh, old } = separated(rule, violations, context);
  return { fresh, old: actions.some(isReport) ? old : [] };
}

/** Separates what the old object already violated under the same policy. */
function separated(rule: StateRule, violations: readonly RuleViolation[], context: StepContext): Violations {
  const { oldObject } = context.review;
  if (!rule.graced || oldObject === undefined || !context.matchedOld) return { fresh: violations, old: [] };
  const before = new Set(rule.judge(oldObject, context).map(({ identity }) => identity));
  const isOld = ({ identity }: RuleViolation): boolean => identity !== undefined && before.has(identity);
  return { fresh: violations.filter((each) => !isOld(each)), old: violations.filter(isOld) };
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
  actions: readonly ValidationAction[],
): JudgedViolation {
  const { name, contact } = policy;
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

// Runs the rules of one policy on one write: exceptions, grace for old violations, the evaluation budget.
import type { Budget } from '../terms/budget.ts';
import type { CompiledPolicy } from '../compile/compiled-policy.ts';
import { isExcepted } from '../terms/exceptions.ts';
import type { MatchResult } from '../terms/match.ts';
import type { Breach, Rule, StateRule, StepContext } from '../rules/rule.ts';
import type { JudgedViolation } from '../terms/verdict.ts';

/** An object can break one rule in tens of thousands of places; nobody reads more than these. */
const mostBreaches = 100;

/** False when the budget ran out before every rule was asked. */
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
    for (const breach of fewOf(breachesOf(rule, context))) violations.push(judged(policy, rule.id, breach));
  }
  return true;
}

export function matchErrorViolation(
  policy: CompiledPolicy,
  error: MatchResult & { kind: 'error' },
): JudgedViolation {
  return judged(policy, 'match', {
    path: 'metadata',
    found: `an error in match condition ${error.condition}: ${error.message}`,
    accepted: 'an object for which the condition is true or false',
    identity: undefined,
  });
}

function breachesOf(rule: Rule, context: StepContext): readonly Breach[] {
  if (rule.shape === 'step') return rule.judge(context);
  const { object } = context.review;
  // Rules that demand something of an object judge it only where the policy matches what is written.
  if (object === undefined || !context.matchesNew) return [];
  const breaches = rule.judge(object, context);
  return breaches.length === 0 ? breaches : withoutOld(rule, breaches, context);
}

/** What the old object broke in the same way, under the same policy, does not block a write. */
function withoutOld(rule: StateRule, breaches: readonly Breach[], context: StepContext): readonly Breach[] {
  const { oldObject } = context.review;
  if (!rule.graced || oldObject === undefined || !context.matchedOld) return breaches;
  const old = new Set(rule.judge(oldObject, context).map(({ identity }) => identity));
  return breaches.filter(({ identity }) => identity === undefined || !old.has(identity));
}

/** The first ones, and one that counts the others. */
function fewOf(breaches: readonly Breach[]): readonly Breach[] {
  const [first] = breaches;
  if (first === undefined || breaches.length <= mostBreaches) return breaches;
  const found = `${breaches.length - mostBreaches} more like these`;
  return [...breaches.slice(0, mostBreaches), { ...first, path: 'the same and below', found }];
}

function judged(policy: CompiledPolicy, rule: string, { path, found, accepted }: Breach): JudgedViolation {
  return { violation: { policy: policy.name, rule, path, found, accepted }, actions: policy.actions };
}

// Runs the rules of one policy on one write, with exceptions, grace for old violations, and the evaluation budget.
import type { ValidationAction } from '../../api/namespace-policy/namespace-policy.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import { deniesSomewhere, isExcepted, type MatchResult } from '../terms/match.ts';
import type { RuleViolation, StateRule, StepContext } from '../../rules/rule.ts';
import type { CompiledRule } from '../../rules/rules.ts';
import type { Budget } from '../terms/budget.ts';
import type { RuleOutcome, Trace, Review, JudgedViolation, Decision, Right } from '../terms/review.ts';
import { listed } from '../../base/text.ts';
import { useOf } from '../terms/provider-id.ts';

/** One object can violate one rule in tens of thousands of places, more than a person reads. */
const maxViolations = 100;
/** The price of a rule, besides its expressions and its reading of a long object. */
const ruleUnits = 2;

export interface JudgeContext extends StepContext {
  readonly review: Review;
  readonly budget: Budget;
  readonly trace: Trace | undefined;
}

/** Adds the violations of the write to `violations`. Returns false if the budget ran out before the last rule. */
export function judge(
  policy: CompiledPolicy,
  rules: readonly CompiledRule[],
  context: JudgeContext,
  violations: JudgedViolation[],
): boolean {
  context.budget.charge?.(policy.name);
  const reasons: Reason[] = [];
  const { actions } = context;
  const reports = actions.filter(isReport);
  const isComplete = rules.every((rule) => {
    if (context.budget.isSpent()) return false;
    context.budget.spend(ruleUnits);
    if (isExcepted(policy.exceptions, rule.id, context.review.namespace, context.now)) {
      context.trace?.(outcomeOf(policy, rule, 'excepted', noViolations, context));
      return true;
    }
    const found = violationsOf(rule, context);
    context.trace?.(outcomeOf(policy, rule, isAsked(rule, context) ? 'judged' : 'unasked', found, context));
    for (const violation of bounded(found.fresh)) reasons.push({ rule, violation, actions });
    for (const violation of reports.length === 0 ? [] : bounded(found.old))
      reasons.push({ rule, violation, actions: reports });
    return true;
  });
  for (const reason of onePerKey(reasons))
    violations.push(judgedViolation(policy, reason.rule.id, reason.violation, reason.actions));
  return isComplete;
}

interface Reason {
  readonly rule: CompiledRule;
  readonly violation: RuleViolation;
  readonly actions: readonly ValidationAction[];
}

/** Keeps the most specific reason for each key, because a label with a wrong value is one mistake. */
function onePerKey(reasons: readonly Reason[]): readonly Reason[] {
  if (reasons.length < 2) return reasons;
  const ranks = new Map<string, number>();
  for (const reason of reasons) {
    const place = placeOf(reason);
    ranks.set(place, Math.min(rankOf(reason), ranks.get(place) ?? Infinity));
  }
  return reasons.filter((reason) => rankOf(reason) === ranks.get(placeOf(reason)));
}

/**
 * Leaves out defaults that lack a label which another violation requires, of any policy: both have one cause. Defaults that
 * wait only for each other stay, so that a write without any of them is refused.
 */
export function withoutConsequences(violations: readonly JudgedViolation[]): readonly JudgedViolation[] {
  let [causes, rest] = partition(violations, ({ dueTo = [] }) => dueTo.length === 0);
  if (rest.length === 0) return violations;
  const demanded = new Set<string>();
  const kept = new Set(causes);
  // A default can wait for another default, which waits for the label.
  while (causes.length > 0) {
    for (const { violation, actions } of causes)
      for (const action of actions) demanded.add(`${action} ${violation.path}`);
    [causes, rest] = partition(rest, ({ dueTo = [], actions }) =>
      dueTo.every((path) => actions.every((action) => demanded.has(`${action} ${path}`))),
    );
  }
  for (const each of rest) kept.add(each);
  return violations.filter((each) => kept.has(each));
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): [readonly T[], readonly T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}

/** Separates denials, because a reason that only Audit reports must not replace a denial. */
function placeOf({ violation, actions }: Reason): string {
  return `${actions.length} ${violation.path}`;
}

/** Higher than the precedence of any rule. */
const exactFirst = 1000;

/** Reasons that leave one value come first. Other violations have the same rank, because each has its own cause. */
function rankOf({ rule, violation }: Reason): number {
  const { precedence = Infinity } = rule.traits;
  return violation.isExact === true ? precedence - exactFirst : precedence;
}

/** Returns a violation if a match condition of the policy has an error, because the write is then not safe. */
export function matchErrorViolation(
  policy: CompiledPolicy,
  error: MatchResult & { kind: 'error' },
  actions: readonly ValidationAction[],
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
      isConsequence: true,
    },
    actions,
  );
}

interface Violations {
  /** Violations that this write causes, or to which no grace applies. */
  readonly fresh: readonly RuleViolation[];
  /** Violations that the old object had as well. They are reported and refuse no write. */
  readonly old: readonly RuleViolation[];
}

const noViolations: Violations = { fresh: [], old: [] };

const isReport = (action: ValidationAction): boolean => action !== 'Deny';

/** A rule about the state of an object applies only if the policy matches the new object. */
function isAsked(rule: CompiledRule, { review, matchesNew }: StepContext): boolean {
  return rule.shape === 'step' || (review.object !== undefined && matchesNew);
}

function outcomeOf(
  { name }: CompiledPolicy,
  { id }: CompiledRule,
  kind: RuleOutcome['kind'],
  { fresh, old }: Violations,
  { actions }: StepContext,
): RuleOutcome {
  return { policy: name, rule: id, kind, fresh, old, actions };
}

function violationsOf(rule: CompiledRule, context: StepContext): Violations {
  if (rule.shape === 'step') return { fresh: rule.judge(context), old: [] };
  const { object } = context.review;
  const violations = object === undefined || !context.matchesNew ? [] : rule.judge(object, context);
  // Warn and Audit report every violation, so without Deny the old object makes no difference.
  if (violations.length === 0 || !context.actions.includes('Deny')) return { fresh: violations, old: [] };
  return separated(rule, violations, context);
}

/** Separates the violations that the old object already had under the same policy. */
function separated(rule: StateRule, violations: readonly RuleViolation[], context: StepContext): Violations {
  const { oldObject } = context.review;
  if (!rule.graced || oldObject === undefined || !context.hasGrace) return { fresh: violations, old: [] };
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
  { path, found, accepted, message, dueTo, isConsequence, isSetByReeve, permittedByUse }: RuleViolation,
  actions: readonly ValidationAction[],
): JudgedViolation {
  const { id, name, contact } = policy;
  return {
    violation: {
      policy: name,
      rule,
      path,
      found,
      accepted,
      ...(message === undefined ? {} : { message }),
      ...(isSetByReeve === undefined ? {} : { isSetByReeve }),
      ...(contact === undefined ? {} : { contact }),
    },
    actions,
    ...(permittedByUse !== undefined && {
      permittedBy: {
        ...useOf(id),
        effect: permittedByUse,
        rule: 'rule',
        path,
        ...(contact !== undefined && { contact }),
      },
    }),
    ...(dueTo === undefined ? {} : { dueTo }),
    ...(isConsequence && { isConsequence }),
  };
}

// Judges policies that cannot refuse a write last, and leaves out those that the budget does not reach.

interface PoliciesByEffect {
  /** Policies that can refuse a write, or decide its needs. */
  readonly deciding: readonly CompiledPolicy[];
  readonly reporting: readonly CompiledPolicy[];
}

export function byEffect(policies: readonly CompiledPolicy[], now: Date): PoliciesByEffect {
  const [reporting, deciding] = partition(policies, (policy) => onlyReports(policy, now));
  return { deciding, reporting };
}

/** Returns false for a policy with contents, requesters or defaults, because they decide about rights. */
function onlyReports(policy: CompiledPolicy, now: Date): boolean {
  const { contents, requesters, namespaceDefaults, secretDefaults } = policy;
  return (
    !deniesSomewhere(policy, now) &&
    contents.length + namespaceDefaults.length + secretDefaults.length === 0 &&
    requesters === undefined
  );
}

/** The addition of one policy to a decision. */
interface Report {
  readonly isMatched: boolean;
  readonly violations: readonly JudgedViolation[];
  readonly rights: readonly Right[];
}

/** Adds the reports of these policies until the budget is spent, and names the other policies. */
export function withReports(
  decision: Decision,
  reporting: readonly CompiledPolicy[],
  budget: Budget,
  reportOf: (policy: CompiledPolicy) => Report,
): Decision {
  const reports = new Map<string, Report>();
  for (const policy of reporting) {
    const report = budget.isSpent() ? undefined : reportOf(policy);
    // The last report before the end of the budget can be incomplete.
    if (report === undefined || budget.isSpent()) break;
    reports.set(policy.name, report);
  }
  const all = [...reports.values()];
  const matched = [...reports].flatMap(([name, { isMatched }]) => (isMatched ? [name] : []));
  const unjudged = reporting.slice(reports.size).map(({ name }) => name);
  return {
    ...decision,
    violations: inOrder([...decision.violations, ...all.flatMap(({ violations }) => violations)]),
    rights: [...decision.rights, ...all.flatMap(({ rights }) => rights)],
    notices: [...decision.notices, ...unjudgedNotices(unjudged, budget)],
    policies: [...decision.policies, ...matched].sort(),
    unjudged,
  };
}

function unjudgedNotices(unjudged: readonly string[], { isLate }: Budget): readonly string[] {
  if (unjudged.length === 0) return [];
  const subject =
    unjudged.length === 1 ? `policy ${listed(unjudged)} was` : `policies ${listed(unjudged)} were`;
  const reason = isLate
    ? 'the webhook is short of processor time'
    : 'evaluating all policies costs more than one request may cost';
  return [
    `${subject} not judged, because ${reason}; without Deny, this blocks no write, even one that takes a namespace out of their match`,
  ];
}

/** Sorts by the names of the policies and keeps the order of the reasons of each. */
function inOrder(violations: readonly JudgedViolation[]): readonly JudgedViolation[] {
  return violations.toSorted(({ violation: a }, { violation: b }) =>
    a.policy < b.policy ? -1 : a.policy > b.policy ? 1 : 0,
  );
}

// Judges the policies that cannot refuse a write last, and leaves out those for which no budget is left.
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { Budget } from '../terms/budget.ts';
import type { Decision, JudgedViolation, Right } from '../terms/verdict.ts';
import { listed } from '../../base/text.ts';

interface PoliciesByEffect {
  /** They can refuse a write, or decide what it needs. */
  readonly deciding: readonly CompiledPolicy[];
  readonly reporting: readonly CompiledPolicy[];
}

export function byEffect(policies: readonly CompiledPolicy[]): PoliciesByEffect {
  return {
    deciding: policies.filter((policy) => !onlyReports(policy)),
    reporting: policies.filter(onlyReports),
  };
}

/** Contents, requesters and defaults of a policy decide about rights, whatever its validationActions. */
function onlyReports(policy: CompiledPolicy): boolean {
  const { actions, contents, requesters, namespaceDefaults, secretDefaults } = policy;
  return (
    !actions.includes('Deny') &&
    contents.length + namespaceDefaults.length + secretDefaults.length === 0 &&
    requesters === undefined
  );
}

/** What one policy adds to a decision. */
interface Report {
  readonly isMatched: boolean;
  readonly violations: readonly JudgedViolation[];
  readonly rights: readonly Right[];
}

/** Adds the reports of these policies to the decision until the budget is spent, and names the other policies. */
export function withReports(
  decision: Decision,
  reporting: readonly CompiledPolicy[],
  budget: Budget,
  reportOf: (policy: CompiledPolicy) => Report,
): Decision {
  const reports = new Map<string, Report>();
  for (const policy of reporting) {
    const report = budget.isSpent() ? undefined : reportOf(policy);
    // The report with which the budget ends can be incomplete.
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

/** Reasons keep the order of the names of their policies. */
function inOrder(violations: readonly JudgedViolation[]): readonly JudgedViolation[] {
  return violations.toSorted(({ violation: a }, { violation: b }) =>
    a.policy < b.policy ? -1 : a.policy > b.policy ? 1 : 0,
  );
}

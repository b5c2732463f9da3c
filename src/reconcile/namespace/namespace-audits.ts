// Judges existing Namespaces by the rules of policies, and caches the results.
import { policyIn } from '../../policy/compile/load-provider.ts';
import { CountingBudget, isDear, unlimitedBudget, type Circumstances } from '../../policy/terms/budget.ts';
import { type KubeObject, labelsOf, nameOf, valueOf } from '../../base/metadata.ts';
import type { NamespacePolicySpec } from '../../api/namespace-policy/namespace-policy.ts';
import { keyRepairs, type KeyRepairs } from '../../policy/plan/repair.ts';
import { mayMove, movedValues, wavePosition, wavesOf } from '../../policy/plan/waves.ts';
import { hasAuditableRules } from '../../policy/compile/snapshot.ts';
import { matchNamespace, nextRelaxationEnd, type MatchResult } from '../../policy/terms/match.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import { namespaceViolations } from '../../policy/decide/audit.ts';
import type { Violation } from '../../policy/terms/review.ts';
import {
  emptyReport,
  unmatchedReport,
  type JudgedBy,
  type ProviderReport,
} from '../../policy/status/namespace-ready.ts';
import type { CompiledPolicy } from '../../policy/compile/compile-policy.ts';
import type { PlanContext } from '../ports.ts';

interface CountedAudit {
  readonly match: MatchResult;
  readonly violations: readonly Violation[];
  /** The cost of the match and the rules. */
  readonly units: number;
}

export class NamespaceAudits {
  readonly #cluster: PlanContext['cluster'];
  readonly #clock: PlanContext['clock'];
  readonly #install: PlanContext['install'];
  readonly #known = new WeakMap<KubeObject, WeakMap<CompiledPolicy, CountedAudit>>();

  constructor({ cluster, clock, install }: PlanContext) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#install = install;
  }

  /**
   * Adds the violations of every matching policy to the reports, and each cost that is too high. `waves`: whether the waves of
   * policies have moved the namespace.
   */
  addTo(
    parts: ReadonlyMap<ProviderId, ProviderReport>,
    namespaceObject: KubeObject,
    waves?: KeyRepairs['waves'],
  ): ReadonlyMap<ProviderId, ProviderReport> {
    const audited = new Map(parts);
    for (const policy of this.#candidates(namespaceObject)) {
      const provider = policy.id;
      const audit = this.#audit(policy, namespaceObject);
      const { match, violations } = audit;
      // If the policy has contents, the reports already hold the error.
      if (match.kind === 'error' && policy.contents.length === 0)
        audited.set(provider, unmatchedReport(nameOf(namespaceObject), match));
      const report = withCost(audited.get(provider) ?? emptyReport, audit);
      if (match.kind === 'yes') {
        const label = this.#specOf(provider)?.namespaces?.quota?.label;
        const quotaValue = label === undefined ? undefined : valueOf(labelsOf(namespaceObject), label);
        audited.set(provider, {
          ...report,
          wave: waves?.get(provider),
          isMatched: true,
          violations,
          quotaValue,
        });
      } else if (report.units > 0) audited.set(provider, report);
    }
    return audited;
  }

  /**
   * Returns the violations of the Namespace itself, by each policy with rules that judge it. A missing default that
   * `existing: Repair` is about to add is none: an error of the repair makes the namespace not ready.
   */
  judgedBy(namespaceObject: KubeObject): readonly JudgedBy[] {
    const repairing = new Set(this.repairers(namespaceObject));
    const isRepaired = (policy: CompiledPolicy, { isSetByReeve }: Violation): boolean =>
      isSetByReeve === true && repairing.has(policy);
    return this.#candidates(namespaceObject)
      .filter((policy) => hasAuditableRules(policy, 'namespaces') && this.#isCurrent(policy))
      .map((policy) => ({ policy, ...this.#audit(policy, namespaceObject) }))
      .filter(({ match }) => match.kind === 'yes')
      .map(({ policy, violations }) => ({
        policy: policy.id,
        violations: violations.filter((each) => !isRepaired(policy, each)),
      }));
  }

  /** Returns when the next exception or override for the namespace ends, in milliseconds since the epoch. */
  nextRelaxationEnd(namespaceObject: KubeObject): number | undefined {
    return nextRelaxationEnd(this.#candidates(namespaceObject), this.#clock.now(), namespaceObject);
  }

  /** Returns the keys that policies with `existing: Repair` set, and those that they leave as they are. */
  keyRepairs(namespaceObject: KubeObject): KeyRepairs | undefined {
    const repairing = this.repairers(namespaceObject);
    const repairs = (policy: CompiledPolicy): boolean => repairing.includes(policy);
    const policies = this.#candidates(namespaceObject).filter(
      (policy) => repairs(policy) || policy.namespaceDefaults.some(({ isEnforced }) => isEnforced),
    );
    if (policies.length === 0) return undefined;
    const isReached = (policy: CompiledPolicy): boolean => this.#isReached(policy, namespaceObject);
    const sources = { policies, repairs, install: this.#install, isReached };
    return keyRepairs(sources, namespaceObject, this.#circumstances());
  }

  #isReached(policy: CompiledPolicy, namespaceObject: KubeObject): boolean {
    const [waves, spec] = [wavesOf(policy), this.#specOf(policy.id)];
    if (waves === undefined || spec === undefined) return waves === undefined;
    const values = movedValues(spec, this.#install);
    const gate = this.#cluster.snapshot().providers.get(policy.id)?.waves;
    return mayMove(gate, values, wavePosition(namespaceObject, waves, values));
  }

  repairers(namespaceObject: KubeObject): readonly CompiledPolicy[] {
    return this.#candidates(namespaceObject).filter((policy) => {
      if (policy.namespaceDefaults.length === 0 || policy.isSuspended) return false;
      return this.#isCurrent(policy) && this.#specOf(policy.id)?.existing === 'Repair';
    });
  }

  /** Returns false for the last valid form of a policy that does not load, because no other process would know it. */
  #isCurrent({ id }: CompiledPolicy): boolean {
    const state = this.#cluster.snapshot().providers.get(id);
    return state?.isValid === true && !state.isDeleting;
  }

  #candidates(namespaceObject: KubeObject): readonly CompiledPolicy[] {
    return this.#cluster.snapshot().policies.candidates('namespaces', [namespaceObject]);
  }

  #audit(policy: CompiledPolicy, namespaceObject: KubeObject): CountedAudit {
    const known = this.#known.get(namespaceObject)?.get(policy);
    if (known !== undefined) return known;
    const budget = new CountingBudget(unlimitedBudget);
    const match = matchNamespace(policy.match, namespaceObject, budget);
    const isJudged = match.kind === 'yes' && hasAuditableRules(policy, 'namespaces');
    const circumstances = { ...this.#circumstances(), budget };
    const violations = isJudged ? namespaceViolations(policy, namespaceObject, circumstances) : [];
    const audit = { match, violations, units: budget.units };
    // This result is not cached, because an exception or override can expire without any change.
    if (nextRelaxationEnd([policy], circumstances.now, namespaceObject) !== undefined) return audit;
    const audits = this.#known.get(namespaceObject) ?? new WeakMap<CompiledPolicy, CountedAudit>();
    this.#known.set(namespaceObject, audits.set(policy, audit));
    return audit;
  }

  #circumstances(): Circumstances {
    return { now: this.#clock.now(), budget: unlimitedBudget };
  }

  #specOf(provider: ProviderId): NamespacePolicySpec | undefined {
    return policyIn(this.#cluster.provider(provider)?.definition)?.object.spec;
  }
}

/** Adds the cost of the audit to the cost of the contents in the report. */
function withCost(report: ProviderReport, audit: CountedAudit): ProviderReport {
  const units = report.units + audit.units;
  return { ...report, units: isDear(units) ? units : 0 };
}

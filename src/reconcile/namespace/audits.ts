// Judges existing Namespaces by the rules of policies, and caches the results.
import { CountingBudget, unlimitedBudget, type Circumstances } from '../../policy/terms/budget.ts';
import { type KubeObject, labelsOf, nameOf, valueOf, keyText } from '../../base/metadata.ts';
import type { NamespacePolicySpec } from '../../api/namespace-policy/namespace-policy.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import { missingDefaults, type MissingDefaults, type MissingKey } from '../../policy/plan/repair.ts';
import { nextExceptionEnd } from '../../policy/terms/match.ts';
import { objectKey, type ObjectKey } from '../../base/object-type.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import { auditNamespace, type Audit, isDear } from '../../policy/decide/audit.ts';
import { emptyReport, unmatchedReport, type ProviderReport } from '../../policy/status/namespace-ready.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import type { Clock } from '../../base/clock.ts';
import type { CompiledPolicy } from '../../policy/compile/compile-policy.ts';
import { listed } from '../../base/text.ts';
import { failedResult, type ObjectResult } from '../../policy/plan/observed.ts';
import type { EventAnnouncer } from '../events.ts';
import type { ObjectWriter } from '../../base/object-writer.ts';
import type { ReconcileObserver } from '../ports.ts';
import { RewriteLimit } from './step-executor.ts';
import { classifyWriteError, type WriteError } from './write-error.ts';

interface AuditsOptions {
  readonly cluster: Pick<LiveCluster, 'snapshot' | 'provider'>;
  readonly clock: Pick<Clock, 'now'>;
}

interface CountedAudit extends Audit {
  /** What the match and the rules cost. */
  readonly units: number;
}

export class Audits {
  readonly #cluster: AuditsOptions['cluster'];
  readonly #clock: Pick<Clock, 'now'>;
  readonly #known = new WeakMap<KubeObject, WeakMap<CompiledPolicy, CountedAudit>>();

  constructor({ cluster, clock }: AuditsOptions) {
    this.#cluster = cluster;
    this.#clock = clock;
  }

  /** Adds the violations of every matching policy to the reports, and what each policy costs if that is too much. */
  addTo(
    parts: ReadonlyMap<ProviderId, ProviderReport>,
    namespaceObject: KubeObject,
  ): ReadonlyMap<ProviderId, ProviderReport> {
    const audited = new Map(parts);
    for (const policy of this.#candidates(namespaceObject)) {
      const provider = policy.id;
      const audit = this.#audit(policy, namespaceObject);
      const { isMatched, matchError, violations } = audit;
      // The reports hold the error already where the policy has contents.
      if (matchError !== undefined && policy.contents.length === 0)
        audited.set(provider, unmatchedReport(nameOf(namespaceObject), matchError));
      const report = withCost(audited.get(provider) ?? emptyReport, audit);
      if (isMatched) {
        const label = this.#specOf(provider)?.namespaces?.quota?.label;
        const quotaValue = label === undefined ? undefined : valueOf(labelsOf(namespaceObject), label);
        audited.set(provider, { ...report, isMatched, violations, quotaValue });
      } else if (report.units > 0) audited.set(provider, report);
    }
    return audited;
  }

  /** Returns when the next exception for the namespace ends, in milliseconds since the epoch. */
  nextExceptionEnd(namespaceObject: KubeObject): number | undefined {
    const exceptions = this.#candidates(namespaceObject).flatMap((policy) => policy.exceptions);
    return nextExceptionEnd(exceptions, this.#clock.now(), nameOf(namespaceObject));
  }

  /** Returns the defaults that policies with `existing: Repair` add. */
  missingDefaults(namespaceObject: KubeObject): MissingDefaults | undefined {
    const repairing = this.repairers(namespaceObject);
    return repairing.length === 0
      ? undefined
      : missingDefaults(repairing, namespaceObject, this.#circumstances());
  }

  repairers(namespaceObject: KubeObject): readonly CompiledPolicy[] {
    const { providers } = this.#cluster.snapshot();
    return this.#candidates(namespaceObject).filter((policy) => {
      if (policy.namespaceDefaults.length === 0 || policy.isSuspended) return false;
      const { id } = policy;
      const state = providers.get(id);
      return state?.isValid === true && !state.isDeleting && this.#specOf(id)?.existing === 'Repair';
    });
  }

  isManaged(namespaceObject: KubeObject): boolean {
    return isManaged(namespaceObject, this.#cluster.snapshot());
  }

  #candidates(namespaceObject: KubeObject): readonly CompiledPolicy[] {
    return this.#cluster.snapshot().policies.candidates('namespaces', [namespaceObject]);
  }

  #audit(policy: CompiledPolicy, namespaceObject: KubeObject): CountedAudit {
    const known = this.#known.get(namespaceObject)?.get(policy);
    if (known !== undefined) return known;
    const budget = new CountingBudget(unlimitedBudget);
    const found = auditNamespace(policy, namespaceObject, { ...this.#circumstances(), budget });
    const audit = { ...found, units: budget.units };
    // Violations appear when an exception expires, though nothing changes, so this result is not cached.
    if (policy.exceptions.some(({ expiresAt }) => expiresAt !== undefined)) return audit;
    const audits = this.#known.get(namespaceObject) ?? new WeakMap<CompiledPolicy, CountedAudit>();
    this.#known.set(namespaceObject, audits.set(policy, audit));
    return audit;
  }

  #circumstances(): Circumstances {
    return { now: this.#clock.now(), budget: unlimitedBudget };
  }

  #specOf(provider: ProviderId): NamespacePolicySpec | undefined {
    const definition = this.#cluster.provider(provider)?.definition;
    return definition?.kind === 'NamespacePolicy' ? definition.object.spec : undefined;
  }
}

/** The report has the cost of the contents. */
function withCost(report: ProviderReport, audit: CountedAudit): ProviderReport {
  const units = report.units + audit.units;
  return { ...report, units: isDear(units) ? units : 0 };
}

// `existing: Repair`: adds missing defaults to a Namespace, and never changes a value.

interface DefaultsRepairerOptions {
  readonly audits: Audits;
  readonly writer: Pick<ObjectWriter, 'mergePatch'>;
  readonly announcer: Pick<EventAnnouncer, 'added'>;
  readonly observer: Pick<ReconcileObserver, 'wroteOwn' | 'rewriteLimited'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export interface Repair {
  readonly error?: WriteError;
  readonly outcomes: readonly ObjectResult[];
  /** Keys were left alone, and may be written again after this delay. */
  readonly againMs?: number;
}

const noProblem: Repair = { outcomes: [] };

interface LimitedKey extends MissingKey {
  readonly id: string;
  readonly value: string;
  /** 0: the key may be written now. */
  readonly againMs: number;
}

function namespaceKey(name: string): ObjectKey {
  return objectKey({ apiVersion: 'v1', kind: 'Namespace' }, name);
}

export class DefaultsRepairer {
  readonly #options: DefaultsRepairerOptions;
  /** For each key of each Namespace: a client that removes one key must not keep Reeve from adding the others. */
  readonly #rewriteLimit: RewriteLimit;

  constructor(options: DefaultsRepairerOptions) {
    this.#options = options;
    this.#rewriteLimit = new RewriteLimit(options.clock);
  }

  async repair(namespaceObject: KubeObject, signal: AbortSignal): Promise<Repair> {
    const missing = this.#options.audits.missingDefaults(namespaceObject);
    if (missing === undefined) return noProblem;
    const keys = missing.keys.map((key): LimitedKey => {
      const id = [namespaceObject.metadata.uid, key.field, key.key].join('/');
      const value = missing[key.field].get(key.key) ?? '';
      return { ...key, id, value, againMs: this.#rewriteLimit.pauseFor(id, value) };
    });
    const [limited, due] = [
      keys.filter(({ againMs }) => againMs > 0),
      keys.filter(({ againMs }) => againMs === 0),
    ];
    const left = this.#leftAlone(namespaceObject, limited);
    const { error, outcomes } = due.length === 0 ? noProblem : await this.#add(due, namespaceObject, signal);
    return { ...left, ...(error === undefined ? {} : { error }), outcomes: [...left.outcomes, ...outcomes] };
  }

  async #add(keys: readonly LimitedKey[], namespaceObject: KubeObject, signal: AbortSignal): Promise<Repair> {
    const { name = '', uid, resourceVersion } = namespaceObject.metadata;
    const fields = Map.groupBy(keys, ({ field }) => field);
    const added = Object.fromEntries(
      [...fields].map(([field, own]) => [
        field,
        Object.fromEntries(own.map(({ key, value }) => [key, value])),
      ]),
    );
    // The version is a precondition: a key that was set since then must not be changed.
    const patch = { metadata: { uid, resourceVersion, ...added } };
    try {
      await this.#options.writer.mergePatch({ apiVersion: 'v1', kind: 'Namespace', name }, patch, { signal });
    } catch (error) {
      if (signal.aborted) throw error;
      return this.#failed(namespaceObject, classifyWriteError(error, 'change'));
    }
    this.#options.observer.wroteOwn('default');
    for (const { id, value, provider, field, key } of keys) {
      this.#rewriteLimit.wrote(id, value);
      this.#options.announcer.added(provider, name, { field, key });
    }
    return noProblem;
  }

  /** Reports the keys to the policies that set them. */
  #leftAlone(namespaceObject: KubeObject, keys: readonly LimitedKey[]): Repair {
    if (keys.length === 0) return noProblem;
    const { name = '' } = namespaceObject.metadata;
    const outcomes = [...Map.groupBy(keys, ({ provider }) => provider)].map(([provider, own]) => {
      this.#options.observer.rewriteLimited({ namespace: name, kind: 'Namespace', name, owner: provider });
      const names = listed(own.map(({ field, key }) => keyText(field, key)));
      const message = `another client keeps removing ${names}, so Reeve leaves it alone for a while`;
      return failedResult({ provider, key: namespaceKey(name) }, 'Contended', message);
    });
    return { outcomes, againMs: Math.min(...keys.map(({ againMs }) => againMs)) };
  }

  /** Reports the error for every policy that repairs the namespace. */
  #failed(namespaceObject: KubeObject, error: WriteError): Repair {
    if (error.kind !== 'permanent') return { error, outcomes: [] };
    const key = namespaceKey(namespaceObject.metadata.name ?? '');
    const message = `cannot add missing defaults: ${error.message}`;
    const outcomes = this.#options.audits.repairers(namespaceObject).map((policy): ObjectResult => {
      const about = { provider: policy.id, key };
      return failedResult(about, error.reason, message);
    });
    return { error, outcomes };
  }
}

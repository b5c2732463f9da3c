// Keeps one Report in each namespace up to date. Objects, conditions and audits come first.
import { quotaIn } from '../../policy/compile/load-provider.ts';
import { isDeepStrictEqual } from 'node:util';
import { type KubeObject, isTerminating, nameOf, labelsOf, valueOf } from '../../base/metadata.ts';
import type { AuditedResource } from '../../policy/decide/audit.ts';
import type { NamespaceViolation } from '../../policy/status/provider-tally.ts';
import type { ObjectType } from '../../base/object-type.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import { auditedResources, type ObjectAudit } from '../audit/object-audit.ts';
import type { InitialSync, ProviderLedger } from '../ledger.ts';
import type { WantedWatch } from '../live/watches.ts';
import type { NamespacePlan } from '../namespace/namespace-planner.ts';
import { classifyWriteError } from '../namespace/write-error.ts';
import type { ObservedObjects } from '../live/observed-objects.ts';
import type { NamespaceAudits } from '../namespace/namespace-audits.ts';
import type { Planning } from '../planning.ts';
import type { AuditReader, ReconcileContext } from '../ports.ts';
import { done, type Attempt, type Handled } from '../queue/queue.ts';
import { unservedVersion, type WatchSink } from '../../base/watch-sink.ts';

interface NamespaceReportInput {
  readonly plan: NamespacePlan;
  readonly cluster: LiveCluster;
  readonly planning: { readonly audits: NamespaceAudits; readonly objects: ObservedObjects };
  /** Objects of the namespace that may violate a rule. */
  readonly existing: readonly (readonly [AuditedResource, AsyncIterable<KubeObject>])[];
  /** Returns the exceeded quotas of the policy, including those of other namespaces. */
  readonly overQuota: (policy: ProviderId) => readonly NamespaceViolation[];
  readonly now: Date;
}

/** Makes the Report of a namespace. */
export interface NamespaceReports {
  readonly type: ObjectType;
  readonly name: string;
  /** The label of all Reports of Reeve. */
  readonly label: string;
  /** Returns the same digest for Reports that differ only in their times. */
  readonly digestOf: (report: KubeObject) => string;
  /** Resolves with undefined if no policy matches the namespace. */
  readonly reportOf: (input: NamespaceReportInput) => Promise<KubeObject | undefined>;
}

interface ReportParts {
  readonly reports: NamespaceReports;
  readonly objectAudit: ObjectAudit;
  readonly auditReader: AuditReader;
  readonly ledger: ProviderLedger;
  readonly initialSync: InitialSync;
}

/** The least time between two writes of a Report. Changes within it are written together. */
const delayMs = 5000;
/** The pause after an error that each other write would also have: no answer, or no right. */
const pauseMs = 30_000;

export class ReportKeeper {
  readonly watch: WantedWatch;
  readonly #context: ReconcileContext;
  readonly #planning: Planning;
  readonly #parts: ReportParts;
  readonly #live: LiveReports;
  readonly #overQuota = new Map<ProviderId, readonly NamespaceViolation[]>();
  /** Providers whose numbers have changed since the last look at their quota. */
  readonly #changed = new Set<ProviderId>();
  /** The reasons of failed writes, by namespace. An empty name stands for all namespaces. */
  readonly #failing = new Map<string, string>();
  #pausedUntil = 0;
  #isLeading = false;

  /** A Report follows the rounds of its namespace, the violations of existing objects, the quotas, and changes of the Report. */
  constructor(context: ReconcileContext, planning: Planning, parts: ReportParts) {
    this.#context = context;
    this.#planning = planning;
    this.#parts = parts;
    const { type, name, label, digestOf } = parts.reports;
    const changed = (namespace: string | undefined): void => this.#reportChanged(namespace);
    this.#live = new LiveReports({ label, digestOf, changed });
    this.watch = { type, name, metadataOnly: false, isOptional: true, sink: this.#live.sink };
    parts.ledger.subscribe((provider) => this.#changed.add(provider));
    parts.ledger.subscribeToReports((namespace) => this.#wake(namespace));
    parts.objectAudit.subscribe((namespace) => this.#wake(namespace));
  }

  begin(): void {
    this.#isLeading = true;
  }

  end(): void {
    this.#isLeading = false;
    this.#pausedUntil = 0;
    for (const known of [this.#overQuota, this.#changed, this.#failing]) known.clear();
  }

  /** Handles one key of the report queue. */
  async write(name: string, { signal }: Attempt): Promise<Handled> {
    const waitMs = this.#waitMs();
    if (waitMs > 0) this.#context.reportQueue.addAfter(name, waitMs);
    if (waitMs > 0 || !this.#live.isServed) return done;
    this.#judgeQuotas();
    try {
      await this.#keep(name, signal);
    } catch (error) {
      if (!signal.aborted) this.#failed(name, error);
    }
    return done;
  }

  async #keep(name: string, signal: AbortSignal): Promise<void> {
    const { cluster } = this.#context;
    const { planner } = this.#planning;
    const namespaceObject = cluster.snapshot().namespace(name);
    if (namespaceObject === undefined) this.#failing.delete(name);
    // The deletion of a namespace also deletes its Report.
    if (namespaceObject === undefined || isTerminating(namespaceObject)) return;
    const plan = await planner.plan(name, signal);
    // A Secret could not be read just now, so the Report waits.
    if (plan?.errors.some(({ kind }) => kind === 'transient') === true) return this.#wake(name);
    const report = plan === undefined ? undefined : await this.#reportOf(name, plan, signal);
    if (!signal.aborted) await this.#store(name, report, signal);
  }

  /** Returns how long Reports must wait for other work. */
  #waitMs(): number {
    const { clock, namespaceQueue, auditQueue } = this.#context;
    const { initialSync } = this.#parts;
    if (!initialSync.isDone || namespaceQueue.isBusy || !auditQueue.isIdle) return delayMs;
    return this.#pausedUntil - clock.monotonic();
  }

  #wake(namespace: string): void {
    if (this.#isLeading && this.#live.isServed) this.#context.reportQueue.addAfter(namespace, delayMs);
  }

  #reportChanged(namespace: string | undefined): void {
    if (namespace !== undefined) return this.#wake(namespace);
    for (const each of this.#context.cluster.snapshot().namespaces()) this.#wake(nameOf(each));
  }

  /** Wakes namespaces whose quota changed. A quota counts namespaces together, so one namespace can change another's Report. */
  #judgeQuotas(): void {
    const { cluster } = this.#context;
    const { ledger } = this.#parts;
    for (const provider of this.#changed) {
      const quota = quotaIn(cluster.provider(provider)?.definition);
      const before = this.#overQuota.get(provider) ?? [];
      const after = ledger.tallyOf(provider).overQuota(quota);
      if (isDeepStrictEqual(before, after)) continue;
      if (after.length === 0) this.#overQuota.delete(provider);
      else this.#overQuota.set(provider, after);
      for (const { namespace } of [...before, ...after]) this.#wake(namespace);
    }
    this.#changed.clear();
  }

  async #reportOf(name: string, plan: NamespacePlan, signal: AbortSignal): Promise<KubeObject | undefined> {
    const { cluster, clock } = this.#context;
    const { audits, objects } = this.#planning;
    const { reports, objectAudit, auditReader } = this.#parts;
    const violated = auditedResources.filter((resource) => objectAudit.violatorsOf(resource, name).size > 0);
    return await reports.reportOf({
      plan,
      cluster,
      planning: { audits, objects },
      // The audit keeps only the texts of the first violations.
      existing: violated.map((resource) => [resource, auditReader.listExisting(resource, name, signal)]),
      overQuota: (policy) => this.#overQuota.get(policy) ?? [],
      now: clock.now(),
    });
  }

  async #store(name: string, report: KubeObject | undefined, signal: AbortSignal): Promise<void> {
    const { observer } = this.#context;
    const { reports } = this.#parts;
    const live = this.#live.get(name);
    const sent = report === undefined ? undefined : reports.digestOf(report);
    const isRight = sent === undefined ? live?.isOurs !== true : [live?.digest, live?.sent].includes(sent);
    if (!isRight && live?.isOurs === false) return this.#fail(name, 'AlreadyExists');
    if (!isRight) {
      await (report === undefined ? this.#remove(name, signal) : this.#apply(report, signal));
      observer.wroteOwn('report');
      this.#failing.delete(everywhere);
    }
    this.#failing.delete(name);
  }

  async #apply(report: KubeObject, signal: AbortSignal): Promise<void> {
    const { writer } = this.#context;
    const { reports } = this.#parts;
    const uid = this.#live.get(report.metadata.namespace ?? '')?.uid;
    const wanted = uid === undefined ? report : { ...report, metadata: { ...report.metadata, uid } };
    // Takes over the fields that `reeve report --write` has set.
    const stored = await writer.apply(wanted, { force: uid !== undefined, signal });
    this.#live.stored(stored, reports.digestOf(report));
  }

  async #remove(namespace: string, signal: AbortSignal): Promise<void> {
    const { writer } = this.#context;
    const { reports } = this.#parts;
    const { uid = '' } = this.#live.get(namespace) ?? {};
    await writer.remove({ ...reports.type, namespace, name: reports.name }, { uid }, signal);
    this.#live.removed(namespace);
  }

  #failed(name: string, error: unknown): void {
    const failure = classifyWriteError(error, 'create');
    if (!('reason' in failure)) return;
    const isOfAll =
      failure.kind === 'transient'
        ? failure.reason !== 'Conflict'
        : failure.reason === 'InsufficientPermissions';
    this.#fail(isOfAll ? everywhere : name, failure.reason);
    if (!isOfAll) return;
    const { clock, reportQueue } = this.#context;
    this.#pausedUntil = clock.monotonic() + pauseMs;
    reportQueue.addAfter(name, pauseMs);
  }

  #fail(place: string, reason: string): void {
    const isNew = this.#failing.get(place) !== reason;
    this.#failing.set(place, reason);
    this.#context.observer.reportNotWritten({ namespace: place, reason, isNew });
  }
}

/** Stands for all namespaces. */
const everywhere = '';

// Remembers the stored Reports by namespace. A digest stands for the content.

interface LiveReport {
  readonly uid: string;
  readonly isOurs: boolean;
  readonly digest: string;
  /** The digest of the Report that Reeve sent, if the API server stored this Report for it. */
  readonly sent?: string;
}

interface LiveReportsOptions {
  /** The label of the Reports of Reeve. */
  readonly label: string;
  readonly digestOf: (report: KubeObject) => string;
  /** Called with the namespace of a Report that others wrote or deleted. Undefined: all namespaces. */
  readonly changed: (namespace: string | undefined) => void;
}

export class LiveReports {
  readonly sink: WatchSink;
  readonly #options: LiveReportsOptions;
  readonly #reports = new Map<string, LiveReport>();
  #isServed = false;

  constructor(options: LiveReportsOptions) {
    this.#options = options;
    this.sink = {
      replaced: (objects, resourceVersion) => {
        this.#isServed = resourceVersion !== unservedVersion;
        this.#reports.clear();
        for (const object of objects) this.#reports.set(namespaceOf(object), this.#observed(object));
        options.changed(undefined);
      },
      changed: (object) => this.#changed(namespaceOf(object), this.#observed(object)),
      removed: (object) => {
        if (this.#reports.delete(namespaceOf(object))) options.changed(namespaceOf(object));
      },
    };
  }

  /** True if the API server serves the kind, by the last report of the watch. */
  get isServed(): boolean {
    return this.#isServed;
  }

  get(namespace: string): LiveReport | undefined {
    return this.#reports.get(namespace);
  }

  /** Records the answer of the API server to a write. */
  stored(report: KubeObject, sent: string): void {
    this.#reports.set(namespaceOf(report), { ...this.#observed(report), sent });
  }

  removed(namespace: string): void {
    this.#reports.delete(namespace);
  }

  #changed(namespace: string, now: LiveReport): void {
    const { sent: _sent, ...before } = this.#reports.get(namespace) ?? {};
    if (isDeepStrictEqual(before, now)) return;
    this.#reports.set(namespace, now);
    this.#options.changed(namespace);
  }

  #observed(report: KubeObject): LiveReport {
    const { label, digestOf } = this.#options;
    const isOurs = valueOf(labelsOf(report), label) === 'true';
    return { uid: report.metadata.uid ?? '', isOurs, digest: digestOf(report) };
  }
}

function namespaceOf({ metadata: { namespace = '' } }: KubeObject): string {
  return namespace;
}

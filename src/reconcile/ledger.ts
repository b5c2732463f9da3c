// Keeps the last report of every namespace on each provider, the namespaces that must report again, and the initial sync.
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import type { ProviderId } from '../policy/terms/provider-id.ts';
import { ProviderTally } from '../policy/status/provider-tally.ts';
import type { ProviderReport } from '../policy/status/namespace-ready.ts';
import { isAborted, pause } from '../base/abort.ts';
import { nameOf, type KubeObject } from '../base/metadata.ts';
import type { ObservedObjects } from './live/observed-objects.ts';
import type { ReconcileContext } from './ports.ts';
import { CountingBudget, isDear, unlimitedBudget } from '../policy/terms/budget.ts';
import { matchNamespace, type CompiledMatch } from '../policy/terms/match.ts';
import type { LoadedProvider } from '../state/stored-provider.ts';

export type ProviderReports = ReadonlyMap<ProviderId, ProviderReport>;

interface Waiting {
  count: number;
  /** When the first namespace of this wait was added, on the monotonic clock. */
  readonly since: number;
}

export class ProviderLedger {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #listeners: ((provider: ProviderId) => void)[] = [];
  readonly #reportListeners: ((namespace: string) => void)[] = [];
  readonly #tallies = new Map<ProviderId, ProviderTally>();
  readonly #reports = new Map<string, ProviderReports>();
  /** The providers that changed, by namespace. Each has the last round before its change. */
  readonly #waiting = new Map<string, Map<ProviderId, number>>();
  readonly #waits = new Map<ProviderId, Waiting>();
  #rounds = 0;

  constructor({ clock, cluster }: ReconcileContext) {
    this.#clock = clock;
    cluster.subscribe({
      namespace: ({ name, after }) => {
        if (after === undefined) this.drop(name);
      },
    });
  }

  /** Calls the listener when the numbers of a provider change, or when the last awaited namespace has reported. */
  subscribe(listener: (provider: ProviderId) => void): void {
    this.#listeners.push(listener);
  }

  /** Calls the listener after each round of a namespace, and when the namespace is deleted. */
  subscribeToReports(listener: (namespace: string) => void): void {
    this.#reportListeners.push(listener);
  }

  /** Numbers a round. Call it before the round reads anything, so that the round cannot claim to know a later change. */
  beginRound(): number {
    this.#rounds += 1;
    return this.#rounds;
  }

  /** Waits for reports from rounds that begin after this moment, because the provider changed. */
  expect(provider: ProviderId, namespaces: Iterable<string>): void {
    for (const namespace of namespaces) {
      const providers = this.#waiting.get(namespace) ?? new Map<ProviderId, number>();
      if (!providers.has(provider)) this.#wait(provider);
      providers.set(provider, this.#rounds);
      this.#waiting.set(namespace, providers);
    }
  }

  /** Waits for the first report of these namespaces. A report of any round counts, because the provider did not change. */
  expectAny(provider: ProviderId, namespaces: Iterable<string>): void {
    for (const namespace of namespaces) {
      const providers = this.#waiting.get(namespace) ?? new Map<ProviderId, number>();
      this.#waiting.set(namespace, providers);
      if (providers.has(provider)) continue;
      this.#wait(provider);
      providers.set(provider, 0);
    }
  }

  /** Returns how many namespaces have not reported since the last change of the provider. */
  waiting(provider: ProviderId): Readonly<Waiting> | undefined {
    return this.#waits.get(provider);
  }

  reportsOf(namespace: string): ProviderReports {
    return this.#reports.get(namespace) ?? new Map<ProviderId, ProviderReport>();
  }

  /** Takes the reports of one namespace from one round. */
  report(namespace: string, reports: ProviderReports, round: number): void {
    const before = this.reportsOf(namespace);
    for (const provider of before.keys()) {
      if (reports.has(provider)) continue;
      this.#tallies.get(provider)?.delete(namespace);
      this.#notify(provider);
    }
    for (const [provider, report] of reports) this.#takeReport(provider, namespace, report);
    if (reports.size === 0) this.#reports.delete(namespace);
    else this.#reports.set(namespace, reports);
    this.#endWaits(namespace, round);
    for (const listener of this.#reportListeners) listener(namespace);
  }

  /** Called for a namespace that is deleted, being deleted, or excluded. */
  drop(namespace: string): void {
    this.report(namespace, new Map(), Infinity);
  }

  tallyOf(provider: ProviderId): ProviderTally {
    return this.#tallies.get(provider) ?? new ProviderTally();
  }

  forgetProvider(provider: ProviderId): void {
    this.#tallies.delete(provider);
    this.#waits.delete(provider);
    for (const providers of this.#waiting.values()) providers.delete(provider);
  }

  clear(): void {
    for (const map of [this.#tallies, this.#reports, this.#waiting, this.#waits]) map.clear();
  }

  #takeReport(provider: ProviderId, namespace: string, report: ProviderReport): void {
    const tally = this.#tallies.get(provider) ?? new ProviderTally();
    this.#tallies.set(provider, tally);
    if (isDeepStrictEqual(tally.get(namespace), report)) return;
    tally.set(namespace, report);
    this.#notify(provider);
  }

  #wait(provider: ProviderId): void {
    const waiting = this.#waits.get(provider);
    if (waiting === undefined) this.#waits.set(provider, { count: 1, since: this.#clock.monotonic() });
    else waiting.count += 1;
  }

  #endWaits(namespace: string, round: number): void {
    const providers = this.#waiting.get(namespace);
    if (providers === undefined) return;
    for (const [provider, changedAt] of providers) {
      // A round that began before the change does not know the change.
      if (changedAt >= round) continue;
      providers.delete(provider);
      this.#countDown(provider);
    }
    if (providers.size === 0) this.#waiting.delete(namespace);
  }

  #notify(provider: ProviderId): void {
    for (const listener of this.#listeners) listener(provider);
  }

  #countDown(provider: ProviderId): void {
    const waiting = this.#waits.get(provider);
    if (waiting === undefined) return;
    waiting.count -= 1;
    if (waiting.count > 0) return;
    this.#waits.delete(provider);
    this.#notify(provider);
  }
}

// Tracks the initial sync: every namespace is reconciled once after this process becomes the leader.

interface Progress {
  /** Namespaces that have not been reconciled yet. */
  readonly pending: Set<string>;
  readonly namespaces: number;
  readonly began: number;
  /** When the last namespace was reconciled. */
  progressAt: number;
}

/** When no pending namespace is reconciled for this time, the initial sync ends without them. */
const maxIdleMs = 15_000;

export class InitialSync {
  readonly #context: ReconcileContext;
  readonly #objects: ObservedObjects;
  readonly #ledger: ProviderLedger;
  #progress: Progress | undefined;
  #isDone = false;

  constructor(context: ReconcileContext, objects: ObservedObjects, ledger: ProviderLedger) {
    this.#context = context;
    this.#objects = objects;
    this.#ledger = ledger;
    context.cluster.subscribe({
      namespace: ({ name, after }) => {
        if (after === undefined) this.reconciled(name);
      },
    });
  }

  /** Before that, no status of a provider is written, because its numbers would miss namespaces. */
  get isDone(): boolean {
    return this.#isDone;
  }

  begin(): void {
    const { cluster, clock } = this.#context;
    const names = [...cluster.snapshot().namespaces()].map(nameOf);
    const began = clock.monotonic();
    this.#progress = { pending: new Set(names), namespaces: names.length, began, progressAt: began };
    this.#endIfComplete();
  }

  /** Forgets everything, because this process no longer leads. */
  reset(): void {
    this.#progress = undefined;
    this.#isDone = false;
  }

  /** Call it when a namespace has been reconciled, is deleted, or keeps failing. */
  reconciled(namespace: string): void {
    const progress = this.#progress;
    if (progress?.pending.delete(namespace) !== true) return;
    progress.progressAt = this.#context.clock.monotonic();
    this.#endIfComplete();
  }

  /** Ends the initial sync when it is stuck. Resolves when it has ended or the signal aborts. */
  async endWhenStuck(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    while (!isAborted(signal) && this.#progress !== undefined) {
      const left = this.#progress.progressAt + maxIdleMs - clock.monotonic();
      if (left <= 0) this.#endIncomplete(this.#progress);
      else await pause(clock, left, signal);
    }
  }

  /** Ends the initial sync. The statuses then say how many namespaces have not reported yet. */
  #endIncomplete({ pending }: Progress): void {
    const { cluster } = this.#context;
    for (const provider of cluster.providers()) {
      const names = [...pending].filter((name) => mayAffect(name, provider, cluster, this.#objects));
      this.#ledger.expectAny(provider.state.id, names);
    }
    pending.clear();
    this.#endIfComplete();
  }

  #endIfComplete(): void {
    if (this.#progress === undefined || this.#progress.pending.size > 0) return;
    const { namespaces, began } = this.#progress;
    const { cluster, providerQueue, observer, clock } = this.#context;
    this.#progress = undefined;
    this.#isDone = true;
    for (const { state } of cluster.providers()) providerQueue.add(state.id);
    observer.initialSyncDone({ namespaces, milliseconds: clock.monotonic() - began });
  }
}

// Finds the namespaces that a provider affects.

/** Returns the namespaces that reported on the provider, that it matches now or at a high cost, or where it owns objects. */
export function affectedNamespaces(
  id: ProviderId,
  cluster: LiveCluster,
  ledger: ProviderLedger,
  objects: ObservedObjects,
): ReadonlySet<string> {
  const names = new Set<string>([...ledger.tallyOf(id).namespaces, ...objects.countsOf(id).keys()]);
  const match: CompiledMatch | undefined = cluster.provider(id)?.definition?.compiled.match;
  if (match === undefined) return names;
  for (const namespaceObject of candidates(match, cluster)) {
    const name = nameOf(namespaceObject);
    if (names.has(name) || cluster.isExcluded(name)) continue;
    const budget = new CountingBudget(unlimitedBudget);
    // A namespace that does not match reports the cost of the match if that cost is high.
    if (matchNamespace(match, namespaceObject, budget).kind !== 'no' || isDear(budget.units)) names.add(name);
  }
  // A missing namespace never reports, so nothing may wait for it.
  return new Set([...names].filter((name) => cluster.namespace(name) !== undefined));
}

/** Looks the names up if the match lists them all, because thousands of tenants may each have a binding of their namespace. */
function candidates({ names }: CompiledMatch, cluster: LiveCluster): Iterable<KubeObject> {
  if (names?.every(({ exact }) => exact) !== true) return cluster.snapshot().namespaces();
  return names.flatMap(({ source }) => cluster.namespace(source) ?? []);
}

/** Returns whether the provider owns objects in the namespace, or may soon create some. */
function mayAffect(
  namespace: string,
  { state, definition }: LoadedProvider,
  cluster: LiveCluster,
  objects: ObservedObjects,
): boolean {
  if (objects.countsOf(state.id).has(namespace)) return true;
  const namespaceObject = cluster.namespace(namespace);
  if (definition === undefined || namespaceObject === undefined || cluster.isExcluded(namespace))
    return false;
  return matchNamespace(definition.compiled.match, namespaceObject).kind !== 'no';
}

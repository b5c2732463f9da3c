// Keeps the last report of every namespace on each provider, and which namespaces have to report again.
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import type { ProviderId } from '../policy/terms/provider-id.ts';
import { ProviderTally } from '../policy/status/provider-tally.ts';
import type { ProviderReport } from '../policy/status/namespace-ready.ts';

export type ProviderReports = ReadonlyMap<ProviderId, ProviderReport>;

interface Waiting {
  count: number;
  /** When the first namespace of this wait was added, on the monotonic clock. */
  readonly since: number;
}

interface ProviderLedgerOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly cluster: Pick<LiveCluster, 'subscribe'>;
}

export class ProviderLedger {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #listeners: ((provider: ProviderId) => void)[] = [];
  readonly #reportListeners: ((namespace: string) => void)[] = [];
  readonly #tallies = new Map<ProviderId, ProviderTally>();
  readonly #reports = new Map<string, ProviderReports>();
  /** By namespace: the providers that changed, each with the last round before its change. */
  readonly #waiting = new Map<string, Map<ProviderId, number>>();
  readonly #waits = new Map<ProviderId, Waiting>();
  #rounds = 0;

  constructor({ clock, cluster }: ProviderLedgerOptions) {
    this.#clock = clock;
    cluster.subscribe((change) => {
      if (change.kind === 'namespace' && change.after === undefined) this.drop(change.name);
    });
  }

  /** The listener is called when the numbers of a provider change, or when the last awaited namespace has reported. */
  subscribe(listener: (provider: ProviderId) => void): void {
    this.#listeners.push(listener);
  }

  /** The listener is called after each round of a namespace, and when the namespace is deleted. */
  subscribeToReports(listener: (namespace: string) => void): void {
    this.#reportListeners.push(listener);
  }

  /** Numbers a round. Call it before the round reads anything, so that it cannot claim to know a later change. */
  beginRound(): number {
    this.#rounds += 1;
    return this.#rounds;
  }

  /** The provider changed. Waits for reports from rounds that begin after now. */
  expect(provider: ProviderId, namespaces: Iterable<string>): void {
    for (const namespace of namespaces) {
      const providers = this.#waiting.get(namespace) ?? new Map<ProviderId, number>();
      if (!providers.has(provider)) this.#wait(provider);
      providers.set(provider, this.#rounds);
      this.#waiting.set(namespace, providers);
    }
  }

  /** Waits for the first report of these namespaces. The provider did not change, so a report of any round counts. */
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

  /** The namespace is deleted, is being deleted, or is excluded. */
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
      // A round that began before the change does not know it.
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

// What all namespaces have last said about each policy and share, and which of them have still to say it anew.
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import type { ProviderId } from '../policy/terms/provider-id.ts';
import { ProviderTally } from '../policy/status/provider-tally.ts';
import type { ProviderReport } from '../policy/status/provider-report.ts';

export type Parts = ReadonlyMap<ProviderId, ProviderReport>;

interface Waiting {
  count: number;
  /** When the first of them began to be waited for, on the monotonic clock. */
  readonly since: number;
}

export interface ProviderLedgerOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly cluster: Pick<LiveCluster, 'subscribe'>;
}

export class ProviderLedger {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #listeners: ((provider: ProviderId) => void)[] = [];
  readonly #tallies = new Map<ProviderId, ProviderTally>();
  readonly #parts = new Map<string, Parts>();
  /** By namespace, the owners that changed, each with the round that came last before the change. */
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

  /** Call it before reading what a round is planned from. */
  beginRound(): number {
    this.#rounds += 1;
    return this.#rounds;
  }

  /** The owner has changed, and these namespaces are to be looked at because of it. */
  expect(owner: ProviderId, namespaces: Iterable<string>): void {
    for (const namespace of namespaces) {
      const owners = this.#waiting.get(namespace) ?? new Map<ProviderId, number>();
      if (!owners.has(owner)) this.#wait(owner);
      owners.set(owner, this.#rounds);
      this.#waiting.set(namespace, owners);
    }
  }

  /** Nothing has changed, but these namespaces have said nothing yet: whatever they say next will do. */
  await(owner: ProviderId, namespaces: Iterable<string>): void {
    for (const namespace of namespaces) {
      const owners = this.#waiting.get(namespace) ?? new Map<ProviderId, number>();
      this.#waiting.set(namespace, owners);
      if (owners.has(owner)) continue;
      this.#wait(owner);
      owners.set(owner, 0);
    }
  }

  /** How many namespaces the numbers of the owner do not know its last change of. */
  waiting(owner: ProviderId): Readonly<Waiting> | undefined {
    return this.#waits.get(owner);
  }

  partsOf(namespace: string): Parts {
    return this.#parts.get(namespace) ?? new Map<ProviderId, ProviderReport>();
  }

  /** What a namespace has come to in a round. */
  report(namespace: string, parts: Parts, round: number): void {
    const before = this.partsOf(namespace);
    for (const owner of before.keys()) {
      if (parts.has(owner)) continue;
      this.#tallies.get(owner)?.delete(namespace);
      this.#notify(owner);
    }
    for (const [owner, part] of parts) this.#take(owner, namespace, part);
    if (parts.size === 0) this.#parts.delete(namespace);
    else this.#parts.set(namespace, parts);
    this.#arrive(namespace, round);
  }

  /** The namespace is gone, or going, or not ours to look at. */
  drop(namespace: string): void {
    this.report(namespace, new Map(), Infinity);
  }

  tallyOf(owner: ProviderId): ProviderTally {
    return this.#tallies.get(owner) ?? new ProviderTally();
  }

  forgetProvider(owner: ProviderId): void {
    this.#tallies.delete(owner);
    this.#waits.delete(owner);
    for (const owners of this.#waiting.values()) owners.delete(owner);
  }

  clear(): void {
    for (const map of [this.#tallies, this.#parts, this.#waiting, this.#waits]) map.clear();
  }

  #take(owner: ProviderId, namespace: string, part: ProviderReport): void {
    const tally = this.#tallies.get(owner) ?? new ProviderTally();
    this.#tallies.set(owner, tally);
    if (isDeepStrictEqual(tally.get(namespace), part)) return;
    tally.set(namespace, part);
    this.#notify(owner);
  }

  #wait(owner: ProviderId): void {
    const waiting = this.#waits.get(owner);
    if (waiting === undefined) this.#waits.set(owner, { count: 1, since: this.#clock.monotonic() });
    else waiting.count += 1;
  }

  #arrive(namespace: string, round: number): void {
    const owners = this.#waiting.get(namespace);
    if (owners === undefined) return;
    for (const [owner, changedAt] of owners) {
      // What was planned before the change does not know of it.
      if (changedAt >= round) continue;
      owners.delete(owner);
      this.#arrived(owner);
    }
    if (owners.size === 0) this.#waiting.delete(namespace);
  }

  #notify(provider: ProviderId): void {
    for (const listener of this.#listeners) listener(provider);
  }

  #arrived(owner: ProviderId): void {
    const waiting = this.#waits.get(owner);
    if (waiting === undefined) return;
    waiting.count -= 1;
    if (waiting.count > 0) return;
    this.#waits.delete(owner);
    this.#notify(owner);
  }
}

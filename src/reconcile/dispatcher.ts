// Hears of every change and says who has to be looked at; knows when all have been looked at once.
import { ownMember } from '../base/json.ts';
import { nameOf } from '../base/metadata.ts';
import { providerId, type ProviderId } from '../policy/terms/provider-id.ts';
import type { ClusterChange, LiveCluster, NamespaceChange } from '../state/live-cluster.ts';
import type { ProviderChange } from '../state/live-providers.ts';
import { Alarm } from './queue/alarm.ts';
import type { Assembly, Hooks } from './assembly.ts';
import type { ObservedChange } from './live/observed-objects.ts';
import type { Clock } from '../base/clock.ts';
import type { ReconcileObserver } from './ports.ts';
import { isNewer } from './live/resource-version.ts';
import { concernsNamespaces, differsInReadinessAlone, isReached, namespacesOf } from './schedule.ts';
import { sourceId, type SourceId } from './live/sources.ts';

export interface DispatcherOptions {
  readonly cluster: LiveCluster;
  readonly observer: Pick<ReconcileObserver, 'passed'>;
  readonly time: Pick<Clock, 'monotonic' | 'sleep'>;
}

interface Pass {
  /** Not looked at yet. */
  readonly left: Set<string>;
  readonly namespaces: number;
  readonly began: number;
  /** When the last of those that are done was. */
  progressAt: number;
}

/** When nothing comes of any of those that are left for so long, the pass does without them. */
const longestPauseMs = 15_000;

export class Dispatcher implements Hooks {
  readonly #options: DispatcherOptions;
  #parts: Assembly | undefined;
  #isWorking = false;
  #pass: Pass | undefined;
  readonly #deadline: Alarm;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#deadline = new Alarm(options.time, () => this.#endPassIfStuck());
  }

  /** Once, before anything changes. */
  attach(parts: Assembly): void {
    this.#parts = parts;
    this.#options.cluster.subscribe((change) => this.#clusterChanged(change));
  }

  get hasPassed(): boolean {
    return this.#isWorking && this.#pass === undefined;
  }

  /** The lead has been taken. What was known of statuses may have been changed by whoever had it before. */
  begin(): void {
    const { ledger, census, conditions } = this.#known;
    ledger.clear();
    // Each tells of its namespace alone, and of that only once it has been looked at.
    conditions.open();
    this.#isWorking = true;
    const names = [...this.#options.cluster.snapshot().namespaces()].map(nameOf);
    for (const name of names) census.touch(name);
    const began = this.#options.time.monotonic();
    this.#pass = { left: new Set(names), namespaces: names.length, began, progressAt: began };
    this.#deadline.set(began + longestPauseMs);
    this.addAll();
    this.#endPassIfOver();
  }

  end(): void {
    this.#isWorking = false;
    this.#pass = undefined;
    this.#deadline.set(undefined);
    this.#known.conditions.close();
    this.#known.providerWorker.close();
  }

  addAll(): void {
    const { namespaces, owners } = this.#known;
    for (const namespaceObject of this.#options.cluster.snapshot().namespaces())
      namespaces.add(nameOf(namespaceObject));
    for (const { state } of this.#options.cluster.owners()) owners.add(state.id);
  }

  objectChanged({ namespace, key, before, after, from }: ObservedChange): void {
    const { census, namespaces, owners, desires } = this.#known;
    census.touch(namespace);
    if (!this.#isWorking) return;
    if (before?.owner !== undefined && this.#isGoing(before.owner)) owners.add(before.owner);
    if (from === 'own') return;
    const concernsUs = [before, after].some((each) => each?.owner !== undefined || each?.isOffered === true);
    const namespaceObject = this.#options.cluster.snapshot().namespace(namespace);
    if (namespaceObject === undefined) return;
    if (concernsUs || desires.of(namespaceObject).claims.has(key)) namespaces.add(namespace);
  }

  sourceChanged(source: SourceId): void {
    if (!this.#isWorking) return;
    for (const { name, source: named } of this.#options.cluster.snapshot().shares.shares) {
      if (sourceId(named.namespace, named.name) === source) this.#enqueue(providerId('SecretShare', name));
    }
  }

  kindSynced(): void {
    if (this.#isWorking) this.addAll();
  }

  concluded(namespace: string): void {
    const pass = this.#pass;
    if (pass?.left.delete(namespace) !== true) return;
    pass.progressAt = this.#options.time.monotonic();
    this.#endPassIfOver();
  }

  providerReported(owner: ProviderId): void {
    if (this.hasPassed) this.#known.owners.add(owner);
  }

  /** What was refused can be done now. */
  rightsRegained(owner: ProviderId): void {
    if (this.#isWorking) this.#enqueue(owner);
  }

  #clusterChanged(change: ClusterChange): void {
    if (change.kind === 'namespace') this.#namespaceChanged(change);
    else this.#providerChanged(change);
  }

  #namespaceChanged({ name, before, after }: NamespaceChange): void {
    const { census, ledger, conditions, namespaces, owners } = this.#known;
    census.touch(name);
    if (!this.#isWorking) return;
    if (before?.metadata.uid !== after?.metadata.uid) conditions.forget(name);
    else if (hasGoneBack(before?.metadata, after?.metadata)) conditions.restored(name);
    if (after === undefined) {
      ledger.drop(name);
      this.concluded(name);
    } else if (differsInReadinessAlone(before, after)) conditions.changed(name);
    else namespaces.add(name);
    // Objects in a namespace that goes hold nobody.
    for (const { state } of this.#options.cluster.owners()) if (state.isDeleting) owners.add(state.id);
  }

  #providerChanged(change: ProviderChange): void {
    const { id, before } = change;
    const { desires, census, objects, sources, owners } = this.#known;
    const { cluster } = this.#options;
    if (concernsNamespaces(change)) {
      desires.forget();
      // Who has it, and who could have it instead: the objects of others may become unwanted, too.
      for (const namespace of objects.namespaces()) census.touch(namespace);
      if (before?.definition?.kind === 'SecretShare') sources.retain(cluster.snapshot().shares.shares);
    }
    this.#forgetFormer(change);
    if (!this.#isWorking) return;
    if (concernsNamespaces(change)) this.#enqueue(id);
    owners.add(id);
  }

  #forgetFormer({ id, before, after }: ProviderChange): void {
    const { fuse, providerWorker } = this.#known;
    if (before === undefined) return;
    if (before.state.uid !== after?.state.uid) fuse.forgetProvider(before.state.uid);
    else if (hasGoneBack(before.state, after.state)) providerWorker.restored(id);
  }

  #enqueue(id: ProviderId): void {
    const { ledger, objects, namespaces, owners } = this.#known;
    const { cluster } = this.#options;
    const snapshot = cluster.snapshot();
    const names = namespacesOf(id, cluster.owner(id), { snapshot, ledger, objects });
    ledger.expect(id, names);
    for (const name of names) namespaces.add(name);
    owners.add(id);
  }

  #isGoing(owner: ProviderId): boolean {
    return this.#options.cluster.owner(owner)?.state.isDeleting === true;
  }

  #endPassIfOver(): void {
    const pass = this.#pass;
    if (pass === undefined || pass.left.size > 0) return;
    this.#pass = undefined;
    this.#deadline.set(undefined);
    const { providerWorker, owners } = this.#known;
    providerWorker.open();
    for (const { state } of this.#options.cluster.owners()) owners.add(state.id);
    const { namespaces, began } = pass;
    this.#options.observer.passed({ namespaces, milliseconds: this.#options.time.monotonic() - began });
  }

  /** Statuses then say for how many namespaces they do not speak. */
  #endPassIfStuck(): void {
    const pass = this.#pass;
    if (pass === undefined) return;
    const due = pass.progressAt + longestPauseMs;
    if (this.#options.time.monotonic() < due) {
      this.#deadline.set(due);
      return;
    }
    const { cluster } = this.#options;
    const { ledger, objects } = this.#known;
    const known = { snapshot: cluster.snapshot(), objects };
    for (const owner of cluster.owners()) {
      const names = [...pass.left].filter((name) => isReached(name, owner, known));
      ledger.await(owner.state.id, names);
    }
    pass.left.clear();
    this.#endPassIfOver();
  }

  get #known(): Assembly {
    if (this.#parts === undefined) throw new Error('the dispatcher has not been attached');
    return this.#parts;
  }
}

/** Watches never go back, so this is a cluster whose store has been restored. */
function hasGoneBack(before: unknown, after: unknown): boolean {
  const [old, now] = [ownMember(before, 'resourceVersion'), ownMember(after, 'resourceVersion')];
  return typeof old === 'string' && typeof now === 'string' && isNewer(old, now);
}

// Hears of every change and says who has to be looked at; knows when all have been looked at once.
import { nameOf } from '../policy/metadata.ts';
import { ownerId, type OwnerId } from '../policy/owner.ts';
import type { ClusterChange, LiveCluster, NamespaceChange } from '../state/live-cluster.ts';
import type { OwnerChange } from '../state/live-owners.ts';
import type { Assembly, Hooks } from './assembly.ts';
import type { ObservedChange } from './observed-objects.ts';
import type { ReconcileObserver, Time } from './ports.ts';
import { concernsNamespaces, differsInReadinessAlone, namespacesOf } from './schedule.ts';
import { sourceId, type SourceId } from './sources.ts';

export interface DispatcherOptions {
  readonly cluster: LiveCluster;
  readonly observer: Pick<ReconcileObserver, 'passed'>;
  readonly time: Pick<Time, 'monotonic'>;
}

interface Pass {
  /** Not looked at yet. */
  readonly left: Set<string>;
  readonly namespaces: number;
  readonly began: number;
}

export class Dispatcher implements Hooks {
  readonly #options: DispatcherOptions;
  #parts: Assembly | undefined;
  #isWorking = false;
  #pass: Pass | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
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
    const { ledger, census } = this.#known;
    ledger.clear();
    this.#isWorking = true;
    const names = [...this.#options.cluster.snapshot().namespaces()].map(nameOf);
    for (const name of names) census.touch(name);
    this.#pass = { left: new Set(names), namespaces: names.length, began: this.#options.time.monotonic() };
    this.addAll();
    this.#endPassIfOver();
  }

  end(): void {
    this.#isWorking = false;
    this.#pass = undefined;
    this.#known.conditions.close();
    this.#known.ownerWorker.close();
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
      if (sourceId(named.namespace, named.name) === source) this.#enqueue(ownerId('SecretShare', name));
    }
  }

  kindSynced(): void {
    if (this.#isWorking) this.addAll();
  }

  concluded(namespace: string): void {
    if (this.#pass?.left.delete(namespace) === true) this.#endPassIfOver();
  }

  ownerReported(owner: OwnerId): void {
    if (this.hasPassed) this.#known.owners.add(owner);
  }

  #clusterChanged(change: ClusterChange): void {
    if (change.kind === 'namespace') this.#namespaceChanged(change);
    else this.#ownerChanged(change);
  }

  #namespaceChanged({ name, before, after }: NamespaceChange): void {
    const { census, ledger, conditions, namespaces, owners } = this.#known;
    census.touch(name);
    if (!this.#isWorking) return;
    if (before?.metadata.uid !== after?.metadata.uid) conditions.forget(name);
    if (after === undefined) {
      ledger.drop(name);
      this.concluded(name);
    } else if (differsInReadinessAlone(before, after)) conditions.changed(name);
    else namespaces.add(name);
    // Objects in a namespace that goes hold nobody.
    for (const { state } of this.#options.cluster.owners()) if (state.isDeleting) owners.add(state.id);
  }

  #ownerChanged(change: OwnerChange): void {
    const { id, before, after } = change;
    const { desires, census, objects, sources, fuse, owners } = this.#known;
    const { cluster } = this.#options;
    if (concernsNamespaces(change)) {
      desires.forget();
      // Who has it, and who could have it instead: the objects of others may become unwanted, too.
      for (const namespace of objects.namespaces()) census.touch(namespace);
      if (before?.definition?.kind === 'SecretShare') sources.retain(cluster.snapshot().shares.shares);
    }
    if (after === undefined && before !== undefined) fuse.forgetOwner(before.state.uid);
    if (!this.#isWorking) return;
    if (concernsNamespaces(change)) this.#enqueue(id);
    owners.add(id);
  }

  #enqueue(id: OwnerId): void {
    const { ledger, objects, namespaces, owners } = this.#known;
    const { cluster } = this.#options;
    const snapshot = cluster.snapshot();
    const names = namespacesOf(id, cluster.owner(id), { snapshot, ledger, objects });
    ledger.expect(id, names);
    for (const name of names) namespaces.add(name);
    owners.add(id);
  }

  #isGoing(owner: OwnerId): boolean {
    return this.#options.cluster.owner(owner)?.state.isDeleting === true;
  }

  #endPassIfOver(): void {
    const pass = this.#pass;
    if (pass === undefined || pass.left.size > 0) return;
    this.#pass = undefined;
    const { conditions, ownerWorker, owners } = this.#known;
    conditions.open();
    ownerWorker.open();
    for (const { state } of this.#options.cluster.owners()) owners.add(state.id);
    const { namespaces, began } = pass;
    this.#options.observer.passed({ namespaces, milliseconds: this.#options.time.monotonic() - began });
  }

  get #known(): Assembly {
    if (this.#parts === undefined) throw new Error('the dispatcher has not been attached');
    return this.#parts;
  }
}

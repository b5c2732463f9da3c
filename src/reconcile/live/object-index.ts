// Indexes live objects by namespace and key, our own objects, and their number per provider and namespace.
import type { ObjectKey } from '../../policy/terms/object-key.ts';
import type { Observed } from '../../policy/plan/observed.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';

type ByKey = Map<ObjectKey, Observed>;

export class ObjectIndex {
  readonly #all = new Map<string, ByKey>();
  readonly #ours = new Map<string, ByKey>();
  /** Objects per provider and namespace, without objects that are being deleted. */
  readonly #counts = new Map<ProviderId, Map<string, number>>();

  get(namespace: string, key: ObjectKey): Observed | undefined {
    return this.#all.get(namespace)?.get(key);
  }

  /** Returns the objects with our label, also those that name no owner. */
  ours(namespace: string): readonly Observed[] {
    return [...(this.#ours.get(namespace)?.values() ?? [])];
  }

  /** Returns the namespaces in which the provider owns objects, with their number. */
  countsOf(owner: ProviderId): ReadonlyMap<string, number> {
    return this.#counts.get(owner) ?? new Map<string, number>();
  }

  /** Returns the namespaces with at least one object of ours. */
  namespaces(): Iterable<string> {
    return this.#ours.keys();
  }

  *values(): Generator<Observed> {
    for (const objects of this.#all.values()) yield* objects.values();
  }

  set(observed: Observed): void {
    const { namespace, key, owner, lacksOwner } = observed;
    this.#count(this.get(namespace, key), -1);
    insert(this.#all, namespace, observed);
    if (owner === undefined && !lacksOwner) drop(this.#ours, namespace, key);
    else insert(this.#ours, namespace, observed);
    this.#count(observed, 1);
  }

  delete({ namespace, key }: Observed): void {
    this.#count(this.get(namespace, key), -1);
    drop(this.#all, namespace, key);
    drop(this.#ours, namespace, key);
  }

  #count(observed: Observed | undefined, change: 1 | -1): void {
    if (observed?.owner === undefined || observed.isTerminating) return;
    const { owner, namespace } = observed;
    const counts = this.#counts.get(owner) ?? new Map<string, number>();
    const count = (counts.get(namespace) ?? 0) + change;
    if (count === 0) counts.delete(namespace);
    else counts.set(namespace, count);
    if (counts.size === 0) this.#counts.delete(owner);
    else this.#counts.set(owner, counts);
  }
}

function insert(index: Map<string, ByKey>, namespace: string, observed: Observed): void {
  const objects = index.get(namespace);
  if (objects === undefined) index.set(namespace, new Map([[observed.key, observed]]));
  else objects.set(observed.key, observed);
}

function drop(index: Map<string, ByKey>, namespace: string, key: ObjectKey): void {
  const objects = index.get(namespace);
  if (objects?.delete(key) === true && objects.size === 0) index.delete(namespace);
}

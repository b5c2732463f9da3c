// Finds the resource name of a kind by discovery, and caches it for a while.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
import { systemClock, type Clock } from '../base/clock.ts';
import { ownMember, type JsonObject } from '../base/json.ts';
import { SingleFlight } from '../base/single-flight.ts';
import { malformedAnswer, unlessNotFound } from './http/answers.ts';
import type { KubeClient } from './http/client.ts';
import { groupVersionPath } from './http/resource-paths.ts';

export interface ServedKind {
  readonly plural: string;
  readonly namespaced: boolean;
}

export interface Discovery {
  /** Returns undefined for a kind that is not served; discovery is repeated after 30 seconds. */
  find(apiVersion: string, kind: string, signal?: AbortSignal): Promise<ServedKind | undefined>;
  /** Asks now, whatever is cached. Rejects with a KubeError when there is no answer; then the cache stays. */
  refresh(apiVersion: string, signal?: AbortSignal): Promise<void>;
}

type Kinds = ReadonlyMap<string, ServedKind>;

/** Limited, because a CustomResourceDefinition can be deleted and created again with another scope. */
const knownMs = 600_000;
const unknownMs = 30_000;
/** More group versions than any cluster has. The limit is needed because users write the names. */
const maxVersions = 500;

export function createDiscovery(
  client: KubeClient,
  clock: Pick<Clock, 'monotonic'> = systemClock,
): Discovery {
  return new CachedDiscovery(client, clock);
}

class CachedDiscovery implements Discovery {
  readonly #client: KubeClient;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #cache = new Map<string, { readonly kinds: Kinds; readonly at: number }>();
  readonly #asking = new SingleFlight<Kinds>();

  constructor(client: KubeClient, clock: Pick<Clock, 'monotonic'>) {
    this.#client = client;
    this.#clock = clock;
  }

  async find(apiVersion: string, kind: string, signal?: AbortSignal): Promise<ServedKind | undefined> {
    const cached = this.#cache.get(apiVersion);
    const known = cached?.kinds.get(kind);
    const age = cached === undefined ? Infinity : this.#clock.monotonic() - cached.at;
    if (age < (known === undefined ? unknownMs : knownMs)) return known;
    const kinds = await this.#asking.run(apiVersion, () => this.#ask(apiVersion), signal);
    return kinds.get(kind);
  }

  async refresh(apiVersion: string, signal?: AbortSignal): Promise<void> {
    await this.#asking.run(apiVersion, () => this.#ask(apiVersion), signal);
  }

  async #ask(apiVersion: string): Promise<Kinds> {
    const at = this.#clock.monotonic();
    const kinds = await kindsOf(this.#client, apiVersion);
    if (this.#cache.size >= maxVersions) this.#cache.clear();
    this.#cache.set(apiVersion, { kinds, at });
    return kinds;
  }
}

async function kindsOf(client: KubeClient, apiVersion: string): Promise<Kinds> {
  const path = groupVersionPath(apiVersion);
  const list = await unlessNotFound(() => client.request({ method: 'GET', path }));
  return list === undefined ? new Map() : kindsIn(list);
}

/**
 * The list also has subresources, some with kinds of their own: `pods/eviction`. An answer without a list is no answer: it must
 * not count as one that kinds have gone.
 */
export function kindsIn(list: JsonObject): Kinds {
  // Go writes an empty list as null: https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#APIResourceList
  const resources = ownMember(list, 'resources') === null ? [] : ownMember(list, 'resources');
  if (!Array.isArray(resources)) throw malformedAnswer();
  const kinds = new Map<string, ServedKind>();
  for (const resource of resources) {
    const plural = ownMember(resource, 'name');
    const kind = ownMember(resource, 'kind');
    if (typeof plural !== 'string' || typeof kind !== 'string' || plural.includes('/')) continue;
    if (!kinds.has(kind)) kinds.set(kind, { plural, namespaced: ownMember(resource, 'namespaced') === true });
  }
  return kinds;
}

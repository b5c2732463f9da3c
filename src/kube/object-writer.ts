// Reads, writes and deletes single objects. Writes use Reeve's field manager unless another is named.
import type { ApplyOptions, ObjectWriter, PatchOptions, Preconditions } from '../base/object-writer.ts';
import { fieldManager } from '../schema/names.ts';
import { isJsonObject, type JsonObject, ownMember } from '../base/json.ts';
import { KubeError, unlessNotFound } from '../base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../base/metadata.ts';
import { malformedAnswer } from './http/answers.ts';
import type { KubeClient, KubeRequest } from './http/client.ts';
import { resourcePath, groupVersionPath, type ResourceAddress } from './http/https-client.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { SingleFlight } from '../base/abort.ts';

/** Called when a write of this version was a conflict, because the object has a newer version. */
type OnConflict = (object: ResourceAddress & { readonly name: string }, version: string) => Promise<void>;

export class KubeObjectWriter implements ObjectWriter {
  readonly #client: KubeClient;
  readonly #discovery: Pick<Discovery, 'find'>;
  readonly #onConflict: OnConflict | undefined;

  /** A conflict rejects after `onConflict` has resolved. */
  constructor(client: KubeClient, discovery: Pick<Discovery, 'find'>, onConflict?: OnConflict) {
    this.#client = client;
    this.#discovery = discovery;
    this.#onConflict = onConflict;
  }

  async read(ref: ObjectRef, signal?: AbortSignal): Promise<KubeObject | undefined> {
    return await unlessNotFound(async () => {
      const path = await this.#pathOf(ref, signal);
      return await this.#object({ method: 'GET', path }, signal);
    });
  }

  async create(object: KubeObject): Promise<KubeObject> {
    const { apiVersion = '', kind = '', metadata } = object;
    const path = await this.#pathOf({ apiVersion, kind, namespace: metadata.namespace });
    return await this.#object({ method: 'POST', path, query: { fieldManager }, body: object });
  }

  async apply(object: KubeObject, options: ApplyOptions): Promise<KubeObject> {
    const { apiVersion = '', kind = '', metadata } = object;
    const ref = { apiVersion, kind, namespace: metadata.namespace, name: metadata.name ?? '' };
    const path = await this.#pathOf({ ...ref, subresource: options.subresource }, options.signal);
    const { force, manager = fieldManager } = options;
    const query = {
      fieldManager: manager,
      force: String(force),
      ...(options.dryRun === true ? { dryRun: 'All' } : {}),
    };
    // JSON is YAML. https://kubernetes.io/docs/reference/using-api/server-side-apply/#serialization
    const contentType = 'application/apply-patch+yaml';
    const request = { method: 'PATCH', path, query, contentType, body: object } as const;
    return await this.#reporting(ref, metadata['resourceVersion'], () =>
      this.#object(request, options.signal),
    );
  }

  async mergePatch(ref: ObjectRef, patch: JsonObject, options: PatchOptions = {}): Promise<KubeObject> {
    const path = await this.#pathOf({ ...ref, subresource: options.subresource }, options.signal);
    const query = { fieldManager: options.manager ?? fieldManager };
    const contentType = 'application/merge-patch+json';
    const request = { method: 'PATCH', path, query, contentType, body: patch } as const;
    return await this.#reporting(ref, ownMember(patch['metadata'], 'resourceVersion'), () =>
      this.#object(request, options.signal),
    );
  }

  async remove(ref: ObjectRef, preconditions: Preconditions, signal?: AbortSignal): Promise<void> {
    await this.#reporting(ref, preconditions.resourceVersion, async () => {
      try {
        await unlessNotFound(() => this.#delete(ref, preconditions, signal));
      } catch (error) {
        if (!isConflict(error) || (await this.#exists(ref, preconditions.uid, error, signal))) throw error;
      }
    });
  }

  /** Reports a conflict before the write rejects with it. */
  async #reporting<T>(ref: UnnamedRef, version: unknown, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (this.#onConflict === undefined || !isConflict(error) || typeof version !== 'string') throw error;
      const { apiVersion, kind, namespace, name = '' } = ref;
      // Without an answer, the next conflict leads here again.
      const served = await this.#discovery.find(apiVersion, kind).catch(() => undefined);
      if (served !== undefined)
        await this.#onConflict({ apiVersion, plural: served.plural, namespace, name }, version);
      throw error;
    }
  }

  async #delete(
    ref: ObjectRef,
    { uid, resourceVersion }: Preconditions,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const path = await this.#pathOf(ref, signal);
    const preconditions = { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions,
      propagationPolicy: 'Background',
    };
    await this.#client.request({ method: 'DELETE', path, body, ...only(signal) });
  }

  /**
   * Returns whether the object with this UID exists. If so, the conflict is about the resourceVersion. Rejects with the
   * conflict if the read fails.
   */
  async #exists(
    ref: ObjectRef,
    uid: string,
    conflict: KubeError,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    try {
      return (await this.read(ref, signal))?.metadata.uid === uid;
    } catch (error) {
      throw error instanceof KubeError ? conflict : error;
    }
  }

  /** Keeps the given namespace even for a cluster-scoped kind: without it, the path would address another object. */
  async #pathOf(ref: UnnamedRef, signal?: AbortSignal): Promise<string> {
    const { apiVersion, kind, namespace, name, subresource } = ref;
    const served = await this.#discovery.find(apiVersion, kind, signal);
    // The kind may be installed soon.
    if (served === undefined) throw new KubeError({ code: 404, reason: 'KindNotServed', retryable: true });
    return resourcePath({ apiVersion, plural: served.plural, namespace, name, subresource });
  }

  async #object(request: KubeRequest, signal?: AbortSignal): Promise<KubeObject> {
    return answeredObject(await this.#client.request({ ...request, ...only(signal) }));
  }
}

interface UnnamedRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  /** Undefined for a collection. */
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

function only(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function isConflict(error: unknown): error is KubeError {
  return error instanceof KubeError && error.code === 409;
}

interface LiveNamespaces {
  /** Returns undefined when the Namespace does not exist. Every other error rejects, because it answers nothing. */
  find(name: string, signal: AbortSignal): Promise<KubeObject | undefined>;
}

export function createNamespaceFinder(client: KubeClient): LiveNamespaces {
  return {
    find: (name, signal) => {
      const path = resourcePath({ apiVersion: 'v1', plural: 'namespaces', name });
      return unlessNotFound(async () =>
        answeredObject(await client.request({ method: 'GET', path, signal })),
      );
    },
  };
}

// Finds the resource name of a kind by discovery, and caches it for a while.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api

export interface ServedKind {
  readonly plural: string;
  readonly namespaced: boolean;
}

export interface Discovery {
  /** Returns undefined for a kind that is not served; discovery is repeated after 30 seconds. */
  find(apiVersion: string, kind: string, signal?: AbortSignal): Promise<ServedKind | undefined>;
  /** Asks at once and replaces the cache. Without an answer, rejects with a KubeError and keeps the cache. */
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

/** Throws a KubeError when the answer is not an object. */
function answeredObject(answer: JsonObject): KubeObject {
  if (isKubeObject(answer)) return answer;
  throw malformedAnswer();
}

function isKubeObject(value: JsonObject): value is JsonObject & KubeObject {
  return isJsonObject(value['metadata']);
}

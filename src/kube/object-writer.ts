// Reads, writes and deletes single objects. Writes use Reeve's field manager unless another is named.
import { fieldManager } from '../schema/names.ts';
import { type JsonObject, ownMember } from '../base/json.ts';
import { KubeError } from '../base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../base/metadata.ts';
import { answeredObject, unlessNotFound, malformedAnswer } from './http/answers.ts';
import type { KubeClient, KubeRequest } from './http/client.ts';
import { resourcePath, groupVersionPath } from './http/https-client.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { SingleFlight } from '../base/single-flight.ts';

interface CallOptions {
  readonly signal?: AbortSignal;
}

interface WriteOptions extends CallOptions {
  /** Asks for the result without changing anything. */
  readonly dryRun?: boolean;
  readonly subresource?: 'status';
  /** The field manager, if it is not that of Reeve. */
  readonly manager?: string;
}

export interface ApplyOptions extends WriteOptions {
  /** Takes over fields from other field managers. */
  readonly force: boolean;
}

interface Preconditions {
  readonly uid: string;
  readonly resourceVersion?: string;
}

/** All methods reject with a KubeError, or with the reason of the signal. */
export interface ObjectWriter {
  /** Returns undefined when the object does not exist, or its kind is not served. */
  read(ref: ObjectRef, options?: CallOptions): Promise<KubeObject | undefined>;
  create(object: KubeObject, options?: CallOptions): Promise<KubeObject>;
  /** Server-side apply: creates the object, or sets the given fields and removes fields of the last apply. */
  apply(object: KubeObject, options: ApplyOptions): Promise<KubeObject>;
  mergePatch(ref: ObjectRef, patch: JsonObject, options?: WriteOptions): Promise<KubeObject>;
  /** Also resolves when that object no longer exists; a changed resourceVersion rejects with code 409. */
  remove(ref: ObjectRef, preconditions: Preconditions, options?: CallOptions): Promise<void>;
}

export function createObjectWriter(client: KubeClient, discovery: Pick<Discovery, 'find'>): ObjectWriter {
  return new DiscoveringWriter(client, discovery);
}

class DiscoveringWriter implements ObjectWriter {
  readonly #client: KubeClient;
  readonly #discovery: Pick<Discovery, 'find'>;

  constructor(client: KubeClient, discovery: Pick<Discovery, 'find'>) {
    this.#client = client;
    this.#discovery = discovery;
  }

  async read(ref: ObjectRef, { signal }: CallOptions = {}): Promise<KubeObject | undefined> {
    return await unlessNotFound(async () => {
      const path = await this.#pathOf(ref, signal);
      return await this.#object({ method: 'GET', path }, signal);
    });
  }

  async create(object: KubeObject, { signal }: CallOptions = {}): Promise<KubeObject> {
    const { apiVersion = '', kind = '', metadata } = object;
    const path = await this.#pathOf({ apiVersion, kind, namespace: metadata.namespace }, signal);
    return await this.#object({ method: 'POST', path, query: { fieldManager }, body: object }, signal);
  }

  async apply(object: KubeObject, options: ApplyOptions): Promise<KubeObject> {
    const { apiVersion = '', kind = '', metadata } = object;
    const ref = { apiVersion, kind, namespace: metadata.namespace, name: metadata.name ?? '' };
    const path = await this.#pathOf({ ...ref, subresource: options.subresource }, options.signal);
    const { force, manager = fieldManager } = options;
    const query = { fieldManager: manager, force: String(force), ...dryRunQuery(options) };
    // JSON is YAML. https://kubernetes.io/docs/reference/using-api/server-side-apply/#serialization
    const contentType = 'application/apply-patch+yaml';
    return await this.#object({ method: 'PATCH', path, query, contentType, body: object }, options.signal);
  }

  async mergePatch(ref: ObjectRef, patch: JsonObject, options: WriteOptions = {}): Promise<KubeObject> {
    const path = await this.#pathOf({ ...ref, subresource: options.subresource }, options.signal);
    const query = { fieldManager: options.manager ?? fieldManager, ...dryRunQuery(options) };
    const contentType = 'application/merge-patch+json';
    return await this.#object({ method: 'PATCH', path, query, contentType, body: patch }, options.signal);
  }

  async remove(ref: ObjectRef, preconditions: Preconditions, options: CallOptions = {}): Promise<void> {
    try {
      await unlessNotFound(() => this.#delete(ref, preconditions, options));
    } catch (error) {
      const isConflict = error instanceof KubeError && error.code === 409;
      if (!isConflict || (await this.#exists(ref, preconditions.uid, options, error))) throw error;
    }
  }

  async #delete(
    ref: ObjectRef,
    { uid, resourceVersion }: Preconditions,
    { signal }: CallOptions,
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

  /** Tells whether the conflict is about the resourceVersion or the UID. Throws the conflict when the read fails. */
  async #exists(ref: ObjectRef, uid: string, options: CallOptions, conflict: KubeError): Promise<boolean> {
    try {
      return (await this.read(ref, options))?.metadata.uid === uid;
    } catch (error) {
      throw error instanceof KubeError ? conflict : error;
    }
  }

  /** Keeps the given namespace even for a cluster-scoped kind: without it, the path would address another object. */
  async #pathOf(ref: UnnamedRef, signal: AbortSignal | undefined): Promise<string> {
    const { apiVersion, kind, namespace, name, subresource } = ref;
    const served = await this.#discovery.find(apiVersion, kind, signal);
    // The kind may be installed soon.
    if (served === undefined) throw new KubeError({ code: 404, reason: 'KindNotServed', retryable: true });
    return resourcePath({ apiVersion, plural: served.plural, namespace, name, subresource });
  }

  async #object(request: KubeRequest, signal: AbortSignal | undefined): Promise<KubeObject> {
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

function dryRunQuery({ dryRun = false }: WriteOptions): Readonly<Record<string, string>> {
  return dryRun ? { dryRun: 'All' } : {};
}

function only(signal: AbortSignal | undefined): CallOptions {
  return signal === undefined ? {} : { signal };
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

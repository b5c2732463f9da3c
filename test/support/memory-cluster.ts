// The store of the sandbox as the reconciler uses it. Tests write to it at once, inject faults and hold watches back.
import { isDeepStrictEqual } from 'node:util';
import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '../../src/base/json.ts';
import type { KubeError } from '../../src/base/kube-error.ts';
import type { KubeObject, ObjectMeta, ObjectRef } from '../../src/base/metadata.ts';
import { fieldManager, managedByLabel, managedByReeve, providerLabels } from '../../src/schema/names.ts';
import { kindOfProvider, nameOfProvider } from '../../src/policy/terms/provider-id.ts';
import type {
  ApplyOptions,
  ObjectWriter,
  PatchOptions,
  Preconditions,
} from '../../src/base/object-writer.ts';
import type { AuditReader, OwnedReader, OwnSecrets } from '../../src/reconcile/ports.ts';
import { createAuthorizer } from '../../src/sandbox/access/authorizer.ts';
import { withManagedFields } from '../../src/sandbox/patch/managed-fields.ts';
import { mergePatched } from '../../src/sandbox/patch/merge-patch.ts';
import type { ObjectRequest, Resource } from '../../src/sandbox/resource.ts';
import { MemoryStore, type Change } from '../../src/sandbox/store.ts';
import { withoutEmpty } from '../../src/sandbox/write/admit.ts';
import { timestamp, type WriteContext } from '../../src/sandbox/write/context.ts';
import { deleteObject, isFinished } from '../../src/sandbox/write/delete.ts';
import { patchObject } from '../../src/sandbox/write/patch.ts';
import { asKubeError, covers, MemoryKinds, refTo, shown, type MemoryWatch } from './memory-objects.ts';

interface Feed extends MemoryWatch {
  readonly pending: (() => void)[];
}

/** A request that changed a resourceVersion. */
export interface Write {
  readonly by: 'reeve' | 'user';
  readonly verb: 'create' | 'update' | 'delete';
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

/** A request of Reeve. */
export interface MemoryRequest {
  readonly verb: 'apply' | 'patch' | 'delete' | 'read' | 'list';
  readonly ref: ObjectRef;
  readonly subresource?: 'status' | undefined;
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Fault = (verb: string, ref: ObjectRef) => KubeError | undefined;

export class MemoryCluster implements ObjectWriter, OwnSecrets, OwnedReader, AuditReader {
  readonly writes: Write[] = [];
  /** Read requests of Reeve. */
  reads = 0;
  /** The number of turns of the event loop that an answer to Reeve takes. */
  latency: () => number = () => 0;
  /** When true, watches hold their events back until `deliver`. */
  isLagging = false;
  /** Kinds whose watches report nothing until `relist`, as on a connection that has gone silent. */
  readonly silent = new Set<string>();
  fault: Fault = () => undefined;
  /** Called when Reeve sends a request, and after the request was handled. */
  before: (request: MemoryRequest) => Promise<void> | void = () => undefined;
  after: (request: MemoryRequest, before: KubeObject | undefined) => void = () => undefined;
  /** Normalizes an applied object, as an API server does with quantities. */
  normalized: (object: KubeObject) => KubeObject = (object) => object;
  readonly #store = new MemoryStore();
  readonly #kinds = new MemoryKinds();
  readonly #feeds: Feed[] = [];
  readonly #context: WriteContext;
  #uids = 0;
  #isUserWriting = false;

  constructor(now: () => Date) {
    this.#context = {
      store: this.#store,
      kinds: this.#kinds,
      authorizer: createAuthorizer(this.#store),
      admission: {
        mutate: (write) => Promise.resolve(write.object),
        validate: () => Promise.resolve(),
      },
      now,
      uid: () => `uid-${(this.#uids += 1)}`,
    };
    this.#store.subscribe((change) => this.#report(change));
  }

  // Requests of tests, sent as another user. They are stored at once, and nothing validates them.

  get(ref: ObjectRef): KubeObject | undefined {
    return this.#store.get(this.#kinds.of(ref), ref.namespace, ref.name);
  }

  list(kind: string, namespace?: string): readonly KubeObject[] {
    return this.#store.list(this.#kinds.of({ apiVersion: 'v1', kind }), namespace);
  }

  /** Creates or replaces the object. Metadata of the server stays. */
  put(object: KubeObject): KubeObject {
    const stored = this.get(refTo(object));
    const resource = this.#kinds.of(refTo(object));
    if (stored === undefined) {
      const creationTimestamp = timestamp(this.#context.now());
      const metadata = { ...object.metadata, uid: this.#context.uid(), creationTimestamp };
      return this.#keep(resource, { ...object, metadata }, undefined);
    }
    const { uid, creationTimestamp, deletionTimestamp, finalizers, generation } = stored.metadata;
    const kept = { uid, creationTimestamp, deletionTimestamp, finalizers, generation };
    const parts = resource.subresources.map((part) => (part === 'finalize' ? 'spec' : part));
    const own = Object.fromEntries(parts.map((part) => [part, stored[part]]));
    const metadata = Object.assign(kept, object.metadata) as ObjectMeta;
    return this.#keep(resource, { ...object, ...own, metadata }, stored);
  }

  change(ref: ObjectRef, patch: JsonObject): KubeObject {
    const stored = this.get(ref);
    if (stored === undefined) throw new Error(`${ref.kind} ${ref.name} does not exist`);
    return this.#keep(this.#kinds.of(ref), mergePatched(stored, withoutUndefined(patch)), stored);
  }

  delete(ref: ObjectRef): void {
    const stored = this.get(ref);
    if (stored === undefined || stored.metadata.deletionTimestamp !== undefined) return;
    const deletionTimestamp = timestamp(this.#context.now());
    const phase =
      ref.kind === 'Namespace' ? { status: { ...(stored['status'] as object), phase: 'Terminating' } } : {};
    const metadata = { ...stored.metadata, deletionTimestamp };
    this.#keep(this.#kinds.of(ref), { ...stored, ...phase, metadata }, stored);
  }

  /** Deletes a terminating namespace, as the namespace controller does in the end. */
  finishNamespace(name: string): void {
    this.#asUser(() => {
      for (const resource of this.#kinds.all()) {
        for (const object of this.#store.list(resource))
          if ((object.kind === 'Namespace' ? object.metadata.name : object.metadata.namespace) === name)
            this.#store.remove(resource, object);
      }
    });
  }

  #keep(resource: Resource, object: KubeObject, stored: KubeObject | undefined): KubeObject {
    const now = this.#context.now();
    const sent = withoutEmpty(withoutUndefined(object) as KubeObject);
    const ready = resource.rules.prepare(sent, stored, now);
    const manager = { name: 'user', subresource: undefined, time: timestamp(now) };
    // The fields of an object have no owners before its first apply.
    const next = stored === undefined ? ready : withManagedFields(resource, ready, stored, manager);
    if (stored !== undefined && isDeepStrictEqual(next, stored)) return stored;
    return this.#asUser(() => {
      const kept =
        stored !== undefined && isFinished(next)
          ? this.#store.remove(resource, stored)
          : this.#store.put(resource, next, stored);
      return kept ?? next;
    });
  }

  #asUser<T>(write: () => T): T {
    this.#isUserWriting = true;
    try {
      return write();
    } finally {
      this.#isUserWriting = false;
    }
  }

  // Watches.

  watch(watch: MemoryWatch): void {
    const feed = { ...watch, pending: [] };
    this.#feeds.push(feed);
    this.#list(feed);
  }

  /** Lists again, as after a 410: pending events are lost, and the complete state is delivered instead. */
  relist(): void {
    this.silent.clear();
    for (const feed of this.#feeds) {
      feed.pending.length = 0;
      this.#list(feed);
    }
  }

  #list(feed: Feed): void {
    const listed = this.#store.list(this.#kinds.of(feed.type)).filter((object) => covers(feed, object));
    const objects = listed.map((object) => shown(feed, object));
    const version = String(this.#store.revision);
    this.#tell(feed, () => feed.sink.replaced(objects, version));
  }

  get hasNews(): boolean {
    return this.#feeds.some(({ pending }) => pending.length > 0);
  }

  /** Returns the next event of a watch that has events. */
  deliver(choose: (count: number) => number = () => 0): void {
    const feeds = this.#feeds.filter(({ pending }) => pending.length > 0);
    feeds[choose(feeds.length)]?.pending.shift()?.();
  }

  #report(change: Change): void {
    const { type, object } = change;
    this.writes.push(writeOf(change, this.#isUserWriting ? 'user' : 'reeve'));
    for (const feed of this.#feeds) {
      if (!covers(feed, object) || this.silent.has(feed.type.kind)) continue;
      const event = type === 'deleted' ? 'removed' : 'changed';
      this.#tell(feed, () => feed.sink[event](shown(feed, object)));
    }
  }

  #tell(feed: Feed, news: () => void): void {
    feed.pending.push(news);
    if (!this.isLagging)
      void setImmediate().then(() => (this.isLagging ? undefined : feed.pending.shift()?.()));
  }

  // Requests of Reeve.

  async apply(sent: KubeObject, options: ApplyOptions): Promise<KubeObject> {
    const { dryRun, subresource, signal, manager = fieldManager, force } = options;
    const body = withoutUndefined(this.normalized(sent));
    const query = new URLSearchParams({ ...writeOptions, fieldManager: manager, force: String(force) });
    if (dryRun === true) query.set('dryRun', 'All');
    const request = { verb: 'apply', ref: refTo(sent), dryRun, subresource, signal } as const;
    return await this.#patch(request, { patchType: 'apply', query, body });
  }

  async mergePatch(ref: ObjectRef, patch: JsonObject, options: PatchOptions = {}): Promise<KubeObject> {
    const query = new URLSearchParams({ ...writeOptions, fieldManager });
    const body = withoutUndefined(patch);
    return await this.#patch({ verb: 'patch', ref, ...options }, { patchType: 'merge', query, body });
  }

  async remove(ref: ObjectRef, preconditions: Preconditions, signal?: AbortSignal): Promise<void> {
    await this.#carryOut({ verb: 'delete', ref, signal }, async () => {
      const body = { preconditions };
      await deleteObject(this.#context, this.#requestOf({ verb: 'delete', ref }, { verb: 'delete', body }));
    });
  }

  async read(ref: ObjectRef, signal?: AbortSignal): Promise<KubeObject | undefined> {
    return await this.#carryOut({ verb: 'read', ref, signal }, () => {
      this.reads += 1;
      return this.get(ref);
    });
  }

  async *listOwnSecrets(signal: AbortSignal): AsyncGenerator<KubeObject> {
    const ref = { apiVersion: 'v1', kind: 'Secret', name: '' };
    const secrets = await this.#carryOut({ verb: 'list', ref, signal }, () => this.list('Secret'));
    yield* secrets.filter(({ metadata }) => metadata.labels?.[managedByLabel] === managedByReeve);
  }

  async *listOwned(
    ...[provider, { type }, signal]: Parameters<OwnedReader['listOwned']>
  ): AsyncGenerator<KubeObject> {
    const ref = { ...type, name: '' };
    const label = providerLabels[kindOfProvider(provider)];
    const listed = await this.#carryOut({ verb: 'list', ref, signal }, () => this.list(type.kind));
    yield* listed.filter(({ metadata }) => metadata.labels?.[label] === nameOfProvider(provider));
  }

  async *listExisting(
    resource: Parameters<AuditReader['listExisting']>[0],
    namespace: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<KubeObject> {
    const { apiVersion, kind } = this.#kinds.named(resource);
    const ref = { apiVersion, kind, name: '', ...(namespace === undefined ? {} : { namespace }) };
    yield* await this.#carryOut({ verb: 'list', ref, signal }, () => this.list(kind, namespace));
  }

  async #patch(request: MemoryRequest, parts: Partial<ObjectRequest>): Promise<KubeObject> {
    return await this.#carryOut(request, async () => {
      const asked = this.#requestOf(request, parts);
      return (await patchObject(this.#context, asked, () => undefined)).object;
    });
  }

  #requestOf({ ref, subresource }: MemoryRequest, parts: Partial<ObjectRequest>): ObjectRequest {
    return {
      user: { username: 'reeve', groups: ['system:masters'] },
      verb: 'patch',
      resource: this.#kinds.of(ref),
      subresource,
      namespace: ref.namespace,
      name: ref.name,
      query: new URLSearchParams(),
      body: undefined,
      patchType: undefined,
      agent: fieldManager,
      warn: () => undefined,
      signal: new AbortController().signal,
      ...parts,
    };
  }

  async #carryOut<T>(request: MemoryRequest, work: () => Promise<T> | T): Promise<T> {
    await this.before(request);
    await this.#travel();
    request.signal?.throwIfAborted();
    const error = this.fault(request.verb, request.ref);
    if (error !== undefined) throw error;
    const before = this.get(request.ref);
    const result = await Promise.resolve(work()).catch((refused: unknown) => {
      throw asKubeError(refused, request.ref);
    });
    this.after(request, before);
    await this.#travel();
    return result;
  }

  async #travel(): Promise<void> {
    for (let turns = this.latency(); turns > 0; turns -= 1) await setImmediate();
  }
}

const writeOptions = { fieldValidation: 'Ignore' };

/** JSON drops undefined fields, as on a real connection. */
function withoutUndefined(object: object): JsonObject {
  return JSON.parse(JSON.stringify(object)) as JsonObject;
}

function writeOf({ type, object, before }: Change, by: Write['by']): Write {
  const { namespace = '', name = '', deletionTimestamp } = object.metadata;
  const isDeleted = deletionTimestamp !== undefined && before?.metadata.deletionTimestamp === undefined;
  const verb = type === 'deleted' || isDeleted ? 'delete' : type === 'added' ? 'create' : 'update';
  const subresource = type === 'modified' && isOnlyStatus(before, object) ? 'status' : '';
  return { by, verb, kind: object.kind ?? '', namespace, name, subresource };
}

/** Returns whether a change was one of the status subresource, which changes nothing else. */
function isOnlyStatus(before: KubeObject | undefined, after: KubeObject): boolean {
  if (before === undefined || before['status'] === after['status']) return false;
  const rest = ({ status: _status, metadata, ...other }: KubeObject): object => {
    const { managedFields: _fields, resourceVersion: _version, ...kept } = metadata;
    return { ...other, metadata: kept };
  };
  return isDeepStrictEqual(rest(before), rest(after));
}

// An API server in memory with the features that the reconciler uses: versions, preconditions, apply, finalizers, watches.
import { isDeepStrictEqual } from 'node:util';
import { setImmediate } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import type { KubeError } from '../../src/base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../../src/base/metadata.ts';
import { managedByLabel, managedByReeve, providerLabels } from '../../src/schema/names.ts';
import { kindOfProvider, nameOfProvider } from '../../src/policy/terms/provider-id.ts';
import type {
  ApplyOptions,
  ObjectWriter,
  PatchOptions,
  Preconditions,
} from '../../src/base/object-writer.ts';
import type { AuditReader, OwnedReader, OwnSecrets } from '../../src/reconcile/ports.ts';
import { mergePatched } from '../../src/sandbox/patch/merge-patch.ts';
import { appliedAccount, changedAccount, isAccount } from './memory-accounts.ts';
import { appliedTo } from './memory-merge.ts';
import {
  checkImmutable,
  checkPreconditions,
  covers,
  clusterScoped,
  failure,
  hasFinalizers,
  idOf,
  onlyStatus,
  refTo,
  shown,
  type MemoryWatch,
  withoutUndefined,
  withoutUndefinedFields,
  withStatus,
} from './memory-objects.ts';

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
  readonly subresource?: string | undefined;
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
  readonly #objects = new Map<string, KubeObject>();
  /** The last apply of Reeve by object. Fields that the next apply leaves out are removed. */
  readonly #applied = new Map<string, JsonObject>();
  readonly #feeds: Feed[] = [];
  readonly #now: () => Date;
  #version = 100;
  #uids = 0;

  constructor(now: () => Date) {
    this.#now = now;
  }

  // Requests of tests, sent as another user.

  get(ref: ObjectRef): KubeObject | undefined {
    return this.#objects.get(idOf(ref));
  }

  list(kind: string, namespace?: string): readonly KubeObject[] {
    return [...this.#objects.values()].filter(
      (object) =>
        object.kind === kind && (namespace === undefined || object.metadata.namespace === namespace),
    );
  }

  /** Creates or replaces the object. Metadata of the server stays. */
  put(object: KubeObject): KubeObject {
    const known = this.get(refTo(object));
    if (known === undefined) return this.#create(object, 'user');
    const { uid, creationTimestamp, deletionTimestamp, finalizers, generation } = known.metadata;
    const kept = { uid, creationTimestamp, deletionTimestamp, finalizers, generation };
    const status = withStatus.has(object.kind ?? '') ? { status: known['status'] } : {};
    const metadata = { ...withoutUndefinedFields(kept), ...object.metadata };
    return this.#store(known, withoutUndefined({ ...object, ...status, metadata }), 'user', '');
  }

  change(ref: ObjectRef, patch: JsonObject): KubeObject {
    return this.#patch(ref, patch, {}, 'user');
  }

  delete(ref: ObjectRef): void {
    const known = this.get(ref);
    if (known !== undefined) this.#delete(known, 'user');
  }

  /** Deletes a terminating namespace, as the namespace controller does in the end. */
  finishNamespace(name: string): void {
    for (const object of this.#objects.values())
      if (object.metadata.namespace === name) this.#remove(object, 'user');
    const known = this.get({ apiVersion: 'v1', kind: 'Namespace', name });
    if (known !== undefined) this.#remove(known, 'user');
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
    const listed = [...this.#objects.values()].filter((object) => covers(feed, object));
    const objects = listed.map((object) => shown(feed, object));
    const version = String(this.#version);
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

  // Requests of Reeve.

  async apply(sent: KubeObject, options: ApplyOptions): Promise<KubeObject> {
    const { dryRun = false, subresource, signal, manager } = options;
    const object = this.normalized(sent);
    const request = { verb: 'apply', ref: refTo(object), dryRun, subresource, signal } as const;
    return await this.#carryOut(request, () =>
      isAccount(object) && manager !== undefined
        ? this.#applyToAccount(object, manager)
        : // An apply under another manager leaves what Reeve has applied alone.
          manager === undefined
          ? this.#apply(object, dryRun, subresource ?? '')
          : this.#patch(refTo(object), { metadata: object.metadata }, {}, 'reeve'),
    );
  }

  async mergePatch(ref: ObjectRef, patch: JsonObject, options: PatchOptions = {}): Promise<KubeObject> {
    return await this.#carryOut({ verb: 'patch', ref, ...options }, () =>
      this.#patch(ref, patch, options, 'reeve'),
    );
  }

  async remove(ref: ObjectRef, preconditions: Preconditions, signal?: AbortSignal): Promise<void> {
    await this.#carryOut({ verb: 'delete', ref, signal }, () => {
      const known = this.get(ref);
      const { uid, resourceVersion = known?.metadata['resourceVersion'] } = preconditions;
      if (known === undefined) throw failure(404);
      if (known.metadata.uid !== uid || known.metadata['resourceVersion'] !== resourceVersion)
        throw failure(409);
      this.#delete(known, 'reeve');
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
    const kinds = {
      roles: 'Role',
      rolebindings: 'RoleBinding',
      secrets: 'Secret',
      serviceaccounts: 'ServiceAccount',
    };
    const kind = kinds[resource];
    const apiVersion = kind.startsWith('Role') ? 'rbac.authorization.k8s.io/v1' : 'v1';
    const ref = { apiVersion, kind, name: '', ...(namespace === undefined ? {} : { namespace }) };
    yield* await this.#carryOut({ verb: 'list', ref, signal }, () => this.list(kind, namespace));
  }

  async #carryOut<T>(request: MemoryRequest, work: () => T): Promise<T> {
    await this.before(request);
    await this.#travel();
    request.signal?.throwIfAborted();
    const error = this.fault(request.verb, request.ref);
    if (error !== undefined) throw error;
    const before = this.get(request.ref);
    const result = work();
    this.after(request, before);
    await this.#travel();
    return result;
  }

  async #travel(): Promise<void> {
    for (let turns = this.latency(); turns > 0; turns -= 1) await setImmediate();
  }

  #applyToAccount(object: KubeObject, manager: string): KubeObject {
    const known = this.get(refTo(object));
    if (known === undefined) throw failure(409);
    checkPreconditions(known, object.metadata.uid, object.metadata['resourceVersion']);
    return this.#store(known, appliedAccount(known, object, manager), 'reeve', '');
  }

  #apply(object: KubeObject, dryRun: boolean, subresource: string): KubeObject {
    const known = this.get(refTo(object));
    const { uid, resourceVersion, ...metadata } = object.metadata;
    const wanted = { ...object, metadata };
    if (known === undefined) {
      if (uid !== undefined || subresource !== '') throw failure(uid === undefined ? 404 : 409);
      return this.#create(wanted, 'reeve', dryRun);
    }
    checkPreconditions(known, uid, resourceVersion);
    const id = `${known.metadata.uid ?? ''}/${subresource}`;
    const next = onlyStatus(known, appliedTo(known, this.#applied.get(id) ?? {}, wanted), subresource);
    if (dryRun) return next;
    this.#applied.set(id, wanted);
    return this.#store(known, next, 'reeve', subresource);
  }

  #patch(
    ref: ObjectRef,
    patch: JsonObject,
    { subresource = '' }: { readonly subresource?: string },
    by: Write['by'],
  ): KubeObject {
    const known = this.get(ref);
    if (known === undefined) throw failure(404);
    const { uid, resourceVersion } = isJsonObject(patch['metadata']) ? patch['metadata'] : {};
    checkPreconditions(known, uid, resourceVersion);
    // JSON drops undefined fields, as on a real connection.
    const sent: unknown = JSON.parse(JSON.stringify(patch));
    const next = onlyStatus(known, mergePatched(known, sent), subresource);
    return this.#store(known, isAccount(known) ? changedAccount(known, next) : next, by, subresource);
  }

  #create(object: KubeObject, by: Write['by'], dryRun = false): KubeObject {
    this.#checkNamespace(object);
    const name = object.metadata.name ?? '';
    const isNamespace = object.kind === 'Namespace';
    const labels = isNamespace
      ? { 'kubernetes.io/metadata.name': name, ...object.metadata.labels }
      : object.metadata.labels;
    const created: KubeObject = withoutUndefined({
      ...object,
      ...(isNamespace ? { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } } : {}),
      metadata: withoutUndefinedFields({
        ...object.metadata,
        labels,
        uid: `uid-${(this.#uids += 1)}`,
        creationTimestamp: this.#now()
          .toISOString()
          .replace(/\.\d+Z$/, 'Z'),
        ...(object.apiVersion?.startsWith('reeve.dev/') === true ? { generation: 1 } : {}),
      }),
    });
    if (dryRun) return created;
    if (by === 'reeve') this.#applied.set(`${created.metadata.uid ?? ''}/`, object);
    return this.#commit(created, by, 'create', '');
  }

  #checkNamespace({ kind = '', metadata: { namespace = '' } }: KubeObject): void {
    if (clusterScoped.has(kind)) return;
    const found = this.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace });
    if (found === undefined) throw failure(404);
    if (found.metadata.deletionTimestamp !== undefined) throw failure(403, ['NamespaceTerminating']);
  }

  #store(known: KubeObject, next: KubeObject, by: Write['by'], subresource: string): KubeObject {
    checkImmutable(known, next);
    const plain = {
      ...next,
      metadata: { ...next.metadata, resourceVersion: known.metadata['resourceVersion'] },
    };
    if (isDeepStrictEqual(plain, known)) return known;
    const generation = known.metadata['generation'];
    const isOurs = typeof generation === 'number' && !isDeepStrictEqual(known['spec'], next['spec']);
    const metadata = isOurs ? { ...plain.metadata, generation: generation + 1 } : plain.metadata;
    const isOver = metadata.deletionTimestamp !== undefined && !hasFinalizers({ ...plain, metadata });
    if (isOver && known.kind !== 'Namespace') return this.#remove({ ...plain, metadata }, by);
    return this.#commit({ ...plain, metadata }, by, 'update', subresource);
  }

  #delete(known: KubeObject, by: Write['by']): void {
    if (known.metadata.deletionTimestamp !== undefined) return;
    if (!hasFinalizers(known) && known.kind !== 'Namespace') {
      this.#remove(known, by);
      return;
    }
    const deletionTimestamp = this.#now()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z');
    const phase =
      known.kind === 'Namespace' ? { status: { ...(known['status'] as object), phase: 'Terminating' } } : {};
    this.#commit(
      { ...known, ...phase, metadata: { ...known.metadata, deletionTimestamp } },
      by,
      'delete',
      '',
    );
  }

  #remove(known: KubeObject, by: Write['by']): KubeObject {
    const last = { ...known, metadata: { ...known.metadata, resourceVersion: this.#nextVersion() } };
    this.#objects.delete(idOf(refTo(known)));
    this.#note(last, by, 'delete', '');
    for (const feed of this.#listening(last)) this.#tell(feed, () => feed.sink.removed(shown(feed, last)));
    return last;
  }

  #commit(object: KubeObject, by: Write['by'], verb: Write['verb'], subresource: string): KubeObject {
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: this.#nextVersion() } };
    this.#objects.set(idOf(refTo(stored)), stored);
    this.#note(stored, by, verb, subresource);
    for (const feed of this.#listening(stored))
      this.#tell(feed, () => feed.sink.changed(shown(feed, stored)));
    return stored;
  }

  #note(object: KubeObject, by: Write['by'], verb: Write['verb'], subresource: string): void {
    const { namespace = '', name = '' } = object.metadata;
    this.writes.push({ by, verb, kind: object.kind ?? '', namespace, name, subresource });
  }

  #listening(object: KubeObject): readonly Feed[] {
    return this.#feeds.filter((each) => covers(each, object) && !this.silent.has(each.type.kind));
  }

  #tell(feed: Feed, news: () => void): void {
    feed.pending.push(news);
    if (!this.isLagging)
      void setImmediate().then(() => (this.isLagging ? undefined : feed.pending.shift()?.()));
  }

  #nextVersion(): string {
    this.#version += 1;
    return String(this.#version);
  }
}

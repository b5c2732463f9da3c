// Keeps the sources of shares: the metadata of all objects of their kinds, and the content only of those that a share names.
import type { KubeObject } from '../../base/metadata.ts';
import { uncopiedTypes } from '../../api/secret-share/target.ts';
import { type WatchSink, isNewerResourceVersion } from '../../base/watch-sink.ts';
import type { ObjectType } from '../../base/object-type.ts';
import type { CompiledShare, SourceRef } from '../../policy/compile/compile-share.ts';
import { shareIn } from '../../policy/compile/load-provider.ts';
import { copyOf, unavailable, type CopyState } from '../../policy/plan/copy.ts';
import type { PlanContext } from '../ports.ts';

/** `Secret/reeve-shared/regcred`. */
export type SourceId = `${WatchId}/${string}`;

/** `Secret/reeve-shared`. */
type WatchId = `${string}/${string}`;

interface Version {
  readonly uid: string;
  readonly resourceVersion: string;
}

interface Payload extends Version {
  readonly source: KubeObject;
}

/** A copy, and the payloads from which it was derived. */
interface DerivedCopy {
  readonly payloads: readonly Payload[];
  readonly copy: CopyState;
}

const unread: CopyState = { kind: 'unread' };

/** Payloads leave this class only as copies. Copies go into writes and nowhere else. */
export class Sources {
  readonly #context: PlanContext;
  readonly #synced = new Set<WatchId>();
  readonly #versions = new Map<SourceId, Version>();
  readonly #payloads = new Map<SourceId, Payload>();
  readonly #copies = new WeakMap<CompiledShare, DerivedCopy>();
  readonly #reading = new Map<SourceId, Promise<void>>();
  readonly #listeners: ((id: SourceId) => void)[] = [];

  constructor(context: PlanContext) {
    this.#context = context;
    context.cluster.subscribe({
      affecting: ({ before }) => {
        if (shareIn(before?.definition) !== undefined) this.#dropUnnamed();
      },
    });
  }

  /** Calls the listener when a source is created, changed or deleted. */
  subscribe(listener: (id: SourceId) => void): void {
    this.#listeners.push(listener);
  }

  /** Returns whether the watch of this kind in this namespace has synced. */
  isSyncedIn(type: ObjectType, namespace: string): boolean {
    return this.#synced.has(watchId(type, namespace));
  }

  /** Returns the sink for a watch of the metadata of all objects of the kind in this namespace. */
  sink(type: ObjectType, namespace: string): WatchSink {
    const watch = watchId(type, namespace);
    return {
      replaced: (objects, resourceVersion, isRestored = false) => {
        if (isRestored) this.#forget(watch);
        this.#replaced(watch, objects, resourceVersion);
      },
      changed: (object) => this.#changed(watch, object),
      removed: ({ metadata }) => {
        const id: SourceId = `${watch}/${metadata.name ?? ''}`;
        if (this.#versions.get(id)?.uid === metadata.uid) this.#deleted(id);
      },
    };
  }

  copyStateOf(share: CompiledShare): CopyState {
    const states = share.sources.map((source) => this.#payloadOf(source));
    const lacking = states.filter((each) => 'kind' in each);
    const state = lacking.find(({ kind }) => kind === 'unavailable') ?? lacking[0];
    if (state !== undefined) return state;
    const payloads = states.filter((each) => 'source' in each);
    const known = this.#copies.get(share);
    const now = this.#context.clock.now();
    const isSameSource = known?.payloads.every((each, index) => each === payloads[index]) === true;
    if (isSameSource && now.getTime() < nextExpiryOf(known.copy)) return known.copy;
    const copy = copyOf(
      share,
      payloads.map(({ source }) => source),
      now,
    );
    this.#copies.set(share, { payloads, copy });
    return copy;
  }

  /** Returns the payload of a source, or why there is none. */
  #payloadOf(source: SourceRef): Payload | CopyState {
    const { type, namespace } = source;
    if (!this.#context.install.sourceNamespaces.includes(namespace)) return notAllowed(namespace);
    const id = sourceId(source);
    const version = this.#versions.get(id);
    if (version === undefined) return this.isSyncedIn(type, namespace) ? missing(source) : unwatched(source);
    const payload = this.#payloads.get(id);
    return payload === undefined || !isSame(payload, version) ? unread : payload;
  }

  /** Reads the payloads. Callers at the same time share one request. Rejects with a KubeError. */
  async read({ sources }: CompiledShare, signal: AbortSignal): Promise<void> {
    const missingOnes = sources.filter((source) => this.#payloadOf(source) === unread);
    await Promise.all(missingOnes.map(async (source) => await this.#readOnce(source, signal)));
  }

  async #readOnce(source: SourceRef, signal: AbortSignal): Promise<void> {
    const id = sourceId(source);
    const reading = this.#reading.get(id) ?? this.#read(id, source, signal);
    this.#reading.set(id, reading);
    await reading;
  }

  /** Drops the payloads that no share names any more. */
  #dropUnnamed(): void {
    const named = this.#named();
    for (const id of this.#payloads.keys()) if (!named.has(id)) this.#payloads.delete(id);
  }

  #named(): ReadonlySet<SourceId> {
    const { shares } = this.#context.cluster.snapshot().shares;
    return new Set(shares.flatMap(({ sources }) => sources.map(sourceId)));
  }

  async #read(id: SourceId, { type, namespace, name }: SourceRef, signal: AbortSignal): Promise<void> {
    try {
      const source = await this.#context.writer.read({ ...type, namespace, name }, signal);
      if (source === undefined) this.#deleted(id);
      else this.#keep(id, source);
    } finally {
      this.#reading.delete(id);
    }
  }

  #keep(id: SourceId, source: KubeObject): void {
    const version = versionOf(source);
    const watched = this.#versions.get(id);
    // The source was deleted during the read. Or the answer is older than the watch, and the source must be read again.
    if (watched === undefined || isNewerResourceVersion(watched.resourceVersion, version.resourceVersion))
      return;
    this.#versions.set(id, version);
    if (this.#isNamed(id)) this.#payloads.set(id, { ...version, source: copyable(source) });
    // Copies of the previous version must be written again.
    if (!isSame(watched, version)) this.#notify(id);
  }

  /** The last share that names the source can be deleted during the read. */
  #isNamed(id: SourceId): boolean {
    return this.#named().has(id);
  }

  /** `listedAt`: the version of the list with the source. A known source wins only if it is newer than the list. */
  #changed(watch: WatchId, source: KubeObject, listedAt?: string): void {
    const id: SourceId = `${watch}/${source.metadata.name ?? ''}`;
    const version = versionOf(source);
    const known = this.#versions.get(id);
    const isOlder =
      known !== undefined && !isNewerResourceVersion(version.resourceVersion, known.resourceVersion);
    if (isOlder && (listedAt === undefined || isNewerResourceVersion(known.resourceVersion, listedAt)))
      return;
    if (known !== undefined && isSame(known, version)) return;
    this.#versions.set(id, version);
    this.#notify(id);
  }

  #forget(watch: WatchId): void {
    for (const id of this.#versions.keys()) {
      if (!id.startsWith(`${watch}/`)) continue;
      // Version 0 lets any version replace it, even an older one. Until then, the source counts as existing.
      this.#versions.set(id, { uid: '', resourceVersion: '0' });
      this.#payloads.delete(id);
    }
  }

  #deleted(id: SourceId): void {
    this.#payloads.delete(id);
    if (this.#versions.delete(id)) this.#notify(id);
  }

  #notify(id: SourceId): void {
    for (const listener of this.#listeners) listener(id);
  }

  #replaced(watch: WatchId, listed: readonly KubeObject[], resourceVersion: string): void {
    const present = new Set(listed.map(({ metadata }): SourceId => `${watch}/${metadata.name ?? ''}`));
    for (const id of this.#versions.keys())
      if (id.startsWith(`${watch}/`) && !present.has(id)) this.#deleted(id);
    for (const source of listed) this.#changed(watch, source, resourceVersion);
    if (this.#synced.has(watch)) return;
    this.#synced.add(watch);
    // Only now a missing source is known to be missing.
    for (const id of this.#named())
      if (id.startsWith(`${watch}/`) && !this.#versions.has(id)) this.#notify(id);
  }
}

/** Returns when the copy must be derived again from the same sources. */
export function nextExpiryOf(copy: CopyState): number {
  return (copy.kind === 'ready' ? copy.payload.bundle?.nextExpiry : undefined) ?? Infinity;
}

/** Drops the data of a type that is never copied. Its type is enough for the status. */
function copyable(secret: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, type } = secret;
  if (typeof type !== 'string' || !uncopiedTypes.includes(type)) return secret;
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata,
    type,
  };
}

export function sourceId({ type, namespace, name }: SourceRef): SourceId {
  return `${watchId(type, namespace)}/${name}`;
}

function watchId({ kind }: ObjectType, namespace: string): WatchId {
  return `${kind}/${namespace}`;
}

function versionOf({ metadata: { uid = '', resourceVersion } }: KubeObject): Version {
  return { uid, resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '' };
}

function isSame(a: Version, b: Version): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion;
}

function notAllowed(namespace: string): CopyState {
  return unavailable('SourceNotAllowed', `this installation has no sources in namespace ${namespace}`);
}

function unwatched({ type, namespace }: SourceRef): CopyState {
  return unavailable('SourceUnreadable', `Reeve cannot watch the ${type.kind}s of namespace ${namespace}`);
}

function missing({ type, namespace, name }: SourceRef): CopyState {
  return unavailable('SourceMissing', `there is no ${type.kind} ${namespace}/${name}`);
}

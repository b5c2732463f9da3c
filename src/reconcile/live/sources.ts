// Keeps the source Secrets of shares: the metadata of all Secrets, and the content only of Secrets that a share names.
import type { KubeObject } from '../../base/metadata.ts';
import { uncopiedTypes } from '../../api/secret-share/target.ts';
import { type WatchSink, isNewerResourceVersion } from '../../base/watch-sink.ts';
import type { CompiledShare } from '../../policy/compile/compile-policy.ts';
import { shareIn } from '../../policy/compile/load-provider.ts';
import { copyOf, unavailable, type CopyState } from '../../policy/plan/copy.ts';
import type { PlanContext } from '../ports.ts';

export type SourceId = `${string}/${string}`;

type SourceRef = CompiledShare['sources'][number];

interface Version {
  readonly uid: string;
  readonly resourceVersion: string;
}

interface Payload extends Version {
  readonly secret: KubeObject;
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
  readonly #unsynced: Set<string>;
  readonly #versions = new Map<SourceId, Version>();
  readonly #payloads = new Map<SourceId, Payload>();
  readonly #copies = new WeakMap<CompiledShare, DerivedCopy>();
  readonly #reading = new Map<SourceId, Promise<void>>();
  readonly #listeners: ((id: SourceId) => void)[] = [];

  constructor(context: PlanContext) {
    this.#context = context;
    this.#unsynced = new Set(context.install.sourceNamespaces);
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

  /** Returns whether the watch of this namespace has synced. */
  isSyncedIn(namespace: string): boolean {
    return !this.#unsynced.has(namespace);
  }

  /** Returns the sink for a watch of the metadata of all Secrets in this namespace. */
  sink(namespace: string): WatchSink {
    return {
      replaced: (secrets, resourceVersion, isRestored = false) => {
        if (isRestored) this.#forget(namespace);
        this.#replaced(namespace, secrets, resourceVersion);
      },
      changed: (secret) => this.#changed(secret),
      removed: ({ metadata }) => {
        const id = sourceId(namespace, metadata.name ?? '');
        if (this.#versions.get(id)?.uid === metadata.uid) this.#deleted(id);
      },
    };
  }

  copyStateOf(share: CompiledShare): CopyState {
    const states = share.sources.map((source) => this.#payloadOf(source));
    const lacking = states.filter((each) => 'kind' in each);
    const state = lacking.find(({ kind }) => kind === 'unavailable') ?? lacking[0];
    if (state !== undefined) return state;
    const payloads = states.filter((each) => 'secret' in each);
    const known = this.#copies.get(share);
    if (known?.payloads.every((each, index) => each === payloads[index]) === true) return known.copy;
    const copy = copyOf(
      share,
      payloads.map(({ secret }) => secret),
    );
    this.#copies.set(share, { payloads, copy });
    return copy;
  }

  /** Returns the payload of a source, or why there is none. */
  #payloadOf({ namespace, name }: SourceRef): Payload | CopyState {
    if (!this.#context.install.sourceNamespaces.includes(namespace)) return notAllowed(namespace);
    const id = sourceId(namespace, name);
    const version = this.#versions.get(id);
    if (version === undefined) return this.isSyncedIn(namespace) ? missing(id) : unwatched(namespace);
    const payload = this.#payloads.get(id);
    return payload === undefined || !isSame(payload, version) ? unread : payload;
  }

  /** Reads the payloads. Callers at the same time share one request. Rejects with a KubeError. */
  async read({ sources }: CompiledShare, signal: AbortSignal): Promise<void> {
    const missingOnes = sources.filter((source) => this.#payloadOf(source) === unread);
    await Promise.all(missingOnes.map(async (source) => await this.#readOnce(source, signal)));
  }

  async #readOnce(source: SourceRef, signal: AbortSignal): Promise<void> {
    const id = sourceId(source.namespace, source.name);
    const reading = this.#reading.get(id) ?? this.#read(id, source, signal);
    this.#reading.set(id, reading);
    await reading;
  }

  /** Drops the payloads that no share names any more. */
  #dropUnnamed(): void {
    const { shares } = this.#context.cluster.snapshot().shares;
    const named = new Set(
      shares.flatMap(({ sources }) => sources.map(({ namespace, name }) => sourceId(namespace, name))),
    );
    for (const id of this.#payloads.keys()) if (!named.has(id)) this.#payloads.delete(id);
  }

  async #read(id: SourceId, { namespace, name }: SourceRef, signal: AbortSignal): Promise<void> {
    try {
      const secret = await this.#context.writer.read(
        { apiVersion: 'v1', kind: 'Secret', namespace, name },
        signal,
      );
      if (secret === undefined) this.#deleted(id);
      else this.#keep(id, secret);
    } finally {
      this.#reading.delete(id);
    }
  }

  #keep(id: SourceId, secret: KubeObject): void {
    const version = versionOf(secret);
    const watched = this.#versions.get(id);
    // The Secret was deleted during the read. Or the answer is older than the watch, and the Secret must be read again.
    if (watched === undefined || isNewerResourceVersion(watched.resourceVersion, version.resourceVersion))
      return;
    this.#versions.set(id, version);
    if (this.#isNamed(id)) this.#payloads.set(id, { ...version, secret: copyable(secret) });
    // Copies of the previous version must be written again.
    if (!isSame(watched, version)) this.#notify(id);
  }

  /** The last share that names the Secret can be deleted during the read. */
  #isNamed(id: SourceId): boolean {
    return this.#context.cluster
      .snapshot()
      .shares.shares.some(({ sources }) =>
        sources.some(({ namespace, name }) => sourceId(namespace, name) === id),
      );
  }

  /** `listedAt`: the version of the list with the Secret. A known Secret wins only if it is newer than the list. */
  #changed(secret: KubeObject, listedAt?: string): void {
    const id = sourceId(secret.metadata.namespace ?? '', secret.metadata.name ?? '');
    const version = versionOf(secret);
    const known = this.#versions.get(id);
    const isOlder =
      known !== undefined && !isNewerResourceVersion(version.resourceVersion, known.resourceVersion);
    if (isOlder && (listedAt === undefined || isNewerResourceVersion(known.resourceVersion, listedAt)))
      return;
    if (known !== undefined && isSame(known, version)) return;
    this.#versions.set(id, version);
    this.#notify(id);
  }

  #forget(namespace: string): void {
    for (const id of this.#versions.keys()) {
      if (!id.startsWith(`${namespace}/`)) continue;
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

  #replaced(namespace: string, secrets: readonly KubeObject[], resourceVersion: string): void {
    const present = new Set(secrets.map(({ metadata }) => sourceId(namespace, metadata.name ?? '')));
    for (const id of this.#versions.keys())
      if (id.startsWith(`${namespace}/`) && !present.has(id)) this.#deleted(id);
    for (const secret of secrets) this.#changed(secret, resourceVersion);
    this.#unsynced.delete(namespace);
  }
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

export function sourceId(namespace: string, name: string): SourceId {
  return `${namespace}/${name}`;
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

function unwatched(namespace: string): CopyState {
  return unavailable('SourceUnreadable', `Reeve cannot watch the Secrets of namespace ${namespace}`);
}

function missing(id: SourceId): CopyState {
  return unavailable('SourceMissing', `there is no Secret ${id}`);
}

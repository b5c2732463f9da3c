// Keeps our finalizer on policies and shares from before their first object until their last one is gone.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
import { KubeError } from '../base/kube-error.ts';
import type { KubeObject } from '../base/kube-object.ts';
import { apiVersion, cleanupFinalizer } from '../api/names.ts';
import { isTerminating } from '../base/metadata.ts';
import {
  kindOfProvider,
  nameOfProvider,
  type ProviderId,
  type ProviderState,
} from '../policy/terms/provider-id.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import { wasRestored } from './changes.ts';
import type { ObjectWriter, ReconcileObserver } from './ports.ts';

export interface FinalizersOptions {
  readonly cluster: Pick<LiveCluster, 'owner' | 'subscribe'>;
  readonly writer: Pick<ObjectWriter, 'read' | 'mergePatch'>;
  readonly observer: Pick<ReconcileObserver, 'wroteOwn'>;
}

export class Finalizers {
  readonly #options: FinalizersOptions;
  readonly #adding = new Map<ProviderId, Promise<boolean>>();
  /** UID and version of owners on which we have put it, until their watch tells of it. */
  readonly #added = new Map<ProviderId, string>();
  /** How many objects are being made in the name of an owner at this moment. */
  readonly #making = new Map<ProviderId, number>();

  constructor(options: FinalizersOptions) {
    this.#options = options;
    options.cluster.subscribe((change) => {
      // The finalizer that we added after the backup was taken is lost.
      if (change.kind !== 'namespace' && wasRestored(change)) this.#added.delete(change.id);
    });
  }

  isMaking(owner: ProviderId): boolean {
    return this.#making.has(owner);
  }

  /**
   * Does the work once the finalizer stands, and keeps it there meanwhile. False: the owner may not have objects any more.
   * Rejects with a KubeError, or as the work does.
   */
  async holding(owner: ProviderId, signal: AbortSignal, work: () => Promise<void>): Promise<boolean> {
    this.#making.set(owner, (this.#making.get(owner) ?? 0) + 1);
    try {
      if (!(await this.ensure(owner, signal)) || !this.#mayHaveObjects(owner)) return false;
      await work();
      return true;
    } finally {
      const left = (this.#making.get(owner) ?? 0) - 1;
      if (left > 0) this.#making.set(owner, left);
      else this.#making.delete(owner);
    }
  }

  /** Puts it on an owner that lacks it. False: the owner goes, or is gone, whatever the watch has told so far. */
  async ensure(owner: ProviderId, signal: AbortSignal): Promise<boolean> {
    const state = this.#stateOf(owner);
    if (state === undefined || state.isDeleting) return false;
    if (state.hasFinalizer || this.#added.get(owner) === versionOf(state)) return true;
    const adding = this.#adding.get(owner) ?? this.#add(owner, state, signal);
    this.#adding.set(owner, adding);
    return await adding;
  }

  /** Takes it off an owner that goes. */
  async remove(owner: ProviderId, signal: AbortSignal): Promise<void> {
    const state = this.#stateOf(owner);
    if (state?.isDeleting !== true || !state.hasFinalizer) return;
    await this.#change(owner, state, false, signal);
    this.#added.delete(owner);
  }

  #stateOf(owner: ProviderId): ProviderState | undefined {
    return this.#options.cluster.owner(owner)?.state;
  }

  #mayHaveObjects(owner: ProviderId): boolean {
    const state = this.#stateOf(owner);
    return state !== undefined && !state.isDeleting && state.isValid;
  }

  async #add(owner: ProviderId, state: ProviderState, signal: AbortSignal): Promise<boolean> {
    try {
      const isThere = await this.#change(owner, state, true, signal);
      if (isThere) this.#added.set(owner, versionOf(state));
      return isThere;
    } finally {
      this.#adding.delete(owner);
    }
  }

  /** Others may have finalizers there too, so the list is read and written back in the version that was read. */
  async #change(
    owner: ProviderId,
    { uid }: ProviderState,
    isWanted: boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { writer, observer } = this.#options;
    const ref = { apiVersion, kind: kindOfProvider(owner), name: nameOfProvider(owner) };
    const object = await writer.read(ref, signal);
    if (object?.metadata.uid !== uid) return false;
    const before = finalizersOf(object);
    if (before.includes(cleanupFinalizer) === isWanted) return true;
    // None can be added to what is being deleted.
    if (isWanted && isTerminating(object)) return false;
    const others = before.filter((each) => each !== cleanupFinalizer);
    const finalizers = isWanted ? [...others, cleanupFinalizer] : others;
    try {
      const { resourceVersion } = object.metadata;
      await writer.mergePatch(ref, { metadata: { resourceVersion, finalizers } }, { signal });
    } catch (error) {
      if (error instanceof KubeError && error.code === 404) return false;
      throw error;
    }
    observer.wroteOwn('finalizer');
    return true;
  }
}

/** The version that lacks it: while that is all the watch has told, our own write is still on its way to us. */
function versionOf({ uid, resourceVersion }: ProviderState): string {
  return `${uid}/${resourceVersion}`;
}

function finalizersOf({ metadata }: KubeObject): readonly string[] {
  const { finalizers } = metadata;
  return Array.isArray(finalizers) ? finalizers.filter((each) => typeof each === 'string') : [];
}

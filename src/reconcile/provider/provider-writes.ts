// Writes the status of a provider, with as few requests as possible, and its finalizer.
import { KubeError } from '../../base/kube-error.ts';
import type { JsonObject } from '../../base/json.ts';
import { type KubeObject, isTerminating } from '../../base/metadata.ts';
import {
  providerRef,
  type ProviderId,
  type ProviderState,
  kindOfProvider,
  namespaceOfProvider,
  shortName,
} from '../../policy/terms/provider-id.ts';
import { statusPatch, type StatusFacts } from '../../policy/status/provider-status.ts';
import type { ReconcileContext } from '../ports.ts';
import { isNewerResourceVersion } from '../../base/watch-sink.ts';
import { wasRestored } from '../dispatcher.ts';
import { type ProviderDefinition, policyIn } from '../../policy/compile/load-provider.ts';
import { providerConditions } from '../../policy/status/provider-conditions.ts';
import { cleanupFinalizer } from '../../schema/names.ts';

interface Stored {
  readonly uid: string | undefined;
  readonly resourceVersion: string;
  readonly status: unknown;
}

export class ProviderStatuses {
  readonly #context: ReconcileContext;
  readonly #known = new Map<ProviderId, Stored>();

  constructor(context: ReconcileContext) {
    this.#context = context;
    context.cluster.subscribe({
      provider: (change) => {
        // The status that we wrote after the backup was taken is lost.
        if (wasRestored(change)) this.forget(change.id);
      },
    });
  }

  /** Forgets everything, because another leader may write the statuses from now on. */
  clear(): void {
    this.#known.clear();
  }

  forget(provider: ProviderId): void {
    this.#known.delete(provider);
  }

  /** Writes the result of `statusOf` if it differs from the stored status. Rejects with a KubeError. */
  async keep(
    { id, uid, resourceVersion }: ProviderState,
    statusOf: (stored: unknown) => JsonObject,
    signal: AbortSignal,
  ): Promise<boolean> {
    const known = this.#known.get(id);
    const isCurrent = known?.uid === uid && !isNewerResourceVersion(resourceVersion, known.resourceVersion);
    const stored = isCurrent ? known : await this.#read(id, signal);
    if (stored?.uid !== uid) return false;
    const patch = statusPatch(stored.status, statusOf(stored.status));
    if (patch === undefined) return false;
    await this.#write(id, stored, patch, signal);
    return true;
  }

  async #read(id: ProviderId, signal: AbortSignal): Promise<Stored | undefined> {
    const object = await this.#context.writer.read(providerRef(id), signal);
    return object === undefined ? undefined : this.#remember(id, object);
  }

  async #write(
    id: ProviderId,
    { resourceVersion }: Stored,
    status: JsonObject,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const patch = { metadata: { resourceVersion }, status };
      this.#remember(
        id,
        await this.#context.writer.mergePatch(providerRef(id), patch, { subresource: 'status', signal }),
      );
    } catch (error) {
      // The stored status may differ from our record, for example after a conflict.
      if (error instanceof KubeError) this.forget(id);
      throw error;
    }
    this.#context.observer.wroteOwn('status');
  }

  #remember(id: ProviderId, object: KubeObject): Stored {
    const { uid, resourceVersion } = object.metadata;
    const stored = {
      uid,
      resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
      status: object['status'],
    };
    this.#known.set(id, stored);
    return stored;
  }
}

// Keeps the numbers of the last status of each provider, for the metrics.

type Numbers = ReturnType<typeof numbersOf>;

export class StatusNumbers {
  readonly #numbers = new Map<ProviderId, Numbers>();

  set(facts: StatusFacts, definition: ProviderDefinition | undefined, nextExpiry: number | undefined): void {
    this.#numbers.set(facts.state.id, numbersOf(facts, definition, nextExpiry));
  }

  delete(provider: ProviderId): void {
    this.#numbers.delete(provider);
  }

  clear(): void {
    this.#numbers.clear();
  }

  all(): readonly Numbers[] {
    return [...this.#numbers.values()];
  }
}

function numbersOf(
  facts: StatusFacts,
  definition: ProviderDefinition | undefined,
  nextExpiry: number | undefined,
) {
  const { state, matched, counts, held, violations } = facts;
  const policy = policyIn(definition)?.compiled;
  return {
    kind: kindOfProvider(state.id),
    name: shortName(state.id),
    tenant: namespaceOfProvider(state.id),
    isReady: providerConditions(facts).some(({ type, status }) => type === 'Ready' && status === 'True'),
    matched,
    ...counts,
    held: held?.count ?? 0,
    violations: policy === undefined ? {} : violations.byResource,
    exceptionsEnd: [...(policy?.exceptions ?? []), ...(policy?.overrides ?? [])].flatMap(
      ({ expiresAt }) => expiresAt ?? [],
    ),
    grantsEnd: nextExpiry,
  };
}

// Keeps our finalizer on a provider from before the creation of its first object until the deletion of its last one.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/

export class Finalizers {
  readonly #context: ReconcileContext;
  /** Keys are UIDs, because a provider that was created again must not get the answer for its namesake. */
  readonly #adding = new Map<string, Promise<boolean>>();
  /** UID and version of each provider that got our finalizer, until its watch reports the finalizer. */
  readonly #added = new Map<ProviderId, string>();
  /** The number of objects that are being created for each provider. */
  readonly #creating = new Map<ProviderId, number>();

  constructor(context: ReconcileContext) {
    this.#context = context;
    context.cluster.subscribe({
      provider: (change) => {
        // The finalizer that we added after the backup was taken is lost.
        if (wasRestored(change)) this.#added.delete(change.id);
      },
    });
  }

  isCreatingFor(provider: ProviderId): boolean {
    return this.#creating.has(provider);
  }

  /**
   * Adds the finalizer, then does the work, and keeps the finalizer until the work has ended. Returns false without the work if
   * the provider may no longer own objects. Rejects with a KubeError, or as the work does.
   */
  async holding(provider: ProviderId, signal: AbortSignal, work: () => Promise<void>): Promise<boolean> {
    this.#creating.set(provider, (this.#creating.get(provider) ?? 0) + 1);
    try {
      if (!(await this.ensure(provider, signal)) || !this.#mayHaveObjects(provider)) return false;
      await work();
      return true;
    } finally {
      const left = (this.#creating.get(provider) ?? 0) - 1;
      if (left > 0) this.#creating.set(provider, left);
      else this.#creating.delete(provider);
    }
  }

  /** Adds the finalizer if it is missing. Returns false if the provider is deleted or being deleted. */
  async ensure(provider: ProviderId, signal: AbortSignal): Promise<boolean> {
    const state = this.#stateOf(provider);
    if (state === undefined || state.isDeleting) return false;
    if (state.hasFinalizer || this.#added.get(provider) === versionOf(state)) return true;
    const adding = this.#adding.get(state.uid) ?? this.#add(provider, state, signal);
    this.#adding.set(state.uid, adding);
    return await adding;
  }

  /** Removes the finalizer of a provider that is being deleted. */
  async remove(provider: ProviderId, signal: AbortSignal): Promise<void> {
    const state = this.#stateOf(provider);
    if (state?.isDeleting !== true || !state.hasFinalizer) return;
    await this.#change(provider, state, false, signal);
    this.#added.delete(provider);
  }

  #stateOf(provider: ProviderId): ProviderState | undefined {
    return this.#context.cluster.provider(provider)?.state;
  }

  #mayHaveObjects(provider: ProviderId): boolean {
    const state = this.#stateOf(provider);
    return state !== undefined && !state.isDeleting && state.isValid;
  }

  async #add(provider: ProviderId, state: ProviderState, signal: AbortSignal): Promise<boolean> {
    try {
      const isThere = await this.#change(provider, state, true, signal);
      if (isThere) this.#added.set(provider, versionOf(state));
      return isThere;
    } finally {
      this.#adding.delete(state.uid);
    }
  }

  /** Writes the list back under the version that was read, because the list can hold finalizers of others. */
  async #change(
    provider: ProviderId,
    { uid }: ProviderState,
    isWanted: boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { writer, observer } = this.#context;
    const ref = providerRef(provider);
    const object = await writer.read(ref, signal);
    if (object?.metadata.uid !== uid) return false;
    const before = finalizersOf(object);
    if (before.includes(cleanupFinalizer) === isWanted) return true;
    // The API server refuses new finalizers on an object that is being deleted.
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

/** Returns the version without the finalizer. While the watch reports this version, our own write has not arrived. */
function versionOf({ uid, resourceVersion }: ProviderState): string {
  return `${uid}/${resourceVersion}`;
}

function finalizersOf({ metadata }: KubeObject): readonly string[] {
  const { finalizers } = metadata;
  return Array.isArray(finalizers) ? finalizers.filter((each) => typeof each === 'string') : [];
}

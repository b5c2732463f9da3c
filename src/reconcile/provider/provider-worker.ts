// Handles the keys of the provider queue: keeps the status and the finalizer of one provider.
import { KubeError } from '../../base/kube-error.ts';
import {
  policyIn,
  providesFields,
  quotaIn,
  type ProviderDefinition,
} from '../../policy/compile/load-provider.ts';
import { serviceAccountType } from '../../base/object-type.ts';
import { kindOfProvider, type ProviderId, type ProviderState } from '../../policy/terms/provider-id.ts';
import { waveDelay } from '../../policy/plan/waves.ts';
import { reachedFacts } from '../../policy/status/intents.ts';
import { dearText } from '../../policy/decide/audit.ts';
import { allViolations, type AuditedObjects } from '../../policy/status/provider-tally.ts';
import { providerStatus, type StatusFacts } from '../../policy/status/provider-status.ts';
import {
  nextPastTime,
  partsWithoutEffect,
  unreachedIntents,
  type PartWithoutEffect,
} from '../../policy/authors/no-effect.ts';
import type { BlockerFacts } from '../../policy/status/provider-conditions.ts';
import { problemsText, type LoadedProvider } from '../../state/stored-provider.ts';
import type { ObjectAudit } from '../audit/object-audit.ts';
import type { Dispatcher } from '../dispatcher.ts';
import type { EventAnnouncer } from '../events.ts';
import { type Finalizers, type ProviderStatuses, StatusNumbers } from './provider-writes.ts';
import type { InitialSync, ProviderLedger } from '../ledger.ts';
import type { HeldObjects, ProviderBlockers } from './provider-blockers.ts';
import type { Planning } from '../planning.ts';
import type { AuditReader, OwnedReader, ReconcileContext } from '../ports.ts';
import { done, type Attempt, type Handled } from '../queue/queue.ts';
import { keptWaves } from './wave-keeper.ts';
import { remainingObjects, hasUnseenObjects, unseenMs } from './unseen-objects.ts';
import { unsyncedKinds } from '../live/watches.ts';
import { classifyWriteError } from '../namespace/write-error.ts';

interface ProviderParts {
  readonly ledger: ProviderLedger;
  readonly finalizers: Finalizers;
  readonly statuses: ProviderStatuses;
  readonly blockers: ProviderBlockers;
  readonly heldObjects: HeldObjects;
  readonly announcer: EventAnnouncer;
  readonly objectAudit: ObjectAudit;
  readonly ownedReader: OwnedReader;
  readonly auditReader: AuditReader;
  readonly initialSync: InitialSync;
  readonly dispatcher: Dispatcher;
}

interface LastingParts {
  readonly parts: readonly PartWithoutEffect[];
  /** When the next part loses its effect. Undefined: none will. */
  readonly until: number | undefined;
}

const nothingAudited: AuditedObjects = { counts: new Map(), top: [], leavesOutSecrets: false };

/** After a change, a status waits this long for the reports of the namespaces. */
const settleMs = 1000;
/** A provider being deleted waits this long for kinds whose watch has not synced, because they may never be served. */
const maxUnsyncedMs = 60_000;
/** The least time between two batches of deletions of one provider. */
const minAgainMs = 10;
/** The least time between two writes of one status. */
const minStatusIntervalMs = 500;

export class ProviderWorker {
  readonly #context: ReconcileContext;
  readonly #planning: Planning;
  readonly #parts: ProviderParts;
  readonly #writtenAt = new Map<ProviderId, number>();
  readonly #numbers = new StatusNumbers();
  readonly #lasting = new WeakMap<ProviderDefinition, LastingParts>();
  /** The time since which only unsynced kinds have held the finalizer, by UID of a provider being deleted. */
  readonly #waitingSince = new Map<string, number>();

  constructor(context: ReconcileContext, planning: Planning, parts: ProviderParts) {
    this.#context = context;
    this.#planning = planning;
    this.#parts = parts;
  }

  /** Forgets everything, because this process no longer leads. */
  reset(): void {
    this.#parts.blockers.clear();
    this.#parts.heldObjects.clear();
    this.#parts.statuses.clear();
    for (const known of [this.#writtenAt, this.#numbers, this.#waitingSince]) known.clear();
  }

  /** Returns the numbers of each status, for the metrics. */
  numbers(): ReturnType<StatusNumbers['all']> {
    return this.#numbers.all();
  }

  /** Handles one key of the provider queue. */
  async reconcile(provider: ProviderId, { signal }: Attempt): Promise<Handled> {
    const { cluster } = this.#context;
    const { announcer, initialSync, ledger } = this.#parts;
    announcer.endWindow(provider, initialSync.isDone && ledger.waiting(provider) === undefined);
    const loaded = cluster.provider(provider);
    if (loaded === undefined) {
      this.#forget(provider);
      return done;
    }
    try {
      if (loaded.state.isDeleting) {
        if (await this.#removeFinalizer(loaded.state, signal)) return done;
      } else if (loaded.state.provides && loaded.state.isValid)
        await this.#parts.finalizers.ensure(provider, signal);
      if (!initialSync.isDone) return done;
      await this.#allowDeletions(provider, signal);
      if (this.#isDue(provider)) await this.#keepStatus(provider, signal);
      return done;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      return this.#failed(provider, error);
    }
  }

  /** Stores the status first, because a deletion that is missing in the status would not count after a restart. */
  async #allowDeletions(provider: ProviderId, signal: AbortSignal): Promise<void> {
    const { cluster, providerQueue } = this.#context;
    const { fuse } = this.#planning;
    const { statuses, dispatcher } = this.#parts;
    const state = cluster.provider(provider)?.state;
    const dueIn = state === undefined ? undefined : fuse.dueIn(state);
    if (state === undefined || dueIn === undefined) return;
    if (dueIn > 0) {
      providerQueue.addAfter(provider, dueIn);
      return;
    }
    try {
      await statuses.keep(state, (stored) => fuse.allow(state, stored), signal);
    } catch (error) {
      fuse.notStored(state);
      throw error;
    }
    dispatcher.enqueueIn(provider, fuse.stored(state));
    const again = fuse.dueIn(state);
    if (again !== undefined) providerQueue.addAfter(provider, Math.max(minAgainMs, again));
  }

  #forget(provider: ProviderId): void {
    const { ledger, statuses, blockers, heldObjects } = this.#parts;
    ledger.forgetProvider(provider);
    heldObjects.forget(provider);
    blockers.forget(provider);
    statuses.forget(provider);
    for (const known of [this.#writtenAt, this.#numbers]) known.delete(provider);
  }

  /**
   * Removes the finalizer unless an object of the provider is left, and returns whether it did. Objects that are being deleted
   * do not count. Neither do objects in namespaces that are excluded or being deleted.
   */
  async #removeFinalizer(state: ProviderState, signal: AbortSignal): Promise<boolean> {
    const { cluster, providerQueue } = this.#context;
    const { finalizers } = this.#parts;
    const { id } = state;
    const { isHeld } = remainingObjects(id, cluster, this.#planning);
    if (isHeld || finalizers.isCreatingFor(id) || this.#unsyncedKindsOf(state).length > 0) return false;
    if (
      state.hasFinalizer &&
      (await hasUnseenObjects(id, this.#context, this.#planning, this.#parts, signal))
    ) {
      // The watch is behind and will report these objects. Then they are deleted like all others.
      providerQueue.addAfter(id, unseenMs);
      return false;
    }
    await finalizers.remove(id, signal);
    this.#waitingSince.delete(state.uid);
    return true;
  }

  /**
   * Returns kinds whose watch has not synced, if a provider being deleted may still have such objects. Empty after one minute,
   * because such a kind may never be served.
   */
  #unsyncedKindsOf({ id, uid, isDeleting, hasFinalizer }: ProviderState): readonly string[] {
    const { cluster, clock, providerQueue } = this.#context;
    const { objects, accounts } = this.#planning;
    if (!isDeleting || !hasFinalizer) return [];
    const isUnread = !accounts.isSynced && providesFields(cluster.provider(id)?.definition);
    const kinds = [
      ...unsyncedKinds(kindOfProvider(id), this.#context.install, objects),
      ...(isUnread ? [serviceAccountType.kind] : []),
      ...remainingObjects(id, cluster, this.#planning).unserved,
    ];
    if (kinds.length === 0) return [];
    const now = clock.monotonic();
    const since = this.#waitingSince.get(uid) ?? now;
    this.#waitingSince.set(uid, since);
    const left = since + maxUnsyncedMs - now;
    if (left <= 0) return [];
    providerQueue.addAfter(id, left);
    return kinds;
  }

  /** Returns whether the status may be written now. If not, queues the provider for that time. */
  #isDue(provider: ProviderId): boolean {
    const { clock, providerQueue } = this.#context;
    const { ledger } = this.#parts;
    const now = clock.monotonic();
    const waiting = ledger.waiting(provider);
    const settledAt = waiting === undefined ? now : waiting.since + settleMs;
    const due = Math.max(settledAt, (this.#writtenAt.get(provider) ?? -Infinity) + minStatusIntervalMs);
    if (due <= now) return true;
    providerQueue.addAfter(provider, due - now);
    return false;
  }

  async #keepStatus(provider: ProviderId, signal: AbortSignal): Promise<void> {
    const { cluster, clock } = this.#context;
    const { statuses, blockers, ledger } = this.#parts;
    const before = cluster.provider(provider);
    if (before === undefined) return;
    const blockerFacts = await blockers.of(before, signal);
    const loaded = cluster.provider(provider);
    if (loaded === undefined) return;
    const wrote = await statuses.keep(
      loaded.state,
      (stored) => {
        const facts = {
          ...this.#factsOf(provider, loaded, blockerFacts),
          waves: this.#wavesOf(loaded, stored),
        };
        this.#numbers.set(facts, loaded.definition, ledger.tallyOf(provider).nextExpiry);
        return providerStatus(facts, stored, clock.now());
      },
      signal,
    );
    if (wrote) this.#writtenAt.set(provider, clock.monotonic());
    this.#queueForEnd(loaded);
  }

  /** Queues the provider for its next end, because the status reports the end even if no namespace changes. */
  #queueForEnd({ state, definition }: LoadedProvider): void {
    const { clock, providerQueue } = this.#context;
    const now = clock.now();
    const end = definition === undefined ? undefined : this.#lastingOf(definition).until;
    if (end !== undefined) providerQueue.addAfter(state.id, Math.max(1, end - now.getTime()));
  }

  /** Queues the provider for the moment when its waves can go on. */
  #wavesOf({ state, definition }: LoadedProvider, stored: unknown): StatusFacts['waves'] {
    const { clock, providerQueue } = this.#context;
    const { ledger } = this.#parts;
    const policy = policyIn(definition);
    if (policy?.object.spec.namespaces?.enforced?.waves === undefined) return undefined;
    const isWaiting = ledger.waiting(state.id) !== undefined;
    const kept = keptWaves(this.#context, policy, { tally: ledger.tallyOf(state.id), stored, isWaiting });
    // The last report of a namespace, and a resume, queue the provider by themselves.
    const mayGoOn = kept !== undefined && !isWaiting && !policy.compiled.isSuspended;
    const delay = mayGoOn ? waveDelay(kept, clock.now().getTime()) : undefined;
    if (delay !== undefined) providerQueue.addAfter(state.id, delay);
    return kept;
  }

  #withoutEffect(definition: ProviderDefinition | undefined, matched: number): readonly string[] {
    if (definition === undefined) return [];
    const { cluster, clock } = this.#context;
    const parts =
      matched > 0
        ? this.#lastingOf(definition).parts
        : partsWithoutEffect(definition, { matched, errors: 0 }, cluster.snapshot(), clock.now());
    return parts.map(({ message }) => message);
  }

  /** Returns what has no effect though namespaces match. Only a time that passes or a new definition changes that. */
  #lastingOf(definition: ProviderDefinition): LastingParts {
    const { cluster, clock } = this.#context;
    const now = clock.now();
    const known = this.#lasting.get(definition);
    if (known !== undefined && now.getTime() < (known.until ?? Infinity)) return known;
    const parts = partsWithoutEffect(definition, { matched: 1, errors: 0 }, cluster.snapshot(), now);
    const lasting = { parts, until: nextPastTime(definition, now) };
    this.#lasting.set(definition, lasting);
    return lasting;
  }

  #factsOf(
    provider: ProviderId,
    { state, definition, problems }: LoadedProvider,
    blockerFacts: BlockerFacts,
  ): StatusFacts {
    const { cluster } = this.#context;
    const { fuse } = this.#planning;
    const { ledger, heldObjects, objectAudit } = this.#parts;
    const held = heldObjects.of(state);
    const tally = ledger.tallyOf(provider);
    const objects = objectAudit.isNeeded ? objectAudit.of(provider) : nothingAudited;
    const waiting = ledger.waiting(provider)?.count ?? 0;
    return {
      state,
      problem: problems.length === 0 ? undefined : problemsText(problems),
      counts: tally.counts,
      failures: tally.failures(),
      skipped: tally.skipped(),
      agreements: tally.agreements(),
      // A part counts as without effect only after all namespaces are reconciled.
      withoutEffect: waiting > 0 ? [] : this.#withoutEffect(definition, tally.matched),
      cost: tally.dearest && dearText(tally.dearest),
      waiting,
      held,
      unknownKinds: this.#unsyncedKindsOf(state),
      ...blockerFacts,
      intents:
        definition?.intents &&
        reachedFacts(definition.intents, unreachedIntents(definition, cluster.snapshot())),
      matched: tally.matched,
      matchedNamespaces: tally.matchedNamespaces(objects.top.map(({ namespace }) => namespace)),
      violations: allViolations(tally.violations(quotaIn(definition)), objects),
      isConfirmationSpent:
        fuse.isConfirmationUsed(state) ||
        (waiting === 0 && !state.isDeleting && fuse.outstanding(provider) === 0),
      deletions: fuse.recordOf(state),
    };
  }

  #failed(provider: ProviderId, error: KubeError): Handled {
    const writeError = classifyWriteError(error, 'change');
    if (writeError.kind === 'transient') return { kind: 'retry', minDelayMs: writeError.minDelayMs };
    // The object was not found, and the watch will report its deletion.
    if (writeError.kind !== 'permanent') return done;
    this.#context.observer.unexpectedError(`status or finalizer of ${provider}`, error);
    return { kind: 'retry', minDelayMs: writeError.minDelayMs ?? settleMs };
  }
}

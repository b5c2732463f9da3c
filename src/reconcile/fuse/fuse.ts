// Decides for each provider whether its undesired objects are deleted, released, held, or wait to be counted.
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import {
  deletionRecordOf,
  noDeletions,
  withDeletions,
  type DeletionRecord,
} from '../../policy/terms/deletion-record.ts';
import {
  judgeFuse,
  termsOf,
  type FuseVerdict,
  type HeldDeletions,
  type ReleaseReason,
} from '../../policy/plan/fuse.ts';
import type { Observed } from '../../policy/plan/observed.ts';
import { kindOfProvider, type ProviderId, type ProviderState } from '../../policy/terms/provider-id.ts';
import type { ObservedObjects } from '../live/observed-objects.ts';
import type { KindProbe, PlanContext } from '../ports.ts';
import {
  DeletionGate,
  gateTimes,
  noWait,
  type ObjectFate,
  type GateTerms,
  type GateTimes,
} from './deletion-gate.ts';
import type { UndesiredObjects } from './undesired-objects.ts';

export interface FuseOptions {
  readonly kinds: KindProbe;
  /** Called once for each deleted provider that leaves objects behind, unless its author wanted this. */
  readonly orphaned: (provider: ProviderId, why: ReleaseReason, count: number) => void;
  /** Called when the result of `dueIn` may change without a change of the provider. */
  readonly changed?: ((provider: ProviderId) => void) | undefined;
  /** True for `reeve plan`: judges at once and stores nothing. */
  readonly isPlan?: boolean | undefined;
  readonly times?: GateTimes | undefined;
}

/** Deletions since a provider itself was deleted. */
interface Ends {
  deleted: number;
  /** UIDs of the objects whose DELETE the API server has not answered yet. */
  readonly sent: Set<string>;
}

export class Fuse {
  readonly #context: PlanContext;
  readonly #objects: ObservedObjects;
  readonly #undesired: UndesiredObjects;
  readonly #options: FuseOptions;
  /** Gates by provider. The UID keeps a recreated provider from paying for deletions of its namesake. */
  readonly #gates = new Map<ProviderId, { readonly uid: string; readonly gate: DeletionGate }>();
  /** Keys are UIDs of providers being deleted. */
  readonly #ends = new Map<string, Ends>();
  /** True if the CustomResourceDefinition was being deleted at that time. By UID of a provider being deleted. */
  readonly #kindTerminating = new Map<string, boolean>();
  /** UIDs of providers being deleted whose objects are released. Their other objects must not be deleted later. */
  readonly #released = new Map<string, FuseVerdict>();
  /** Providers that no longer existed when their objects were released, because another client had removed their finalizer. */
  readonly #unknown = new Set<ProviderId>();

  constructor(
    context: PlanContext,
    objects: ObservedObjects,
    undesired: UndesiredObjects,
    options: FuseOptions,
  ) {
    this.#context = context;
    this.#objects = objects;
    this.#undesired = undesired;
    this.#options = options;
    undesired.listen({
      joined: (provider, live, isReviewed) => this.#joined(provider, live, isReviewed),
      left: (provider, live) => this.#left(provider, live),
    });
    context.cluster.subscribe({
      affecting: ({ id, before, after }) => {
        this.#unknown.delete(id);
        if (after === undefined) this.#gates.delete(id);
        if (before !== undefined && before.state.uid !== after?.state.uid) this.#forget(before.state.uid);
      },
    });
  }

  /** Forgets all counts, because another leader may have deleted objects since. */
  begin(namespaces: Iterable<string>): void {
    this.#gates.clear();
    this.#undesired.begin(namespaces);
  }

  /** Returns whether `prepare` has no question about these providers. */
  isPrepared(providers: readonly ProviderId[]): boolean {
    return this.#unasked(providers).length === 0;
  }

  /** Asks whether the kinds of these providers are being deleted. After a rejection with a KubeError, do not judge them. */
  async prepare(providers: readonly ProviderId[], signal: AbortSignal): Promise<void> {
    const unasked = Map.groupBy(this.#unasked(providers), ({ id }) => kindOfProvider(id));
    const asked = await Promise.allSettled(
      [...unasked].map(async ([kind, states]) => {
        const isTerminating = await this.#options.kinds.isKindTerminating(kind, signal);
        const known = this.#context.cluster.snapshot().providers;
        for (const { id, uid } of states)
          if (known.get(id)?.uid === uid) this.#kindTerminating.set(uid, isTerminating);
      }),
    );
    for (const each of asked) if (each.status === 'rejected') throw each.reason;
  }

  /** Judges one object of the provider, or those that are not allowed yet. */
  verdictOf(provider: ProviderId, live?: Pick<Observed, 'uid'>): FuseVerdict {
    const state = this.#context.cluster.snapshot().providers.get(provider);
    const known = this.#released.get(state?.uid ?? '');
    if (known !== undefined) return known;
    const outstanding = this.outstanding(provider);
    const count = outstanding + this.#endedOf(state);
    const verdict = judgeFuse(state, count, this.#kindTerminating.get(state?.uid ?? '') === true);
    if (state === undefined) this.#reportUnknown(provider, outstanding);
    if (state?.isDeleting === true && verdict.kind === 'release') {
      this.#released.set(state.uid, verdict);
      this.#reportRelease(provider, verdict.why, outstanding);
    }
    return state === undefined || verdict.kind !== 'wait' ? verdict : this.#verdictOfGate(state, live);
  }

  #verdictOfGate(state: ProviderState, live: Pick<Observed, 'uid'> | undefined): FuseVerdict {
    const gate = this.#gateOf(state);
    if (this.#options.isPlan === true) this.#judgeAtOnce(state, gate);
    if (live !== undefined && gate.isUnderway(live.uid)) return { kind: 'delete' };
    const held = this.heldBy(state);
    return held === undefined ? { kind: 'wait' } : { kind: 'hold', held };
  }

  /** Returns the held deletions, even before the status is read again after a restart. */
  heldBy(state: ProviderState): HeldDeletions | undefined {
    if (state.deletionPolicy === 'Orphan') return undefined;
    const gate = this.#gateIfAny(state);
    if (gate === undefined) return undefined;
    const terms = termsOf(state);
    const stored = state.deletions.held;
    if (gate.isRestored || stored === undefined) return gate.heldBy(terms);
    return { ...stored, recent: 0, limit: terms.limit };
  }

  /** Returns the milliseconds until `allow` has work. Undefined if only a change brings work. */
  dueIn(state: ProviderState): number | undefined {
    const outstanding = this.outstanding(state.id);
    const gate = this.#gateIfAny(state);
    if (gate === undefined) return undefined;
    gate.forgetConfirmationExcept(state.confirmation);
    if (state.deletionPolicy === 'Orphan') this.#giveUp(state, gate);
    if (!isJudged(state)) return undefined;
    if (!gate.isRestored && outstanding === 0 && state.deletions === noDeletions) return undefined;
    return gate.dueIn(this.#gateTermsOf(state, gate));
  }

  /** Judges the due objects. Returns the status to store before any deletion, or `stored` itself if nothing is allowed. */
  allow(state: ProviderState, stored: unknown): JsonObject {
    this.outstanding(state.id);
    const gate = this.#gateOf(state);
    gate.restore(deletionRecordOf(stored), (uid) => this.#isThere(state.id, uid));
    gate.judge(this.#gateTermsOf(state, gate));
    if (!gate.mustBeStored) return isJsonObject(stored) ? stored : {};
    const used = gate.usedConfirmation;
    return {
      ...withDeletions(stored, gate.record()),
      ...(used === undefined || used !== state.confirmation ? {} : { confirmationUsed: used }),
    };
  }

  /** Notes that the status is stored. Returns the namespaces with objects that have another verdict now. */
  stored({ id }: ProviderState): ReadonlySet<string> {
    return this.#gates.get(id)?.gate.commit() ?? new Set();
  }

  /** Notes that the status is not stored, because another process may have written it. */
  notStored({ id }: ProviderState): void {
    this.#gates.get(id)?.gate.rollBack();
  }

  /** Returns the record for the status. Undefined until the status is read again after a restart. */
  recordOf(state: ProviderState): DeletionRecord | undefined {
    const gate = this.#gateIfAny(state);
    return gate?.isRestored === true ? gate.record() : undefined;
  }

  isConfirmationUsed(state: ProviderState): boolean {
    return (
      state.confirmation !== undefined && this.#gateIfAny(state)?.usedConfirmation === state.confirmation
    );
  }

  /** Reports no policy that only adds fields to ServiceAccounts, because it leaves no object behind. */
  #reportRelease(provider: ProviderId, why: ReleaseReason, count: number): void {
    if (why !== 'DeletionPolicyOrphan' && count > 0) this.#options.orphaned(provider, why, count);
  }

  #reportUnknown(provider: ProviderId, outstanding: number): void {
    if (outstanding === 0 || this.#unknown.has(provider)) return;
    this.#unknown.add(provider);
    this.#options.orphaned(provider, 'OwnerUnknown', outstanding);
  }

  outstanding(provider: ProviderId): number {
    return this.#undesired.of(provider).size;
  }

  /** Deletes an object. Until its end is known, the object counts exactly once. */
  async deleting(provider: ProviderId, live: Observed, remove: () => Promise<void>): Promise<void> {
    const state = this.#context.cluster.snapshot().providers.get(provider);
    if (state === undefined) {
      await remove();
      return;
    }
    const ended = state.isDeleting ? this.#endsOf(state.uid) : undefined;
    ended?.sent.add(live.uid);
    try {
      await this.#gateOf(state).deleting(live.uid, remove, () => this.#fateOf(provider, live));
      if (ended !== undefined) ended.deleted += 1;
    } finally {
      ended?.sent.delete(live.uid);
    }
  }

  /** Returns undefined if no object of the provider is to be deleted and its status remembers no deletion. */
  #gateIfAny(state: ProviderState): DeletionGate | undefined {
    const isKnown = this.#gates.get(state.id)?.uid === state.uid;
    if (isKnown || state.deletions !== noDeletions) return this.#gateOf(state);
    return this.#undesired.known(state.id).length > 0 ? this.#gateOf(state) : undefined;
  }

  #gateOf({ id, uid }: ProviderState): DeletionGate {
    const known = this.#gates.get(id);
    if (known?.uid === uid) return known.gate;
    const { clock } = this.#context;
    const { times = gateTimes, isPlan = false } = this.#options;
    const gate = new DeletionGate(clock, isPlan ? noWait : times);
    this.#gates.set(id, { uid, gate });
    for (const live of this.#undesired.known(id)) gate.join(live, false);
    return gate;
  }

  #joined(provider: ProviderId, live: Observed, isReviewed: boolean): void {
    const state = this.#context.cluster.snapshot().providers.get(provider);
    if (state === undefined) return;
    this.#gateOf(state).join(live, isReviewed);
    if (isJudged(state)) this.#options.changed?.(provider);
  }

  #left(provider: ProviderId, live: Observed): void {
    const { gate } = this.#gates.get(provider) ?? {};
    if (gate === undefined) return;
    const fate = this.#fateOf(provider, live);
    if (fate !== 'undesired') gate.leave(live.uid, fate);
    if (gate.isHolding || gate.hasMore) this.#options.changed?.(provider);
  }

  #fateOf(provider: ProviderId, { uid, namespace, key }: Observed): ObjectFate {
    const live = this.#objects.get(namespace, key);
    if (live?.uid !== uid || live.owner !== provider || live.isTerminating) return 'deleted';
    return this.#undesired.of(provider).has(uid) ? 'undesired' : 'wanted';
  }

  #isThere(provider: ProviderId, uid: string): boolean {
    return [...this.#objects.countsOf(provider).keys()].some((namespace) =>
      this.#objects
        .ours(namespace)
        .some((live) => live.uid === uid && live.owner === provider && !live.isTerminating),
    );
  }

  #gateTermsOf(state: ProviderState, gate: DeletionGate): GateTerms {
    const { confirmation } = state;
    const terms = { ...termsOf(state), confirmation };
    return confirmation !== undefined && gate.usedConfirmation === confirmation
      ? { ...terms, confirmed: -1 }
      : terms;
  }

  /** Releases the objects, so that nothing is held any more. */
  #giveUp({ id, deletions }: ProviderState, gate: DeletionGate): void {
    gate.restore(deletions, (uid) => this.#isThere(id, uid));
    gate.endHold();
  }

  /** Judges at once, because a plan shows the result when nothing else joins. */
  #judgeAtOnce(state: ProviderState, gate: DeletionGate): void {
    if (!isJudged(state)) return;
    gate.restore(state.deletions, (uid) => this.#isThere(state.id, uid));
    do {
      gate.judge(this.#gateTermsOf(state, gate));
      gate.commit();
    } while (gate.hasMore);
  }

  #forget(uid: string): void {
    for (const known of [this.#released, this.#kindTerminating, this.#ends]) known.delete(uid);
  }

  #endsOf(uid: string): Ends {
    const ends = this.#ends.get(uid) ?? { deleted: 0, sent: new Set<string>() };
    this.#ends.set(uid, ends);
    return ends;
  }

  /** Counts deletions since the provider was deleted. The watch may report the end of an object before the answer arrives. */
  #endedOf(state: ProviderState | undefined): number {
    const ends = state === undefined ? undefined : this.#ends.get(state.uid);
    if (state === undefined || ends === undefined) return 0;
    const undesired = this.#undesired.of(state.id);
    return ends.deleted + [...ends.sent].filter((uid) => !undesired.has(uid)).length;
  }

  /** Returns the providers to ask about. A definition is deleted before its objects, so only later answers count. */
  #unasked(providers: readonly ProviderId[]): readonly ProviderState[] {
    const states = this.#context.cluster.snapshot().providers;
    return providers
      .flatMap((id) => states.get(id) ?? [])
      .filter(({ uid, isDeleting }) => isDeleting && !this.#kindTerminating.has(uid));
  }
}

/** Returns true for a provider whose deletions must be counted first. */
function isJudged({ isDeleting, isSuspended, isValid, deletionPolicy }: ProviderState): boolean {
  return !isDeleting && !isSuspended && isValid && deletionPolicy === 'Delete';
}

// Plans the writes for one namespace, and first reads the Secrets that the plan needs.
import { mayCreate, type Install } from '../../policy/terms/install.ts';
import type { ClaimScope } from '../../policy/plan/plan-input.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { isManaged, type Claim, type Desired } from '../../policy/desired/desired.ts';
import { type ObjectKey } from '../../base/object-type.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import {
  observeObject,
  type Observed,
  failedResult,
  undesiredResult,
  type Follower,
  type ObjectResult,
} from '../../policy/plan/observed.ts';
import { addsFields } from '../../policy/plan/plan-account.ts';
import { planNamespace, type DoneStep, type PlanStep } from '../../policy/plan/plan.ts';
import type { DesiredCache } from '../fuse/undesired-objects.ts';
import type { Fuse } from '../fuse/fuse.ts';
import { refOf } from './object-writes.ts';
import type { ObservedAccounts } from '../live/observed-accounts.ts';
import type { ObservedObjects } from '../live/observed-objects.ts';
import type { PlanContext } from '../ports.ts';
import type { Sources } from '../live/sources.ts';
import { classifyWriteError, type WriteError } from './write-error.ts';

interface PlannerParts {
  readonly desiredCache: DesiredCache;
  readonly objects: ObservedObjects;
  readonly accounts: ObservedAccounts;
  readonly sources: Sources;
  readonly fuse: Fuse;
}

export interface NamespacePlan {
  readonly namespaceObject: KubeObject;
  readonly desired: Desired;
  readonly steps: readonly DoneStep[];
  readonly outcomes: readonly ObjectResult[];
  readonly followers: readonly Follower[];
  readonly unowned: readonly Observed[];
  /** Errors of reads that the plan needed. */
  readonly errors: readonly WriteError[];
}

/** Returns true for an object whose policy was dropped between its creation and its record. */
export function isReleasedOnce(step: DoneStep): step is DoneStep & { readonly kind: 'release' } {
  return step.kind === 'release' && step.isCreatedOnce === true && step.live.isCreatedOnce;
}

type ReadStep = PlanStep & { readonly kind: 'read' | 'read-source' };

/** The limit of rounds. A read can require another read, but so many show that another client keeps changing objects. */
const maxRounds = 4;

export class NamespacePlanner {
  readonly #context: PlanContext;
  readonly #parts: PlannerParts;

  constructor(context: PlanContext, parts: PlannerParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** Returns undefined for a namespace that is excluded, deleted or being deleted. */
  async plan(name: string, signal: AbortSignal): Promise<NamespacePlan | undefined> {
    const errors = new Map<ObjectKey, WriteError>();
    const unjudged = new Map<ProviderId, WriteError>();
    for (let round = 1; ; round += 1) {
      await this.#prepare(name, unjudged, signal);
      // No await follows until the plan is complete, so that it describes one state.
      const planned = this.#planNow(name, unjudged);
      if (planned === undefined) return undefined;
      const unread = planned.reads.filter(({ claim }) => !errors.has(claim.key));
      if (unread.length === 0 || round === maxRounds) return withErrors(planned, errors, unjudged);
      await Promise.all(
        unread.map(async (step) => {
          const writeError = await this.#read(step, signal);
          if (writeError !== undefined) errors.set(step.claim.key, writeError);
        }),
      );
    }
  }

  /** Returns whether the plan still follows from the current state. */
  isCurrent({ desired, namespaceObject }: NamespacePlan): boolean {
    const { cluster } = this.#context;
    const { desiredCache } = this.#parts;
    const snapshot = cluster.snapshot();
    const current = snapshot.namespace(namespaceObject.metadata.name ?? '');
    return current !== undefined && isManaged(current, snapshot) && desiredCache.of(current) === desired;
  }

  /** Repeats, because another provider can be deleted during the wait for the answer. */
  async #prepare(name: string, unjudged: Map<ProviderId, WriteError>, signal: AbortSignal): Promise<void> {
    const { objects, fuse } = this.#parts;
    const unasked = (): readonly ProviderId[] =>
      [...objects.ours(name).flatMap(({ owner }) => owner ?? []), ...this.#losingFields(name)].filter(
        (provider) => !unjudged.has(provider) && !fuse.isPrepared([provider]),
      );
    for (let providers = unasked(); providers.length > 0; providers = unasked()) {
      const writeError = await this.#ask(providers, signal);
      if (writeError === undefined) continue;
      for (const provider of unasked()) if (providers.includes(provider)) unjudged.set(provider, writeError);
    }
  }

  /** Returns providers being deleted whose fields may still be on a ServiceAccount of the namespace. */
  #losingFields(name: string): readonly ProviderId[] {
    const { cluster } = this.#context;
    const { accounts } = this.#parts;
    if (accounts.markedIn(name).length === 0) return [];
    const states = [...cluster.snapshot().providers.values()];
    return states.flatMap(({ id, isDeleting }) => (isDeleting && addsFields(id) ? [id] : []));
  }

  async #ask(providers: readonly ProviderId[], signal: AbortSignal): Promise<WriteError | undefined> {
    try {
      await this.#parts.fuse.prepare(providers, signal);
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      return unjudgedError(error);
    }
  }

  #planNow(
    name: string,
    unjudged: ReadonlyMap<ProviderId, WriteError>,
  ): (NamespacePlan & { readonly reads: readonly ReadStep[] }) | undefined {
    const { cluster, clock } = this.#context;
    const { desiredCache, objects, accounts, sources, fuse } = this.#parts;
    const snapshot = cluster.snapshot();
    const namespaceObject = snapshot.namespace(name);
    if (namespaceObject === undefined || !isManaged(namespaceObject, snapshot)) return undefined;
    const desired = desiredCache.of(namespaceObject);
    const plan = planNamespace({
      namespaceObject,
      snapshot,
      desired,
      ours: objects.ours(name),
      liveOf: (key) => objects.get(name, key),
      accounts: accounts.isSynced
        ? { marked: accounts.markedIn(name), liveOf: (key) => accounts.get(name, key) }
        : undefined,
      copyStateOf: (share) => sources.copyStateOf(share),
      fuseOf: (provider, live) =>
        unjudged.has(provider) ? { kind: 'unknown' } : fuse.verdictOf(provider, live),
      scopeOf: (claim) => scopeOf(claim, this.#context.install, objects),
      now: clock.now(),
    });
    const reads = plan.steps.filter(isRead);
    const steps = plan.steps.filter((step): step is DoneStep => !isRead(step));
    const { results: outcomes, followers, unowned } = plan;
    return { namespaceObject, desired, steps, reads, outcomes, followers, unowned, errors: [] };
  }

  async #read(step: ReadStep, signal: AbortSignal): Promise<WriteError | undefined> {
    try {
      if (step.kind === 'read') await this.#readSecret(step.live, signal);
      else await this.#parts.sources.read(step.share, signal);
      return undefined;
    } catch (error) {
      return classifyWriteError(error, 'change');
    }
  }

  async #readSecret(live: Observed, signal: AbortSignal): Promise<void> {
    const { writer } = this.#context;
    const { objects } = this.#parts;
    const secret = await writer.read(refOf(live), signal);
    if (secret === undefined) objects.deleted(live);
    else objects.read(observeObject(live.type, secret));
  }
}

function isRead(step: PlanStep): step is ReadStep {
  return step.kind === 'read' || step.kind === 'read-source';
}

function withErrors(
  planned: NamespacePlan & { readonly reads: readonly ReadStep[] },
  errors: ReadonlyMap<ObjectKey, WriteError>,
  unjudged: ReadonlyMap<ProviderId, WriteError>,
): NamespacePlan {
  const outcomes = planned.reads.map(({ claim }) =>
    unreadOutcome(claim, planned.desired, errors.get(claim.key)),
  );
  return {
    ...planned,
    outcomes: [...planned.outcomes, ...outcomes],
    errors: [...planned.reads.map(({ claim }) => errors.get(claim.key) ?? changing), ...unjudged.values()],
  };
}

/** Drops `isUnanswered`, because the steps of other providers must still be executed. */
function unjudgedError(error: unknown): WriteError {
  const writeError = classifyWriteError(error, 'change');
  if (writeError.kind !== 'transient') return writeError;
  const { reason, minDelayMs } = writeError;
  return { kind: 'transient', reason, minDelayMs };
}

/** Means that the object changed during each read. */
const changing: WriteError = { kind: 'transient', reason: 'Changing', minDelayMs: 0 };

function unreadOutcome(
  claim: ReadStep['claim'],
  { claims }: Desired,
  error: WriteError | undefined,
): ObjectResult {
  const { reason, message } =
    error?.kind === 'permanent'
      ? error
      : { reason: 'ApiError', message: 'it could not be read from the API server' };
  return claims.has(claim.key)
    ? failedResult(claim, reason, message)
    : undesiredResult(claim, reason, `it stays until its source can be read: ${message}`);
}

/** Returns whether this installation allows the object, and whether its watch has synced. */
function scopeOf(claim: Claim, install: Install, objects: ObservedObjects): ClaimScope {
  if (!mayCreate(claim, install)) return 'not-allowed';
  return objects.isKnown(claim) ? 'allowed' : 'unknown';
}

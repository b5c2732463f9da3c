// Makes the plan of one namespace, and reads on the way what nobody has looked into yet.
import type { KubeObject } from '../../base/kube-object.ts';
import type { Claim } from '../../policy/desired/claim.ts';
import { isManaged, type Desired } from '../../policy/desired/desired.ts';
import type { ObjectKey } from '../../policy/compile/object-key.ts';
import { observeSecret, type Observed } from '../../policy/plan/observed.ts';
import { failedResult, type ObjectResult } from '../../policy/plan/object-result.ts';
import type { ClaimScope } from '../../policy/plan/plan-input.ts';
import { planNamespace, type PlanStep } from '../../policy/plan/plan.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import type { Desires } from './desires.ts';
import type { DoneStep } from '../events.ts';
import type { FuseBox } from '../fuse/fuse-box.ts';
import { refOf } from './object-writes.ts';
import type { ObservedObjects } from '../live/observed-objects.ts';
import type { Clock } from '../../base/clock.ts';
import type { ObjectWriter } from '../ports.ts';
import type { Sources } from '../live/sources.ts';
import { writeFault, type WriteFault } from './write-fault.ts';

export interface PlannerOptions {
  readonly snapshot: () => ClusterSnapshot;
  readonly desires: Desires;
  readonly objects: ObservedObjects;
  readonly sources: Sources;
  readonly fuse: FuseBox;
  readonly writer: Pick<ObjectWriter, 'read'>;
  readonly time: Pick<Clock, 'now'>;
  readonly scopeOf: (claim: Claim) => ClaimScope;
}

export interface NamespacePlan {
  readonly namespaceObject: KubeObject;
  readonly desired: Desired;
  readonly steps: readonly DoneStep[];
  readonly outcomes: readonly ObjectResult[];
  /** What could not be read, so that nothing can be said of it yet. */
  readonly faults: readonly WriteFault[];
}

type ReadStep = PlanStep & { readonly kind: 'read' | 'read-source' };

/** Each reading can show that something else has to be read; more rounds than these are a quarrel with somebody. */
const mostRounds = 4;

export class NamespacePlanner {
  readonly #options: PlannerOptions;

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  /** Undefined when the namespace is to be left alone. */
  async plan(name: string, signal: AbortSignal): Promise<NamespacePlan | undefined> {
    const faults = new Map<ObjectKey, WriteFault>();
    const unjudged = new Map<ProviderId, WriteFault>();
    for (let round = 1; ; round += 1) {
      await this.#prepare(name, unjudged, signal);
      // From here to the end of the plan nothing is waited for: it is made from one state.
      const planned = this.#planNow(name, unjudged);
      if (planned === undefined) return undefined;
      const unread = planned.reads.filter(({ claim }) => !faults.has(claim.key));
      if (unread.length === 0 || round === mostRounds) return withFaults(planned, faults, unjudged);
      await Promise.all(
        unread.map(async (step) => {
          const fault = await this.#read(step, signal);
          if (fault !== undefined) faults.set(step.claim.key, fault);
        }),
      );
    }
  }

  /** Whether a plan still follows from what there is. */
  isCurrent({ desired, namespaceObject }: NamespacePlan): boolean {
    const snapshot = this.#options.snapshot();
    const current = snapshot.namespace(namespaceObject.metadata.name ?? '');
    return (
      current !== undefined && isManaged(current, snapshot) && this.#options.desires.of(current) === desired
    );
  }

  /** Another owner may begin to go while one is asked about. */
  async #prepare(name: string, unjudged: Map<ProviderId, WriteFault>, signal: AbortSignal): Promise<void> {
    const { objects, fuse } = this.#options;
    const unasked = (): readonly ProviderId[] =>
      objects
        .ours(name)
        .flatMap(({ owner }) => owner ?? [])
        .filter((owner) => !unjudged.has(owner) && !fuse.isPrepared([owner]));
    for (let owners = unasked(); owners.length > 0; owners = unasked()) {
      const fault = await this.#ask(owners, signal);
      if (fault === undefined) continue;
      for (const owner of unasked()) if (owners.includes(owner)) unjudged.set(owner, fault);
    }
  }

  async #ask(owners: readonly ProviderId[], signal: AbortSignal): Promise<WriteFault | undefined> {
    try {
      await this.#options.fuse.prepare(owners, signal);
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      return unjudgedFault(error);
    }
  }

  #planNow(
    name: string,
    unjudged: ReadonlyMap<ProviderId, WriteFault>,
  ): (NamespacePlan & { readonly reads: readonly ReadStep[] }) | undefined {
    const { snapshot: snapshotOf, desires, objects, sources, fuse, scopeOf, time } = this.#options;
    const snapshot = snapshotOf();
    const namespaceObject = snapshot.namespace(name);
    if (namespaceObject === undefined || !isManaged(namespaceObject, snapshot)) return undefined;
    const desired = desires.of(namespaceObject);
    const plan = planNamespace({
      namespaceObject,
      snapshot,
      desired,
      ours: objects.ours(name),
      liveOf: (key) => objects.get(name, key),
      copyStateOf: (share) => sources.copyStateOf(share),
      fuseOf: (owner) => (unjudged.has(owner) ? { kind: 'unknown' } : fuse.verdictOf(owner)),
      scopeOf,
      now: time.now(),
    });
    const reads = plan.steps.filter(isRead);
    const steps = plan.steps.filter((step): step is DoneStep => !isRead(step));
    return { namespaceObject, desired, steps, reads, outcomes: plan.outcomes, faults: [] };
  }

  async #read(step: ReadStep, signal: AbortSignal): Promise<WriteFault | undefined> {
    try {
      if (step.kind === 'read') await this.#look(step.live, signal);
      else await this.#options.sources.read(step.share, signal);
      return undefined;
    } catch (error) {
      return writeFault(error, 'change');
    }
  }

  async #look(live: Observed, signal: AbortSignal): Promise<void> {
    const { writer, objects } = this.#options;
    const secret = await writer.read(refOf(live), signal);
    if (secret === undefined) objects.deleted(live);
    else objects.read(observeSecret(secret));
  }
}

function isRead(step: PlanStep): step is ReadStep {
  return step.kind === 'read' || step.kind === 'read-source';
}

function withFaults(
  planned: NamespacePlan & { readonly reads: readonly ReadStep[] },
  faults: ReadonlyMap<ObjectKey, WriteFault>,
  unjudged: ReadonlyMap<ProviderId, WriteFault>,
): NamespacePlan {
  const outcomes = planned.reads.map(({ claim }) => unreadOutcome(claim, faults.get(claim.key)));
  return {
    ...planned,
    outcomes: [...planned.outcomes, ...outcomes],
    faults: [...planned.reads.map(({ claim }) => faults.get(claim.key) ?? changing), ...unjudged.values()],
  };
}

/** Tried again like any other, but no silence that would keep the plans of the others from being carried out. */
function unjudgedFault(error: unknown): WriteFault {
  const fault = writeFault(error, 'change');
  if (fault.kind !== 'transient') return fault;
  return { kind: 'transient', reason: fault.reason, leastMs: fault.leastMs };
}

/** It changed each time it was read. */
const changing: WriteFault = { kind: 'transient', reason: 'Changing', leastMs: 0 };

function unreadOutcome(claim: Claim, fault: WriteFault | undefined): ObjectResult {
  return fault?.kind === 'lasting'
    ? failedResult(claim, fault.reason, fault.message)
    : failedResult(claim, 'ApiError', 'it could not be read from the API server');
}

// Brings one namespace to what is desired of it, as far as it can be brought, and reports what became of it.
import type { KubeObject } from '../../base/kube-object.ts';
import type { ObjectResult } from '../../policy/plan/object-result.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import { providerReports, type UnsyncedObject } from '../../policy/status/provider-report.ts';
import { namespaceReadiness } from '../../policy/status/namespace-ready.ts';
import type { Audits } from './audits.ts';
import { eventObject, type Announcer, type DoneStep } from '../events.ts';
import type { FuseBox } from '../fuse/fuse-box.ts';
import type { NamespaceConditions } from './namespace-conditions.ts';
import type { NamespacePlan, NamespacePlanner } from './namespace-planner.ts';
import type { ObservedObjects } from '../live/observed-objects.ts';
import type { ProviderLedger, Parts } from '../ledger.ts';
import type { Clock } from '../../base/clock.ts';
import type { ReconcileObserver } from '../ports.ts';
import { done, type Attempt, type Handled } from '../queue/queue.ts';
import type { Repair, Repairer } from './repairer.ts';
import { RoundResult } from './round-result.ts';
import type { StepExecutor } from './step-executor.ts';

export interface NamespaceWorkerOptions {
  readonly namespaceOf: (name: string) => KubeObject | undefined;
  readonly planner: NamespacePlanner;
  readonly executor: StepExecutor;
  readonly repairer: Repairer;
  readonly audits: Audits;
  readonly ledger: ProviderLedger;
  readonly conditions: NamespaceConditions;
  readonly objects: ObservedObjects;
  readonly fuse: FuseBox;
  readonly announcer: Announcer;
  readonly observer: ReconcileObserver;
  readonly time: Clock;
  /** There is nothing more to be found out about the namespace for now. */
  readonly concluded: (name: string) => void;
  /** Look at the namespace again then. */
  readonly again: (name: string, milliseconds: number) => void;
}

/** A fault that may be over in a moment is not reported until it has been met so often in a row. */
export const patience = 4;

export class NamespaceWorker {
  readonly #options: NamespaceWorkerOptions;

  constructor(options: NamespaceWorkerOptions) {
    this.#options = options;
  }

  async reconcile(name: string, attempt: Attempt): Promise<Handled> {
    const { time, observer, ledger } = this.#options;
    const began = time.monotonic();
    const round = ledger.beginRound();
    const result = await this.#run(name, attempt, round);
    observer.reconciled({
      namespace: name,
      milliseconds: time.monotonic() - began,
      writes: result.writes,
      willRetry: result.retryMs !== undefined,
    });
    return result.retryMs === undefined ? done : { kind: 'retry', leastMs: result.retryMs };
  }

  async #run(name: string, { failures, signal }: Attempt, round: number): Promise<RoundResult> {
    const { planner, ledger, conditions, concluded } = this.#options;
    const result = new RoundResult();
    const repaired = await this.#repair(name, signal);
    result.addFault(repaired.fault);
    if (result.isSilence && failures < patience) return result;
    const plan = await planner.plan(name, signal);
    if (plan === undefined) {
      ledger.drop(name);
      conditions.forget(name);
      concluded(name);
      return result;
    }
    for (const fault of plan.faults) result.addFault(fault);
    const isComplete = await this.#carryOut(plan, result, signal);
    if (signal.aborted || result.isOver) return result;
    if (!isComplete || !planner.isCurrent(plan)) this.#options.again(name, 0);
    if (!isComplete || (result.isTransient && failures < patience)) return result;
    this.#report(name, plan, [...repaired.outcomes, ...plan.outcomes, ...result.outcomes], round);
    this.#planAhead(name, plan, result);
    concluded(name);
    return result;
  }

  async #repair(name: string, signal: AbortSignal): Promise<Repair> {
    const { namespaceOf, repairer, audits } = this.#options;
    const namespaceObject = namespaceOf(name);
    if (namespaceObject === undefined || !audits.isManaged(namespaceObject)) return { outcomes: [] };
    return await repairer.repair(namespaceObject, signal);
  }

  /** False: not all of it was done, because it does not follow any more from what there is. */
  async #carryOut(plan: NamespacePlan, result: RoundResult, signal: AbortSignal): Promise<boolean> {
    const { planner, executor } = this.#options;
    let isComplete = true;
    for (const step of plan.steps) {
      // Each step takes its time, and what it was planned from may be over.
      if (signal.aborted || result.isOver || !planner.isCurrent(plan)) return false;
      // Each request would have to wait for its timeout, and this place in the queue with it.
      if (result.isSilence) result.add(executor.untried(step));
      else if (this.#isStillDue(step)) result.add(await executor.execute(step, signal));
      else isComplete = false;
    }
    return isComplete;
  }

  /** The fuse may have been tripped by what happened in other namespaces since the plan was made. */
  #isStillDue(step: DoneStep): boolean {
    if (step.kind !== 'delete' || step.isExpired) return true;
    return this.#options.fuse.verdictOf(step.owner).kind === 'delete';
  }

  #report(name: string, plan: NamespacePlan, outcomes: readonly ObjectResult[], round: number): void {
    const { audits, ledger, conditions } = this.#options;
    const parts = audits.addTo(providerReports(name, plan.desired, outcomes), plan.namespaceObject);
    this.#announce(name, plan, parts);
    ledger.report(name, parts, round);
    conditions.want(name, namespaceReadiness(plan.desired, outcomes));
  }

  /** What will be otherwise though nothing happens: an expiry, the end of a pause, deletions that count no more. */
  #planAhead(name: string, plan: NamespacePlan, { againMs }: RoundResult): void {
    const { again, time, fuse } = this.#options;
    if (againMs !== undefined) again(name, againMs);
    const { nextExpiry } = plan.desired;
    if (nextExpiry !== undefined) again(name, Math.max(1, nextExpiry - time.now().getTime()));
    for (const { owner, reason } of plan.outcomes) {
      const lapse = reason === 'TooManyDeletions' ? fuse.nextLapse(owner) : undefined;
      if (lapse !== undefined) again(name, Math.max(1, lapse));
    }
  }

  #announce(name: string, plan: NamespacePlan, parts: Parts): void {
    const before = this.#options.ledger.partsOf(name);
    for (const [owner, { failures }] of parts) {
      const known = before.get(owner)?.failures ?? [];
      for (const failure of failures) {
        if (!known.some((each) => isSameFailure(each, failure))) this.#announceOne(owner, failure, plan);
      }
    }
  }

  #announceOne(
    owner: ProviderId,
    failure: UnsyncedObject,
    { desired, namespaceObject }: NamespacePlan,
  ): void {
    const claim = [...desired.claims.values()]
      .flat()
      .find(({ type, name }) => type.kind === failure.kind && name === failure.name);
    const namespace = namespaceObject.metadata.name ?? '';
    const live = claim === undefined ? undefined : this.#options.objects.get(namespace, claim.key);
    const object =
      claim === undefined
        ? undefined
        : eventObject({ type: claim.type, namespace, name: claim.name }, live?.uid);
    this.#options.announcer.failed(owner, failure, object);
  }
}

function isSameFailure(a: UnsyncedObject, b: UnsyncedObject): boolean {
  return a.kind === b.kind && a.name === b.name && a.reason === b.reason;
}

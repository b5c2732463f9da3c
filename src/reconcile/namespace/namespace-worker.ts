// Handles the keys of the namespace queue: plans, executes and reports one namespace.
import { isTerminating, nameOf } from '../../base/metadata.ts';
import { withFollowers, type ObjectResult } from '../../policy/plan/observed.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import {
  providerReports,
  type UnsyncedObject,
  namespaceCompliance,
  namespaceReadiness,
  terminatingReadiness,
} from '../../policy/status/namespace-ready.ts';
import { ownersOf, type DoneStep } from '../../policy/plan/plan.ts';
import { eventSubject, type EventAnnouncer } from '../events.ts';
import type { InitialSync, ProviderLedger, ProviderReports } from '../ledger.ts';
import type { CreationRecorder } from './creation-recorder.ts';
import type { DefaultsRepairer, NamespaceConditions, Repair } from './namespace-conditions.ts';
import { isReleasedOnce, type NamespacePlan } from './namespace-planner.ts';
import { nextExpiryOf } from '../live/sources.ts';
import type { Planning } from '../planning.ts';
import type { ReconcileContext } from '../ports.ts';
import { done, type Attempt, type Handled } from '../queue/queue.ts';
import type { StepExecutor, StepResult } from './step-executor.ts';
import type { WriteError } from './write-error.ts';

interface NamespaceParts {
  readonly executor: StepExecutor;
  readonly repairer: DefaultsRepairer;
  readonly recorder: CreationRecorder;
  readonly ledger: ProviderLedger;
  readonly conditions: NamespaceConditions;
  readonly announcer: EventAnnouncer;
  readonly initialSync: InitialSync;
}

/** The number of failures in a row before a transient error is reported. */
const maxSilentFailures = 4;
/** Kubernetes has four times this long to create a ServiceAccount before the status reports it as missing. */
const earlyMs = 1000;
/** The number of providers that may have a step at once in one namespace. */
const maxAtOnce = 8;

export class NamespaceWorker {
  readonly #context: ReconcileContext;
  readonly #planning: Planning;
  readonly #parts: NamespaceParts;

  constructor(context: ReconcileContext, planning: Planning, parts: NamespaceParts) {
    this.#context = context;
    this.#planning = planning;
    this.#parts = parts;
  }

  /** Handles one key of the namespace queue. */
  async reconcile(name: string, attempt: Attempt): Promise<Handled> {
    const { initialSync, announcer } = this.#parts;
    try {
      return await this.#reconcile(name, attempt);
    } finally {
      // A namespace that keeps failing must not hold up the initial sync.
      if (attempt.failures >= maxSilentFailures) initialSync.reconciled(name);
      announcer.endRound(name);
    }
  }

  async #reconcile(name: string, attempt: Attempt): Promise<Handled> {
    const { clock, observer } = this.#context;
    const { ledger } = this.#parts;
    const began = clock.monotonic();
    const round = ledger.beginRound();
    const result = await this.#run(name, attempt, round);
    observer.reconciled({
      namespace: name,
      milliseconds: clock.monotonic() - began,
      writes: result.writes,
      willRetry: result.retryMs !== undefined,
    });
    return result.retryMs === undefined ? done : { kind: 'retry', minDelayMs: result.retryMs };
  }

  async #run(name: string, { failures, signal }: Attempt, round: number): Promise<RoundResult> {
    const { namespaceQueue } = this.#context;
    const { planner } = this.#planning;
    const { initialSync } = this.#parts;
    const result = new RoundResult();
    const repaired = await this.#repair(name, signal);
    result.addError(repaired.error);
    result.addPause(repaired.againMs);
    if (result.isUnanswered && failures < maxSilentFailures) return result;
    const plan = await planner.plan(name, signal);
    if (plan === undefined) {
      this.#leave(name);
      return result;
    }
    result.addPlan(plan);
    const isComplete = await this.#carryOut(plan, result, signal);
    if (signal.aborted || result.isOver) return result;
    const recorded = hasToRecord(plan)
      ? await this.#parts.recorder.record(plan, result.outcomes, signal)
      : { outcomes: result.outcomes };
    result.addError(recorded.error);
    if (!isComplete || !planner.isCurrent(plan)) namespaceQueue.addAfter(name, 0);
    if (!isComplete || (result.isTransient && failures < maxSilentFailures)) return result;
    const outcomes = withFollowers([...repaired.outcomes, ...recorded.outcomes], plan.followers);
    this.#report(plan, outcomes, round, repaired.waves);
    this.#queueForLater(name, plan, result);
    initialSync.reconciled(name);
    return result;
  }

  /** Called for a namespace that is excluded, deleted or being deleted. Only a namespace being deleted has a condition. */
  #leave(name: string): void {
    const { cluster } = this.#context;
    const { ledger, conditions, initialSync } = this.#parts;
    const snapshot = cluster.snapshot();
    const namespaceObject = snapshot.namespace(name);
    ledger.drop(name);
    const isEnding = namespaceObject !== undefined && isTerminating(namespaceObject);
    if (isEnding && !snapshot.policies.isExcluded(name)) conditions.want(name, [terminatingReadiness]);
    else conditions.forget(name);
    initialSync.reconciled(name);
  }

  async #repair(name: string, signal: AbortSignal): Promise<Repair> {
    const snapshot = this.#context.cluster.snapshot();
    const namespaceObject = snapshot.namespace(name);
    if (namespaceObject === undefined || !isManaged(namespaceObject, snapshot)) return { outcomes: [] };
    return await this.#parts.repairer.repair(namespaceObject, signal);
  }

  /** Returns false if steps were left out because the plan is outdated. */
  async #carryOut(plan: NamespacePlan, result: RoundResult, signal: AbortSignal): Promise<boolean> {
    const { planner } = this.#planning;
    let isComplete = true;
    for (const steps of batchesOf(plan.steps)) {
      // The state can change while steps run.
      if (signal.aborted || result.isOver || !planner.isCurrent(plan)) return false;
      const { isUnanswered } = result;
      for (const each of await Promise.all(steps.map((step) => this.#execute(step, isUnanswered, signal)))) {
        if (each === undefined) isComplete = false;
        else result.add(each);
      }
    }
    return isComplete;
  }

  /** Returns undefined for a step that is outdated. */
  async #execute(
    step: DoneStep,
    isUnanswered: boolean,
    signal: AbortSignal,
  ): Promise<StepResult | undefined> {
    const { executor } = this.#parts;
    // Each further request would wait for its timeout and block this place of the queue.
    if (isUnanswered) return executor.untried(step);
    return this.#isStillDue(step) ? await executor.execute(step, signal) : undefined;
  }

  /** Returns false if the object is wanted again or its provider is being deleted since the plan. */
  #isStillDue(step: DoneStep): boolean {
    if (step.kind !== 'delete' || step.isExpired) return true;
    return this.#planning.fuse.verdictOf(step.owner, step.live).kind === 'delete';
  }

  #report(
    plan: NamespacePlan,
    outcomes: readonly ObjectResult[],
    round: number,
    waves: Repair['waves'],
  ): void {
    const { audits } = this.#planning;
    const { ledger, conditions } = this.#parts;
    const name = nameOf(plan.namespaceObject);
    const reports = audits.addTo(providerReports(name, plan.desired, outcomes), plan.namespaceObject, waves);
    this.#announce(name, plan, reports);
    ledger.report(name, reports, round);
    const readiness = namespaceReadiness(plan.desired, outcomes, plan.unowned);
    conditions.want(name, [readiness, ...namespaceCompliance(audits.judgedBy(plan.namespaceObject))]);
  }

  /** Queues the namespace for the next end of an object, exception or certificate, or the end of a pause. */
  #queueForLater(name: string, plan: NamespacePlan, { againMs }: RoundResult): void {
    const { namespaceQueue, providerQueue, clock } = this.#context;
    const { audits, sources } = this.#planning;
    if (againMs !== undefined) namespaceQueue.addAfter(name, againMs);
    const delayUntil = (end: number): number => Math.max(1, end - clock.now().getTime());
    for (const end of [plan.desired.nextExpiry, audits.nextRelaxationEnd(plan.namespaceObject)])
      if (end !== undefined) namespaceQueue.addAfter(name, delayUntil(end));
    for (const { content, provider } of [...plan.desired.claims.values()].flat()) {
      const end = content.kind === 'copy' ? nextExpiryOf(sources.copyStateOf(content.share)) : Infinity;
      if (end === Infinity) continue;
      namespaceQueue.addAfter(name, delayUntil(end));
      providerQueue.addAfter(provider, delayUntil(end));
    }
  }

  #announce(name: string, plan: NamespacePlan, reports: ProviderReports): void {
    const before = this.#parts.ledger.reportsOf(name);
    for (const [provider, { failures }] of reports) {
      const known = before.get(provider)?.failures ?? [];
      for (const failure of failures) {
        if (!known.some((each) => isSameFailure(each, failure))) this.#announceOne(provider, failure, plan);
      }
    }
  }

  #announceOne(
    provider: ProviderId,
    failure: UnsyncedObject,
    { desired, namespaceObject }: NamespacePlan,
  ): void {
    const claim = [...desired.claims.values(), ...desired.fields.values()]
      .flat()
      .find(({ type, name }) => type.kind === failure.kind && name === failure.name);
    const namespace = namespaceObject.metadata.name ?? '';
    const live = claim === undefined ? undefined : this.#planning.objects.get(namespace, claim.key);
    const object =
      claim === undefined || live === undefined
        ? undefined
        : eventSubject({ type: claim.type, namespace, name: claim.name }, live.uid);
    this.#parts.announcer.failed(provider, failure, object);
  }
}

/**
 * Splits steps into batches that run at once. The steps of one provider run one after the other, because a binding needs its
 * role. A tenant can have thousands of bindings in one namespace, and each of their objects costs three requests.
 */
function batchesOf(steps: readonly DoneStep[]): readonly (readonly DoneStep[])[] {
  const batches: DoneStep[][] = [];
  let owners = new Set<ProviderId>();
  for (const step of steps) {
    const own = ownersOf(step);
    if (batches.length === 0 || owners.size >= maxAtOnce || own.some((owner) => owners.has(owner))) {
      batches.push([]);
      owners = new Set();
    }
    for (const owner of own) owners.add(owner);
    batches.at(-1)?.push(step);
  }
  return batches;
}

/** Most namespaces have nothing that is created once. */
function hasToRecord({ desired, steps }: NamespacePlan): boolean {
  return desired.createsOnce || steps.some(isReleasedOnce);
}

function isSameFailure(a: UnsyncedObject, b: UnsyncedObject): boolean {
  return a.kind === b.kind && a.name === b.name && a.reason === b.reason;
}

/** Collects the results of one round. */
class RoundResult {
  readonly outcomes: ObjectResult[] = [];
  writes = 0;
  /** The least delay before a retry. Set when a step failed. */
  retryMs: number | undefined;
  /** The delay after which the result can differ, although no step failed. */
  againMs: number | undefined;
  /** True if a step failed with a transient error. */
  isTransient = false;
  /** True if a request got no answer. */
  isUnanswered = false;
  /** True if the namespace is being deleted, or the signal aborted. */
  isOver = false;

  add({ wrote, outcomes = [], retryMs, againMs, isTransient, isUnanswered, isOver }: StepResult): void {
    if (wrote) this.writes += 1;
    this.outcomes.push(...outcomes);
    if (retryMs !== undefined) this.#retry(retryMs);
    this.addPause(againMs);
    if (isTransient === true) this.isTransient = true;
    if (isUnanswered === true) this.isUnanswered = true;
    if (isOver === true) this.isOver = true;
  }

  addPlan({ outcomes, errors }: NamespacePlan): void {
    for (const error of errors) this.addError(error);
    this.outcomes.push(...outcomes);
    if (!outcomes.some(({ isEarly }) => isEarly === true)) return;
    this.isTransient = true;
    this.#retry(earlyMs);
  }

  addPause(againMs: number | undefined): void {
    if (againMs !== undefined) this.againMs = Math.min(this.againMs ?? againMs, againMs);
  }

  addError(error: WriteError | undefined): void {
    if (error?.kind === 'transient') {
      this.isTransient = true;
      if (error.isUnanswered === true) this.isUnanswered = true;
      this.#retry(error.minDelayMs);
    } else if (error?.kind === 'permanent' && error.minDelayMs !== undefined) this.#retry(error.minDelayMs);
  }

  #retry(milliseconds: number): void {
    this.retryMs = Math.min(this.retryMs ?? milliseconds, milliseconds);
  }
}

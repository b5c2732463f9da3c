// Executes one step of a plan and returns its result, also when it fails.
import {
  type Observed,
  endlessNote,
  isDefaultAccount,
  failedResult,
  syncedResult,
  undesiredResult,
  type ObjectResult,
} from '../../policy/plan/observed.ts';
import type { WriteStep } from '../../policy/plan/plan-claim.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import { adoptionNote, givenBackNote, replacedNote } from '../../policy/plan/remainder.ts';
import { eventSubject, type EventAnnouncer, type EventNote } from '../events.ts';
import { ownerOf, type DoneStep } from '../../policy/plan/plan.ts';
import type { Finalizers } from '../provider/provider-writes.ts';
import type { Fuse } from '../fuse/fuse.ts';
import { ObjectWrites } from './object-writes.ts';
import type { ObservedObjects } from '../live/observed-objects.ts';
import type { Clock } from '../../base/clock.ts';
import type { ObjectWriter } from '../../base/object-writer.ts';
import type { Place, ReconcileObserver, WriteVerb } from '../ports.ts';
import { classifyStepError, type WriteError } from './write-error.ts';
import { createHash } from 'node:crypto';

export interface StepResult {
  readonly wrote: boolean;
  /** Missing for objects that were deleted or will be retried soon. */
  readonly outcome?: ObjectResult;
  /** Retry after at least this delay. */
  readonly retryMs?: number;
  /** The next try can succeed. */
  readonly isTransient?: true;
  /** The API server did not answer. */
  readonly isUnanswered?: true;
  /** Reconcile again after this delay, though no step failed. */
  readonly againMs?: number;
  /** The namespace is being deleted, or the signal aborted. */
  readonly isOver?: true;
}

interface ExecutorOptions {
  readonly writer: ObjectWriter;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly objects: ObservedObjects;
  readonly finalizers: Finalizers;
  readonly fuse: Fuse;
  readonly announcer: EventAnnouncer;
  readonly observer: ReconcileObserver;
}

const nothingDone: StepResult = { wrote: false };

export class StepExecutor {
  readonly #options: ExecutorOptions;
  readonly #writes: ObjectWrites;
  readonly #rewriteLimit: RewriteLimit;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.#writes = new ObjectWrites(options.writer, options.clock);
    this.#rewriteLimit = new RewriteLimit(options.clock);
  }

  /** Throws only errors of the program. */
  async execute(step: DoneStep, signal: AbortSignal): Promise<StepResult> {
    try {
      return step.kind === 'delete' || step.kind === 'release'
        ? await this.#remove(step, signal)
        : await this.#write(step, signal);
    } catch (error) {
      if (signal.aborted) return { wrote: false, isOver: true };
      return this.#failed(step, classifyStepError(error, step));
    }
  }

  /** Returns the result of a step that is skipped, because the API server did not answer another step. */
  untried(step: DoneStep): StepResult {
    return { wrote: false, outcome: outcomeOf(step, 'ApiError', 'the API server does not answer') };
  }

  async #remove(step: DoneStep & { kind: 'delete' | 'release' }, signal: AbortSignal): Promise<StepResult> {
    const { objects, fuse } = this.#options;
    const { live, owner } = step;
    if (step.kind === 'release' && step.isOrphaned) {
      objects.wrote(await this.#writes.orphan(live, owner, signal));
      return this.#done(step, 'release', live.uid, endlessNote(live));
    }
    let note: EventNote | undefined;
    const remove = async (): Promise<void> => {
      if (step.kind === 'release') note = await this.#giveBack(live, signal);
      else {
        await this.#writes.remove(live, signal);
        objects.deleted(live);
        if (live.isHeld) note = { message: 'it waits for its finalizers' };
      }
    };
    await (step.isExpired ? remove() : fuse.deleting(owner, live, remove));
    return this.#done(step, step.kind, live.uid, note);
  }

  /** Returns what the event says of it. */
  async #giveBack(live: Observed, signal: AbortSignal): Promise<EventNote | undefined> {
    const { objects } = this.#options;
    const given = await this.#writes.giveBack(live, signal);
    if (given === undefined) {
      objects.deleted(live);
      return undefined;
    }
    objects.wrote(given.observed);
    return givenBackNote(given);
  }

  async #write(step: WriteStep, signal: AbortSignal): Promise<StepResult> {
    const { finalizers } = this.#options;
    const id = `${step.object.metadata.namespace ?? ''}/${step.claim.key}`;
    const fingerprint = fingerprintOf(step);
    const againMs = this.#rewriteLimit.pauseFor(id, fingerprint);
    if (againMs > 0) return this.#rewriteLimited(step, againMs);
    if (step.live === undefined && isDefaultAccount(step.claim.type, step.claim.name))
      return { wrote: false, outcome: notCreatedYet(step), retryMs: creationMs, isTransient: true };
    if (isOwnedAlready(step)) return await this.#keep(step, id, fingerprint, signal);
    let result = nothingDone;
    await finalizers.holding(step.claim.provider, signal, async () => {
      result = await this.#keep(step, id, fingerprint, signal);
    });
    return result;
  }

  async #keep(step: WriteStep, id: string, fingerprint: string, signal: AbortSignal): Promise<StepResult> {
    const { objects } = this.#options;
    const [written, note] = await this.#carryOut(step, signal);
    if (written === undefined) return { wrote: false, outcome: syncedResult(step.claim) };
    objects.wrote(written);
    this.#rewriteLimit.wrote(id, fingerprint);
    const verb = step.kind === 'check' ? 'update' : step.kind;
    return { ...this.#done(step, verb, written.uid, note), outcome: syncedResult(step.claim) };
  }

  /** Returns the object, if it was written, and what the event says of it. */
  async #carryOut(
    step: WriteStep,
    signal: AbortSignal,
  ): Promise<readonly [Observed | undefined, EventNote | undefined]> {
    const { objects } = this.#options;
    const { live, kind } = step;
    if (live === undefined || kind === 'create') return [await this.#writes.create(step, signal), undefined];
    switch (kind) {
      case 'update':
        return [await this.#writes.update(step, live, signal), adoptionNote(step)];
      case 'check':
        return [await this.#writes.check(step, live, signal), undefined];
      case 'replace': {
        const replaced = await this.#writes.replace(step, live, signal, () => objects.deleted(live));
        return [replaced.observed, { ...replacedNote(live), missingMs: replaced.missingMs }];
      }
      default:
        return kind satisfies never;
    }
  }

  #done(step: DoneStep, verb: WriteVerb, uid: string, note?: EventNote): StepResult {
    const { announcer, observer } = this.#options;
    const place = placeOf(step);
    observer.wrote(verb, place);
    const { type } = 'claim' in step ? step.claim : step.live;
    announcer.wrote(step, eventSubject({ type, namespace: place.namespace, name: place.name }, uid), note);
    return { wrote: true };
  }

  #rewriteLimited(step: WriteStep, againMs: number): StepResult {
    this.#options.observer.rewriteLimited(placeOf(step));
    const message = 'another client keeps changing this object back, so Reeve leaves it alone for a while';
    return { wrote: false, outcome: failedResult(step.claim, 'Contended', message), againMs };
  }

  #failed(step: DoneStep, error: WriteError): StepResult {
    const { observer, objects } = this.#options;
    switch (error.kind) {
      case 'not-found':
        if ('live' in step && step.live !== undefined) objects.deleted(step.live);
        return step.kind === 'delete' || step.kind === 'release'
          ? nothingDone
          : { wrote: false, retryMs: 0, isTransient: true };
      case 'namespace-terminating':
        return { wrote: false, isOver: true };
      case 'transient': {
        observer.failed(placeOf(step), error.reason);
        const outcome = outcomeOf(
          step,
          'ApiError',
          `the API server could not carry out the request (${error.reason})`,
        );
        return { wrote: false, outcome, ...retrying(error) };
      }
      case 'permanent': {
        observer.failed(placeOf(step), error.reason);
        const outcome = outcomeOf(step, error.reason, error.message);
        return {
          wrote: false,
          outcome,
          ...(error.minDelayMs === undefined ? {} : { retryMs: error.minDelayMs }),
        };
      }
      default:
        return error satisfies never;
    }
  }
}

/** Kubernetes has four times so long before the status reports the object as missing. */
export const creationMs = 1000;

/** Reeve creating it first would be a race with Kubernetes, which creates it in every namespace. */
export function notCreatedYet({ claim }: WriteStep): ObjectResult {
  const message =
    'Kubernetes has not created it yet, and Reeve only changes it: check that kube-controller-manager runs its controller serviceaccount';
  return failedResult(claim, 'NotCreatedYet', message);
}

/** The object names this provider already, so the finalizer is there. */
function isOwnedAlready({ claim, live }: WriteStep): boolean {
  return live?.owner === claim.provider;
}

export function retrying({
  minDelayMs,
  isUnanswered,
}: WriteError & { kind: 'transient' }): Partial<StepResult> {
  return { retryMs: minDelayMs, isTransient: true, ...(isUnanswered === true ? { isUnanswered } : {}) };
}

function outcomeOf(step: DoneStep, reason: string, message: string): ObjectResult {
  return step.kind === 'delete' || step.kind === 'release'
    ? undesiredResult({ provider: step.owner, key: step.live.key }, reason, message)
    : failedResult(step.claim, reason, message);
}

function placeOf(step: DoneStep): Place {
  const owner: ProviderId = ownerOf(step);
  if (step.kind === 'delete' || step.kind === 'release') {
    const { namespace, name, type } = step.live;
    return { namespace, kind: type.kind, name, owner };
  }
  const { object, claim } = step;
  return { namespace: object.metadata.namespace ?? '', kind: claim.type.kind, name: claim.name, owner };
}

// Limits the rate at which the same content is written to an object that another client keeps changing back.

interface Rewrites {
  /** Hash of the written content. Other content is not a rewrite. */
  readonly fingerprint: string;
  /** Times of the writes within the last minute, in ascending order. */
  times: readonly number[];
  /** How many pauses there were in a row. */
  pauses: number;
  pausedUntil: number;
}

const windowMs = 60_000;
const maxRewrites = 10;
const firstPauseMs = 5000;
const maxPauseMs = 300_000;

/** After `maxRewrites` writes within a minute the object is left alone, twice as long each time. */
export class RewriteLimit {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #rewrites = new Map<string, Rewrites>();
  #prunedAt = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Returns for how long the object must not be written with this content. 0: it may be written now. */
  pauseFor(id: string, fingerprint: string): number {
    const known = this.#rewrites.get(id);
    if (known?.fingerprint !== fingerprint) return 0;
    const now = this.#clock.monotonic();
    if (now < known.pausedUntil) return known.pausedUntil - now;
    const times = known.times.filter((time) => time > now - windowMs);
    if (times.length < maxRewrites) return 0;
    const pause = Math.min(maxPauseMs, firstPauseMs * 2 ** known.pauses);
    // Leaves room for one write after the pause. The next rewrite then begins a pause that is twice as long.
    this.#rewrites.set(id, {
      fingerprint,
      times: times.slice(1 - maxRewrites).map(() => now + pause),
      pauses: known.pauses + 1,
      pausedUntil: now + pause,
    });
    return pause;
  }

  wrote(id: string, fingerprint: string): void {
    const now = this.#clock.monotonic();
    this.#prune(now);
    const known = this.#rewrites.get(id);
    const same = known?.fingerprint === fingerprint ? known : undefined;
    const times = [...(same?.times ?? []), now].slice(-maxRewrites);
    this.#rewrites.set(id, { fingerprint, times, pauses: same?.pauses ?? 0, pausedUntil: 0 });
  }

  /** Drops objects whose last write and pause are too long ago to count. */
  #prune(now: number): void {
    if (now - this.#prunedAt < windowMs) return;
    this.#prunedAt = now;
    for (const [id, { times, pausedUntil }] of this.#rewrites) {
      const last = Math.max(times.at(-1) ?? 0, pausedUntil);
      if (last + windowMs < now) this.#rewrites.delete(id);
    }
  }
}

/** Two writes with the same content are the same write, whatever caused them. */
function fingerprintOf({ object }: Pick<WriteStep, 'object'>): string {
  return createHash('sha256').update(JSON.stringify(object)).digest('base64');
}

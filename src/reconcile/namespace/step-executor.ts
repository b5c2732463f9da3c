// Executes one step of a plan and returns its result, whether it succeeds or fails.
import { type Observed, failedResult, syncedResult, type ObjectResult } from '../../policy/plan/observed.ts';
import { hasFieldsOf } from '../../policy/plan/account.ts';
import type { AccountStep } from '../../policy/plan/plan-account.ts';
import {
  outcomesOf,
  ownerOf,
  ownersOf,
  placeOf,
  type DoneStep,
  type ObjectStep,
} from '../../policy/plan/plan.ts';
import type { WriteStep } from '../../policy/plan/plan-claim.ts';
import { serviceAccountType } from '../../base/object-type.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import {
  adoptionNote,
  endlessNote,
  givenBackNote,
  leftMetadata,
  orphanMetadata,
  replacedNote,
} from '../../policy/plan/remainder.ts';
import { eventSubject, type EventAnnouncer, type EventNote } from '../events.ts';
import type { Finalizers } from '../provider/provider-writes.ts';
import { isRecorded } from './creation-recorder.ts';
import { ObjectWrites } from './object-writes.ts';
import type { Clock } from '../../base/clock.ts';
import type { Planning } from '../planning.ts';
import type { ReconcileContext, WriteVerb } from '../ports.ts';
import { classifyStepError, type WriteError } from './write-error.ts';
import { createHash } from 'node:crypto';

export interface StepResult {
  readonly wrote: boolean;
  /** Missing for objects that were deleted or will be retried soon. */
  readonly outcomes?: readonly ObjectResult[];
  /** The least delay before a retry. */
  readonly retryMs?: number;
  /** True if the next try can succeed. */
  readonly isTransient?: true;
  /** True if the API server did not answer. */
  readonly isUnanswered?: true;
  /** The delay before the next round, although no step failed. */
  readonly againMs?: number;
  /** True if the namespace is being deleted, or the signal aborted. */
  readonly isOver?: true;
}

const leftNote: EventNote = { message: 'it was created once, and is now left to its namespace' };
const nothingDone: StepResult = { wrote: false };
const outdated: StepResult = { wrote: false, retryMs: 0, isTransient: true };
const recordUnseen: StepResult = { wrote: false, retryMs: 1000, isTransient: true };

export class StepExecutor {
  readonly #context: ReconcileContext;
  readonly #planning: Planning;
  readonly #finalizers: Finalizers;
  readonly #announcer: EventAnnouncer;
  readonly #writes: ObjectWrites;
  readonly #rewriteLimit: RewriteLimit;

  constructor(
    context: ReconcileContext,
    planning: Planning,
    finalizers: Finalizers,
    announcer: EventAnnouncer,
  ) {
    this.#context = context;
    this.#planning = planning;
    this.#finalizers = finalizers;
    this.#announcer = announcer;
    this.#writes = new ObjectWrites(context);
    this.#rewriteLimit = new RewriteLimit(context.clock);
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
    return { wrote: false, outcomes: outcomesOf(step, 'ApiError', 'the API server does not answer') };
  }

  async #remove(step: ObjectStep & { kind: 'delete' | 'release' }, signal: AbortSignal): Promise<StepResult> {
    const { objects, fuse } = this.#planning;
    const { live, owner } = step;
    if (step.kind === 'release' && (step.isOrphaned || step.isCreatedOnce === true)) {
      const marks = step.isOrphaned ? orphanMetadata(owner, live) : leftMetadata(live);
      objects.wrote(await this.#writes.release(live, marks, signal));
      return this.#done(step, 'release', live.uid, step.isOrphaned ? endlessNote(live) : leftNote);
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

  /** Returns the note for the event. */
  async #giveBack(live: Observed, signal: AbortSignal): Promise<EventNote | undefined> {
    const { objects } = this.#planning;
    const given = await this.#writes.giveBack(live, signal);
    if (given === undefined) {
      objects.deleted(live);
      return undefined;
    }
    objects.wrote(given.observed);
    return givenBackNote(given);
  }

  async #write(step: WriteStep | AccountStep, signal: AbortSignal): Promise<StepResult> {
    const id = idOf(step);
    const fingerprint = fingerprintOf(step.kind === 'fields' ? step.applies : step.object);
    const againMs = this.#rewriteLimit.pauseFor(id, fingerprint);
    if (againMs > 0) return this.#rewriteLimited(step, againMs);
    let result = outdated;
    if (step.kind === 'create' && step.claim.once !== undefined)
      if (await isRecorded(step, this.#context.writer, signal)) return recordUnseen;
    await this.#holding(joining(step), signal, async () => {
      result = step.kind === 'fields' ? await this.#setFields(step, signal) : await this.#keep(step, signal);
    });
    if (result.wrote) this.#rewriteLimit.wrote(id, fingerprint);
    return result;
  }

  /** Adds the finalizer to each provider before it has an object or fields here, so that these are removed later. */
  async #holding(
    [first, ...rest]: readonly ProviderId[],
    signal: AbortSignal,
    work: () => Promise<void>,
  ): Promise<void> {
    if (first === undefined) await work();
    else await this.#finalizers.holding(first, signal, () => this.#holding(rest, signal, work));
  }

  async #keep(step: WriteStep, signal: AbortSignal): Promise<StepResult> {
    const { objects } = this.#planning;
    const outcomes = [syncedResult(step.claim)];
    const [written, note] = await this.#carryOut(step, signal);
    if (written === undefined) return { wrote: false, outcomes };
    objects.wrote(written);
    const verb = step.kind === 'dry-run' ? 'update' : step.kind;
    return { ...this.#done(step, verb, written.uid, note), outcomes };
  }

  async #setFields(step: AccountStep, signal: AbortSignal): Promise<StepResult> {
    const { observer } = this.#context;
    const { accounts } = this.#planning;
    const { live, claims, leaving } = step;
    await this.#writes.setFields(step, (object, manager) => accounts.wrote(object, manager), signal);
    const object = eventSubject({ type: serviceAccountType, ...live }, live.uid);
    for (const { provider } of claims) {
      observer.wrote('update', placeOf(step, provider));
      this.#announcer.wroteFields(provider, object, 'Updated');
    }
    for (const provider of leaving) {
      observer.wrote('release', placeOf(step, provider));
      this.#announcer.wroteFields(provider, object, 'Released');
    }
    return { wrote: true, outcomes: claims.map(syncedResult) };
  }

  /** Returns the written object and the note for the event. */
  async #carryOut(
    step: WriteStep,
    signal: AbortSignal,
  ): Promise<readonly [Observed | undefined, EventNote | undefined]> {
    const { objects } = this.#planning;
    const { live, kind } = step;
    if (live === undefined || kind === 'create') return [await this.#writes.create(step, signal), undefined];
    switch (kind) {
      case 'update':
        return [await this.#writes.update(step, live, signal), adoptionNote(step)];
      case 'dry-run':
        return [await this.#writes.updateIfNeeded(step, live, signal), undefined];
      case 'replace': {
        const replaced = await this.#writes.replace(step, live, signal, () => objects.deleted(live));
        return [replaced.observed, { ...replacedNote(live), missingMs: replaced.missingMs }];
      }
      default:
        return kind satisfies never;
    }
  }

  #done(step: ObjectStep, verb: WriteVerb, uid: string, note?: EventNote): StepResult {
    const { observer } = this.#context;
    const place = placeOf(step, ownerOf(step));
    observer.wrote(verb, place);
    const { type } = 'claim' in step ? step.claim : step.live;
    this.#announcer.wrote(
      step,
      eventSubject({ type, namespace: place.namespace, name: place.name }, uid),
      note,
    );
    return { wrote: true };
  }

  #rewriteLimited(step: WriteStep | AccountStep, againMs: number): StepResult {
    const what = step.kind === 'fields' ? ['these fields', 'them'] : ['this object', 'it'];
    const message = `another client keeps changing ${what[0]} back, so Reeve leaves ${what[1]} alone for a while`;
    const claims = step.kind === 'fields' ? step.claims : [step.claim];
    for (const { provider } of claims) this.#context.observer.rewriteLimited(placeOf(step, provider));
    return {
      wrote: false,
      outcomes: claims.map((each) => failedResult(each, 'Contended', message)),
      againMs,
    };
  }

  #forget(step: DoneStep): void {
    if (step.kind === 'fields') this.#planning.accounts.deleted(step.live, 'own');
    else if (step.live !== undefined) this.#planning.objects.deleted(step.live);
  }

  #reportFailure(step: DoneStep, reason: string): void {
    for (const owner of ownersOf(step)) this.#context.observer.failed(placeOf(step, owner), reason);
  }

  #failed(step: DoneStep, error: WriteError): StepResult {
    switch (error.kind) {
      case 'not-found':
        this.#forget(step);
        return step.kind === 'delete' || step.kind === 'release' ? nothingDone : outdated;
      case 'namespace-terminating':
        return { wrote: false, isOver: true };
      case 'transient': {
        this.#reportFailure(step, error.reason);
        const message = `the API server could not carry out the request (${error.reason})`;
        return { wrote: false, outcomes: outcomesOf(step, 'ApiError', message), ...retrying(error) };
      }
      case 'permanent': {
        this.#reportFailure(step, error.reason);
        return {
          wrote: false,
          outcomes: outcomesOf(step, error.reason, error.message),
          ...(error.minDelayMs === undefined ? {} : { retryMs: error.minDelayMs }),
        };
      }
      default:
        return error satisfies never;
    }
  }
}

/** Returns the providers that get their first object or fields here. All others already have the finalizer. */
function joining(step: WriteStep | AccountStep): readonly ProviderId[] {
  if (step.kind !== 'fields') return step.live?.owner === step.claim.provider ? [] : [step.claim.provider];
  const { claims, live } = step;
  return claims.flatMap(({ provider }) => (hasFieldsOf(provider, live) ? [] : [provider]));
}

function retrying({ minDelayMs, isUnanswered }: WriteError & { kind: 'transient' }): Partial<StepResult> {
  return { retryMs: minDelayMs, isTransient: true, ...(isUnanswered === true ? { isUnanswered } : {}) };
}

function idOf(step: WriteStep | AccountStep): string {
  // Different steps write the whole object and fields of it. They must not count as writes of the same content.
  if (step.kind === 'fields') return `${step.live.namespace}/${step.live.key} fields`;
  return `${step.object.metadata.namespace ?? ''}/${step.claim.key}`;
}

// Limits how often the same content is written to an object that another client keeps changing back.

interface Rewrites {
  /** Hash of the written content. Other content is not a rewrite. */
  readonly fingerprint: string;
  /** The times of the writes within the last minute, in ascending order. */
  times: readonly number[];
  /** The number of pauses in a row. */
  pauses: number;
  pausedUntil: number;
}

const windowMs = 60_000;
const maxRewrites = 10;
const firstPauseMs = 5000;
const maxPauseMs = 300_000;

/** Leaves an object alone after `maxRewrites` writes within a minute, each time for twice as long. */
export class RewriteLimit {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #rewrites = new Map<string, Rewrites>();
  #prunedAt = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Returns the time for which the object must not be written with this content. 0: the write may happen now. */
  pauseFor(id: string, fingerprint: string): number {
    const known = this.#rewrites.get(id);
    if (known?.fingerprint !== fingerprint) return 0;
    const now = this.#clock.monotonic();
    if (now < known.pausedUntil) return known.pausedUntil - now;
    const times = known.times.filter((time) => time > now - windowMs);
    if (times.length < maxRewrites) return 0;
    const pause = Math.min(maxPauseMs, firstPauseMs * 2 ** known.pauses);
    // Leaves room for one write after the pause. The next rewrite then begins a pause twice as long.
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

/** Returns the same text for writes with the same content, whatever caused them. */
function fingerprintOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('base64');
}

// Makes long decisions in slices, in turns between users, so that other reviews, probes and the renewal of Leases come first.
import { setImmediate } from 'node:timers/promises';
import { type Clock, Deadline } from '../base/clock.ts';
import { defaultEvaluationUnits, type Budget, type Steps } from '../policy/terms/budget.ts';

/** After so long without a pause, timers, sockets and probes get their turn. */
const sliceMs = 10;
/** A step that costs more must leave out the rest of its namespace: other reviews wait for a step. */
const stepUnits = defaultEvaluationUnits / 5;
/** All steps together: 2,000 units for each of 10,000 namespaces. The others are left out. */
const decisionUnits = 8 * defaultEvaluationUnits;
/** The rest of the time is for the questions about the author's rights. */
const decidingShare = 0.75;
/** A review that waits longer would have too little time left for its own decision. */
const waitingShare = 0.5;

/** A write of a policy or share, and its user. */
interface LongReview {
  readonly user: string;
  readonly subject: string;
}

type Made<T> =
  /** `isLate`: the time ended before the decision had looked at everything. */
  | { readonly kind: 'made'; readonly value: T; readonly isLate: boolean }
  /** `subject`: the policy or share of the same user that was decided first. */
  | { readonly kind: 'waited'; readonly subject: string };

interface Waiting {
  readonly subject: string;
  /** Resolves when this decision and all before it have ended. */
  readonly ended: Promise<void>;
}

/** Each step has a part of the units. The time is looked at before each step: a step is as short as a review. */
class StepBudget implements Budget {
  readonly #monotonic: () => number;
  readonly #due: number;
  #left = decisionUnits;
  #leftOfStep = 0;
  isLate = false;

  constructor(monotonic: () => number, due: number) {
    this.#monotonic = monotonic;
    this.#due = due;
  }

  nextStep(): void {
    this.#leftOfStep = Math.min(stepUnits, this.#left);
    this.isLate ||= this.#left > 0 && this.#monotonic() >= this.#due;
  }

  spend(units: number): void {
    this.#left -= units;
    this.#leftOfStep -= units;
  }

  isSpent(): boolean {
    return this.isLate || this.#leftOfStep <= 0;
  }
}

export class LongDecisions {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  /** By user, the decision that is being made, and those that wait for it. */
  readonly #queues = new Map<string, Waiting[]>();
  #turns: Promise<void> = Promise.resolve();

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock;
  }

  /** Waits for the decisions of the same user before, and for no other user. */
  async make<T>(
    { user, subject }: LongReview,
    decide: (budget: Budget) => Steps<T>,
    deadline: Deadline,
  ): Promise<Made<T>> {
    const queue = this.#queues.get(user) ?? [];
    this.#queues.set(user, queue);
    const inFront = queue[0]?.subject ?? subject;
    const before = queue.at(-1)?.ended ?? Promise.resolve();
    const ended = Promise.withResolvers<void>();
    const own = { subject, ended: before.then(() => ended.promise) };
    queue.push(own);
    try {
      const latest = new Deadline(this.#clock, deadline.remaining * waitingShare);
      const turn = await latest.within(() => before);
      if (!turn.inTime || latest.isOver) return { kind: 'waited', subject: inFront };
      return await this.#run(decide, deadline);
    } finally {
      queue.splice(queue.indexOf(own), 1);
      if (queue.length === 0) this.#queues.delete(user);
      ended.resolve();
    }
  }

  async #run<T>(decide: (budget: Budget) => Steps<T>, { remaining }: Deadline): Promise<Made<T>> {
    const clock = this.#clock;
    const end = clock.monotonic() + remaining * decidingShare;
    const budget = new StepBudget(() => clock.monotonic(), end);
    const steps = decide(budget);
    for (;;) {
      await this.#turn();
      const sliceEnd = clock.monotonic() + sliceMs;
      do {
        budget.nextStep();
        const step = steps.next();
        if (step.done === true) return { kind: 'made', value: step.value, isLate: budget.isLate };
      } while (clock.monotonic() < sliceEnd);
    }
  }

  /** Each slice has a turn of the event loop, after the slices that other decisions have asked for. */
  #turn(): Promise<void> {
    this.#turns = this.#turns.then(() => setImmediate());
    return this.#turns;
  }
}

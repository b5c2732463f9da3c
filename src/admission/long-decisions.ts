// Makes long decisions in slices, one at a time, so that other reviews, probes and the renewal of Leases come first.
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { Budget, Steps } from '../policy/terms/budget.ts';
import type { Deadline } from './http/deadline.ts';

/** After so long without a pause, timers, sockets and probes get their turn. */
const sliceMs = 10;
/** A step that takes longer must leave out the rest of its namespace. */
const stepMs = 100;
/** The rest of the time is for the questions about the author's rights. */
const decidingShare = 0.75;

export class LongDecisions {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #last: Promise<void> = Promise.resolve();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Waits for the decisions before. Returns undefined when the deadline expires first. */
  async make<T>(decide: (budget: Budget) => Steps<T>, deadline: Deadline): Promise<T | undefined> {
    const before = this.#last;
    const ended = Promise.withResolvers<void>();
    this.#last = before.then(() => ended.promise);
    try {
      const turn = await deadline.within(() => before);
      return turn.inTime && !deadline.isOver ? await this.#run(decide, deadline) : undefined;
    } finally {
      ended.resolve();
    }
  }

  async #run<T>(decide: (budget: Budget) => Steps<T>, { remaining }: Deadline): Promise<T> {
    const clock = this.#clock;
    let sliceBegan = clock.monotonic();
    const end = sliceBegan + remaining * decidingShare;
    let stepEnd = end;
    const steps = decide({ isSpent: () => clock.monotonic() >= stepEnd });
    for (;;) {
      if (clock.monotonic() - sliceBegan >= sliceMs) {
        await setImmediate();
        sliceBegan = clock.monotonic();
      }
      stepEnd = Math.min(clock.monotonic() + stepMs, end);
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }
}

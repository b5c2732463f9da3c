// Sends the answers of a busy moment together, after all requests that have arrived are judged.
import type { Clock } from '../../base/clock.ts';

/** Longer than 32 connections take for a turn. Without it, a slow decision delays the answers before it in its turn. */
const maxWaitMs = 5;

interface WaitingAnswer {
  readonly send: () => void;
  /** Called after all answers of the turn are sent: work between two writes would take their gain. */
  readonly sent: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Each write to a socket wakes its reader, which costs more than the decision: with 32 connections, 27 % more answers a
 * second if the answers of one turn of the event loop are written one after the other. A lonely answer is sent at once.
 */
export class AnswerQueue {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #waiting: WaitingAnswer[] = [];
  #oldestAt = 0;
  #inTurn = 0;
  /** True if the last turn of the event loop had more than one answer. */
  #isBusy = false;
  readonly #endTurn = (): void => {
    this.#isBusy = this.#inTurn > 1;
    this.#inTurn = 0;
    this.#sendWaiting();
  };

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Calls `failed` when `send` or `sent` throws. Each answer has its own error. */
  add(answer: WaitingAnswer): void {
    if (this.#inTurn === 0) setImmediate(this.#endTurn);
    this.#inTurn += 1;
    const now = this.#clock.monotonic();
    if (this.#waiting.length === 0) this.#oldestAt = now;
    this.#waiting.push(answer);
    if (!this.#isBusy || now - this.#oldestAt >= maxWaitMs) this.#sendWaiting();
  }

  #sendWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { send, failed } of waiting) attempt(send, failed);
    for (const { sent, failed } of waiting) attempt(sent, failed);
  }
}

function attempt(work: () => void, failed: (error: unknown) => void): void {
  try {
    work();
  } catch (error) {
    failed(error);
  }
}

// Writes at a steady rate without waiting for answers, and counts the outcomes.
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/until.ts';
import type { CallAnswer } from '../../soak/api-calls.ts';

export interface PacedOptions {
  readonly perSecond: number;
  /** The number of writes that start in the same moment. */
  readonly atOnce: number;
  readonly write: (turn: number) => Promise<CallAnswer>;
  /** Returns the outcome of a write in a few words. */
  readonly outcome: (answer: CallAnswer) => string;
}

/**
 * Limits unanswered writes, because a slow machine would pile them up. Each write without an idle connection from the
 * API server to a webhook also costs a handshake.
 */
const mostPending = 50;
/** A busy machine makes up for late writes of at most this time. */
const catchUpMs = 5000;
const retryMs = 10;

export class PacedWrites {
  readonly #options: PacedOptions;
  readonly #outcomes = new Map<string, number>();
  readonly #pending = new Set<Promise<void>>();
  readonly #working: Promise<void>;
  #isOver = false;
  #sent = 0;
  /** The time at which the next writes are due. */
  #due = performance.now();
  /** The time for which a busy machine has skipped writes for good. */
  #lostMs = 0;

  /** Starts writing at once. */
  constructor(options: PacedOptions) {
    this.#options = options;
    this.#working = this.#write();
  }

  /** The number of writes sent so far, answered or not. */
  get sent(): number {
    return this.#sent;
  }

  /** The number of writes that are missing because the machine was too busy. */
  get missed(): number {
    const lateMs = Math.max(performance.now() - this.#due, 0);
    return ((this.#lostMs + lateMs) * this.#options.perSecond) / 1000;
  }

  /** The number of writes with each outcome so far. */
  get outcomes(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#outcomes);
  }

  /** Resolves when this many more writes have been answered. */
  async answered(count: number): Promise<void> {
    const target = this.#answered + count;
    await until(
      () => Promise.resolve(this.#answered >= target),
      () => `${target} answers: ${JSON.stringify(this.outcomes)}`,
    );
  }

  /** Stops writing. Resolves once all writes are answered. */
  async stop(): Promise<Readonly<Record<string, number>>> {
    this.#isOver = true;
    await this.#working;
    await Promise.all(this.#pending);
    return this.outcomes;
  }

  get #answered(): number {
    return [...this.#outcomes.values()].reduce((sum, count) => sum + count, 0);
  }

  async #write(): Promise<void> {
    const { perSecond, atOnce } = this.#options;
    const intervalMs = (1000 * atOnce) / perSecond;
    while (!this.#isOver) {
      if (this.#pending.size + atOnce <= mostPending) {
        for (let count = 0; count < atOnce; count += 1) void this.#send();
        this.#due += intervalMs;
        const lostMs = Math.max(performance.now() - catchUpMs - this.#due, 0);
        this.#lostMs += lostMs;
        this.#due += lostMs;
      }
      await sleep(Math.max(this.#due - performance.now(), retryMs));
    }
  }

  async #send(): Promise<void> {
    const turn = this.#sent;
    this.#sent += 1;
    const counting = this.#count(this.#options.write(turn));
    this.#pending.add(counting);
    await counting;
    this.#pending.delete(counting);
  }

  async #count(answering: Promise<CallAnswer>): Promise<void> {
    const outcome = this.#options.outcome(await answering);
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
  }
}

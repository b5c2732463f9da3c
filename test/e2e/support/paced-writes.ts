// Writes at a steady rate without waiting for answers, and counts what each write came to.
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/until.ts';
import type { CallAnswer } from '../../soak/api-calls.ts';

export interface PacedOptions {
  readonly perSecond: number;
  /** How many of them in the same moment. */
  readonly atOnce: number;
  readonly write: (turn: number) => Promise<CallAnswer>;
  /** What it came to, in a few words. */
  readonly outcome: (answer: CallAnswer) => string;
}

/**
 * A machine that cannot keep up gets fewer, rather than ever more at once: each that finds no idle connection from the API
 * server to a webhook costs a handshake more.
 */
const mostPending = 50;
/** For how long turns are made up for that a busy machine has missed. */
const catchUpMs = 5000;
const retryMs = 10;

export class PacedWrites {
  readonly #options: PacedOptions;
  readonly #outcomes = new Map<string, number>();
  readonly #pending = new Set<Promise<void>>();
  readonly #working: Promise<void>;
  #isOver = false;
  #sent = 0;
  /** When the next ones are. */
  #due = performance.now();
  /** Given up, where it has lain back for too long. */
  #lostMs = 0;

  /** Begins at once. */
  constructor(options: PacedOptions) {
    this.#options = options;
    this.#working = this.#write();
  }

  /** How many were written until now, whatever became of them. */
  get sent(): number {
    return this.#sent;
  }

  /** How many more would have been written by now, had the machine not been too busy for them. */
  get missed(): number {
    const lateMs = Math.max(performance.now() - this.#due, 0);
    return ((this.#lostMs + lateMs) * this.#options.perSecond) / 1000;
  }

  /** How often each outcome was met until now. */
  get outcomes(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#outcomes);
  }

  /** Settled when so many more have been answered. */
  async answered(count: number): Promise<void> {
    const target = this.#answered + count;
    await until(
      () => Promise.resolve(this.#answered >= target),
      () => `${target} answers: ${JSON.stringify(this.outcomes)}`,
    );
  }

  /** Settled once every one of them is answered. */
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

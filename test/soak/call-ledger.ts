// Counts the calls of people and their results. A failure counts separately while a fault excuses it.
import type { CallAnswer } from './api-calls.ts';

/** Returns true when the fault is expected to cause the failed call. */
export type Excuse = (answer: CallAnswer) => boolean;

interface Window {
  readonly fault: string;
  readonly excuse: Excuse;
  readonly from: number;
  until: number;
}

export interface FailedCall {
  readonly action: string;
  readonly status: number;
  readonly message: string;
  /** The fault that excuses the call. */
  readonly fault?: string;
  /** Current or recent faults that do not excuse the call. */
  readonly during?: readonly string[];
  readonly at: string;
}

/** The number of failures kept as examples. All failures are counted. */
const mostKept = 200;

export class CallLedger {
  readonly #now: () => number;
  readonly #windows: Window[] = [];
  readonly #done = new Map<string, number>();
  readonly #excused = new Map<string, number>();
  readonly #failures: FailedCall[] = [];
  #failed = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Excuses the failures that the fault can cause, until the returned function is called. */
  excuse(fault: string, excuse: Excuse): () => void {
    const window = { fault, excuse, from: this.#now(), until: Number.POSITIVE_INFINITY };
    this.#windows.push(window);
    return () => {
      window.until = this.#now();
    };
  }

  done(action: string, { status }: CallAnswer): void {
    const key = `${action}: ${status}`;
    this.#done.set(key, (this.#done.get(key) ?? 0) + 1);
  }

  failed(action: string, answer: CallAnswer, began: number): void {
    const met = this.#windows.filter(({ until }) => until >= began);
    const excusing = met.find(({ excuse }) => excuse(answer));
    const { status, message } = answer;
    const failure = { action, status, message: message.slice(0, 400), at: new Date().toISOString() };
    if (excusing !== undefined) {
      this.#excused.set(excusing.fault, (this.#excused.get(excusing.fault) ?? 0) + 1);
      return;
    }
    this.#failed += 1;
    if (this.#failures.length < mostKept)
      this.#failures.push({ ...failure, during: met.map(({ fault }) => fault) });
  }

  get totals(): {
    readonly calls: number;
    readonly byOutcome: Readonly<Record<string, number>>;
    readonly failed: number;
    readonly failures: readonly FailedCall[];
    readonly excused: Readonly<Record<string, number>>;
  } {
    const sum = (counts: ReadonlyMap<string, number>): number =>
      [...counts.values()].reduce((total, count) => total + count, 0);
    return {
      calls: sum(this.#done) + sum(this.#excused) + this.#failed,
      byOutcome: inOrder(this.#done),
      failed: this.#failed,
      failures: this.#failures,
      excused: inOrder(this.#excused),
    };
  }
}

function inOrder(counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

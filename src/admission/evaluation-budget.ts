// The budget of one review in CPU time, and the policies that use most of it.
import type { Budget } from '../policy/terms/budget.ts';

/** A smaller part of the time is no reason to change a policy. */
const minShare = 0.1;
const maxPolicies = 3;

/**
 * The CPU time is not read before this part of the budget has passed: a thread cannot use more of it than has passed. Each
 * read is a system call, and all of them took 4 % of the time of an answer.
 */
const uncheckedShare = 0.05;

export interface BudgetClocks {
  /** Milliseconds for which this thread has used a CPU. */
  readonly cpuTime: () => number;
  readonly monotonic: () => number;
}

/** Policies are no slower on a busy machine, so the budget counts CPU time. The caller waits only until the deadline. */
export class EvaluationBudget implements Budget {
  readonly #clocks: BudgetClocks;
  readonly #deadline: number;
  readonly #uncheckedUntil: number;
  readonly #end: number;
  readonly #usedBy = new Map<string, number>();
  #since: number;
  #policy = '';
  #next = '';

  /** `deadline`: in monotonic time. */
  constructor(clocks: BudgetClocks, milliseconds: number, deadline: number) {
    this.#clocks = clocks;
    this.#deadline = deadline;
    this.#since = clocks.cpuTime();
    this.#end = this.#since + milliseconds;
    this.#uncheckedUntil = Math.min(clocks.monotonic() + milliseconds * uncheckedShare, deadline);
  }

  charge(policy: string): void {
    this.#next = policy;
  }

  isSpent(): boolean {
    const now = this.#clocks.monotonic();
    if (now < this.#uncheckedUntil) {
      this.#policy = this.#next;
      return false;
    }
    const time = this.#clocks.cpuTime();
    if (this.#policy !== this.#next) this.#note(time);
    return time >= this.#end || now >= this.#deadline;
  }

  /** Returns the policies that used most of the time, the slowest first. */
  slowest(): readonly string[] {
    this.#note(this.#clocks.cpuTime());
    const used = [...this.#usedBy].filter(([policy]) => policy !== '');
    const total = used.reduce((sum, [, time]) => sum + time, 0);
    return used
      .filter(([, time]) => time > 0 && time >= total * minShare)
      .sort(([, a], [, b]) => b - a)
      .slice(0, maxPolicies)
      .map(([policy]) => policy);
  }

  #note(time: number): void {
    this.#usedBy.set(this.#policy, (this.#usedBy.get(this.#policy) ?? 0) + time - this.#since);
    this.#since = time;
    this.#policy = this.#next;
  }
}

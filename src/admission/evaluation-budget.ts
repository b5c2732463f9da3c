// The budget of one review in CPU time, and the policies that use most of it.
import type { Budget } from '../policy/terms/budget.ts';

/** A smaller part of the time is no reason to change a policy. */
const minShare = 0.1;
const maxPolicies = 3;

/** Policies are no slower on a busy machine, so the budget counts CPU time. The caller waits only until the deadline. */
export class EvaluationBudget implements Budget {
  readonly #cpuTime: () => number;
  readonly #isLate: () => boolean;
  readonly #end: number;
  readonly #usedBy = new Map<string, number>();
  #since: number;
  #policy = '';
  #next = '';

  constructor(cpuTime: () => number, milliseconds: number, isLate: () => boolean) {
    this.#cpuTime = cpuTime;
    this.#isLate = isLate;
    this.#since = cpuTime();
    this.#end = this.#since + milliseconds;
  }

  /** Reading the CPU time is slow, so the next check reads it for both policies. */
  charge(policy: string): void {
    this.#next = policy;
  }

  isSpent(): boolean {
    const time = this.#cpuTime();
    if (this.#policy !== this.#next) this.#note(time);
    return time >= this.#end || this.#isLate();
  }

  /** Returns the policies that used most of the time, the slowest first. */
  slowest(): readonly string[] {
    this.#note(this.#cpuTime());
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

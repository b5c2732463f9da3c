// The budget of one review in units of work, and the policies that use most of it.
import type { Budget } from '../policy/terms/budget.ts';

/** A smaller part of the work is no reason to change a policy. */
const minShare = 0.1;
const maxPolicies = 3;

/** The clock is read once for this much work, which takes milliseconds. Most reviews need less, and never read it. */
const unitsPerLook = 20_000;

/** A policy, and the units that it has used in one review. */
export interface PolicyCost {
  readonly policy: string;
  readonly units: number;
}

/** The caller waits only until `due`, in milliseconds of the monotonic clock. */
export class EvaluationBudget implements Budget {
  readonly units: number;
  readonly #monotonic: () => number;
  readonly #due: number;
  readonly #usedBy = new Map<string, number>();
  #left: number;
  /** What was left when the policy began to spend. */
  #began: number;
  #nextLook: number;
  #policy = '';
  #isLate = false;

  constructor(units: number, monotonic: () => number, due: number) {
    this.units = units;
    this.#left = units;
    this.#began = units;
    this.#nextLook = units - unitsPerLook;
    this.#monotonic = monotonic;
    this.#due = due;
  }

  spend(units: number): void {
    this.#left -= units;
  }

  charge(policy: string): void {
    if (policy !== this.#policy) this.#note(policy);
  }

  isSpent(): boolean {
    if (this.#left <= 0) return true;
    if (this.#left < this.#nextLook) {
      this.#nextLook = this.#left - unitsPerLook;
      this.#isLate ||= this.#monotonic() >= this.#due;
    }
    return this.#isLate;
  }

  get isLate(): boolean {
    return this.#isLate;
  }

  /** Returns the policies that used most of the budget, the most expensive first. */
  dearest(): readonly PolicyCost[] {
    this.#note(this.#policy);
    const used = [...this.#usedBy].map(([policy, units]): PolicyCost => ({ policy, units }));
    const total = used.reduce((sum, { units }) => sum + units, 0);
    return used
      .filter(({ policy, units }) => policy !== '' && units >= total * minShare)
      .sort((a, b) => b.units - a.units)
      .slice(0, maxPolicies);
  }

  #note(next: string): void {
    const units = this.#began - this.#left;
    if (units > 0) this.#usedBy.set(this.#policy, (this.#usedBy.get(this.#policy) ?? 0) + units);
    this.#began = this.#left;
    this.#policy = next;
  }
}

// Limits the work of one review. The engine checks the budget between rules, so no policy can block the server.

import type { RuleBudget } from '../../rules/rule.ts';
import type { Trace } from './review.ts';

/** The inputs of a decision besides the request and the cluster. */
export interface Circumstances {
  readonly now: Date;
  readonly budget: Budget;
  readonly trace?: Trace | undefined;
}

/**
 * Counts work in units of CEL, so that a request gets the same answer on a fast and on a slow machine. One unit is an access to
 * a field, a call, or 16 characters. Other work counts as many units as take the same time.
 */
export interface Budget extends RuleBudget {
  /** True if the answer was due before the budget was spent. Then no policy is to blame. */
  readonly isLate: boolean;
  /** Names the policy that spends from now on. Absent if no message needs the name. */
  charge?(policy: string): void;
}

/**
 * A computation in steps, so that its caller may do other work in between. Each step starts with a new part of the budget. A
 * budget that is spent at the start of a step has nothing left.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

/**
 * The units of one review, by default. Kubernetes allows as many for the match conditions of one request:
 * https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiserver/pkg/apis/cel/config.go
 */
export const defaultEvaluationUnits = 2_500_000;

/** A cheaper policy leaves enough budget for nine others. */
const dearUnits = defaultEvaluationUnits / 10;

export function isDear(units: number): boolean {
  return units >= dearUnits;
}

export const unlimitedBudget: Budget = { spend: () => undefined, isSpent: () => false, isLate: false };

/** Counts what one part of a review spends. */
export class CountingBudget implements Budget {
  readonly #budget: Budget;
  units = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  spend(units: number): void {
    this.units += units;
    this.#budget.spend(units);
  }

  isSpent(): boolean {
    return this.#budget.isSpent();
  }

  get isLate(): boolean {
    return this.#budget.isLate;
  }
}

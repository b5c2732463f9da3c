// Limits the work of one review. The engine checks the budget between rules, so no policy can block the server.

import type { Trace } from './trace.ts';

/** The inputs of a decision besides the request and the cluster. */
export interface Circumstances {
  readonly now: Date;
  readonly budget: Budget;
  readonly trace?: Trace | undefined;
}

export interface Budget {
  /** True once the review has used up its budget. */
  isSpent(): boolean;
  /** Says which policy uses the time from the next check on. Absent where no message needs it. */
  charge?(policy: string): void;
}

/**
 * A computation in steps: its caller may do other work in between. Each step starts with a new part of the budget, so a
 * budget that is spent at the start of a step is spent for good.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

export const unlimitedBudget: Budget = { isSpent: () => false };

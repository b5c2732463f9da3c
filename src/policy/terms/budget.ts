// Limits the work of one review. The engine checks the budget between rules, so no policy can block the server.

/** The inputs of a decision besides the request and the cluster. */
export interface Circumstances {
  readonly now: Date;
  readonly budget: Budget;
}

export interface Budget {
  /** True once the review has used up its budget. */
  isSpent(): boolean;
}

/** Lasts until `deadline`, in milliseconds of the monotonic clock. */
export function budgetUntil(deadline: number, monotonic: () => number): Budget {
  return { isSpent: () => monotonic() >= deadline };
}

export const unlimitedBudget: Budget = { isSpent: () => false };

// How much work one review may cost: checked between rules, so that no policy can hold up the server for long.

/** What decides beside the request and the cluster. */
export interface Circumstances {
  readonly now: Date;
  readonly budget: Budget;
}

export interface Budget {
  /** True once the work that this review may cost is used up. */
  isSpent(): boolean;
}

/** A budget that lasts until a moment of a monotonic clock (milliseconds). */
export function budgetUntil(deadline: number, monotonic: () => number): Budget {
  return { isSpent: () => monotonic() >= deadline };
}

export const unlimitedBudget: Budget = { isSpent: () => false };

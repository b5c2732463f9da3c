// Counts the work of one evaluation, so that an expression over a large object cannot block the server.

/**
 * Kubernetes, too, allows 1,000,000 cost units for one expression:
 * https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiserver/pkg/apis/cel/config.go
 */
const UNITS = 1_000_000;

/** Adds up the work of several evaluations. */
export interface Work {
  spend(units: number): void;
  /** True once no further evaluation should begin. Left out: there is no such limit. */
  isSpent?(): boolean;
}

export class Meter {
  #left = UNITS;

  /** Returns false when the budget is used up. The evaluation then has no result, whatever its steps return. */
  spend(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }

  get spent(): number {
    return UNITS - this.#left;
  }

  get exhausted(): boolean {
    return this.#left < 0;
  }
}

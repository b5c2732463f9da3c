// Counts the work of one evaluation, so that no expression over a large object can hold up the server.

/**
 * Kubernetes allows one expression 1,000,000 cost units as well:
 * https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiserver/pkg/apis/cel/config.go
 */
const UNITS = 1_000_000;

export class Meter {
  #left = UNITS;

  /** False once the budget is used up, and ever after: the evaluation then has no result, whatever it returns. */
  spend(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }

  get exhausted(): boolean {
    return this.#left < 0;
  }
}

// Why an evaluation gives no value: failures travel as values, so that && and || can absorb them as in Kubernetes.

export type FailureReason = 'missing' | 'failed' | 'budget';

/** Its message is ours and may hold names from the expression's own source, never anything of the objects judged. */
export class Failure {
  readonly reason: FailureReason;
  readonly message: string;

  constructor(reason: FailureReason, message: string) {
    this.reason = reason;
    this.message = message;
  }
}

export function failed(message: string): Failure {
  return new Failure('failed', message);
}

export function missing(message: string): Failure {
  return new Failure('missing', message);
}

export const NO_OVERLOAD = failed('no such overload: the operation does not exist for values of these types');
export const NOT_BOOL = failed('no such overload: the value is not a bool');
export const OVER_BUDGET = new Failure(
  'budget',
  'the expression needs more work than one evaluation may cost',
);

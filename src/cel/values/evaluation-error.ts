// Defines the errors of an evaluation. As values, they can be absorbed by && and ||.

export type EvaluationErrorReason = 'missing' | 'failed' | 'budget';

/** The message may name parts of the expression, never values of the judged objects. */
export class EvaluationError {
  readonly reason: EvaluationErrorReason;
  readonly message: string;

  constructor(reason: EvaluationErrorReason, message: string) {
    this.reason = reason;
    this.message = message;
  }
}

export function evaluationError(message: string): EvaluationError {
  return new EvaluationError('failed', message);
}

export function missingValue(message: string): EvaluationError {
  return new EvaluationError('missing', message);
}

export const NO_OVERLOAD = evaluationError(
  'no such overload: the operation does not exist for values of these types',
);
export const NOT_BOOL = evaluationError('no such overload: the value is not a bool');
export const OVER_BUDGET = new EvaluationError(
  'budget',
  'the expression needs more work than one evaluation may cost',
);

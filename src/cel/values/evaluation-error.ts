// Defines the errors of an evaluation. As values, they can be absorbed by && and ||.

import { keyText, type MetadataField } from '../../base/metadata.ts';

/** `missing`: the namespace lacks a label or annotation that the expression looks up. */
export type EvaluationErrorReason = 'missing' | 'failed' | 'budget';

/** The message may name parts of the expression and keys of labels and annotations, never values of the judged objects. */
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

export function noSuchKey(key: string): EvaluationError {
  return evaluationError(`no such key: ${key.slice(0, 60)}`);
}

export function missingMetadata(field: MetadataField, key: string): EvaluationError {
  return new EvaluationError('missing', `${keyText(field, key)} is missing`);
}

/** For a namespace without any labels or annotations. Looking up a key in this error gives `missingMetadata`. */
export const NO_METADATA: Readonly<Record<MetadataField, EvaluationError>> = {
  labels: evaluationError('the namespace has no labels'),
  annotations: evaluationError('the namespace has no annotations'),
};

export const NO_OVERLOAD = evaluationError(
  'no such overload: the operation does not exist for values of these types',
);
export const NOT_BOOL = evaluationError('no such overload: the value is not a bool');
export const OVER_BUDGET = new EvaluationError(
  'budget',
  'the expression needs more work than one evaluation may cost',
);

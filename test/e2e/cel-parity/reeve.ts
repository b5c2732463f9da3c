// Gets the verdicts of src/cel.
import { compileExpression } from '../../../src/cel/expression.ts';
import type { Bindings } from '../../../src/cel/expression.ts';

export type ResultType = 'bool' | 'string';

/** The variables of `validations`, and those of `match` and `contents`. */
const scope = {
  variables: ['object', 'oldObject', 'request', 'namespaceObject'],
} as const;

export function compilesHere(source: string, result: ResultType): boolean {
  return compileExpression(source, scope, result).ok;
}

export function answerHere(source: string, result: ResultType, bindings: Bindings): string {
  const compiled = compileExpression(source, scope, result);
  if (!compiled.ok) return `does not compile: ${compiled.problem.message}`;
  const evaluation = compiled.expression.evaluate(bindings);
  if (!evaluation.ok) return 'error';
  return String(evaluation.value);
}

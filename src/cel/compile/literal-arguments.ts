// Checks what can be known of literal arguments before an expression runs, as Kubernetes does.
import type { Call, Node } from '../syntax/ast.ts';
import { CompileProblem } from '../syntax/problem.ts';
import { checkFormat } from '../library/format-check.ts';
import { EvaluationError } from '../values/evaluation-error.ts';
import { durationFromText, timestampFromText } from '../values/time.ts';
import type { ExpressionCompilation } from './compilation.ts';
import { Frame, type EvaluationStep } from './frame.ts';

/** Kubernetes evaluates these on literals when it compiles, so an error there is one of compilation. */
const CONVERSIONS: ReadonlySet<string> = new Set(
  'bool bytes double duration dyn int string timestamp type uint'.split(' '),
);

export function checkLiterals(compilation: ExpressionCompilation, node: Call): void {
  checkTime(node);
  if (node.name === 'format') checkFormatCall(compilation, node);
}

/** A format and a list that both stand in the expression must fit each other. */
function checkFormatCall(compilation: ExpressionCompilation, node: Call): void {
  const { target, args, offset } = node;
  const [list] = args;
  if (target?.kind !== 'literal' || typeof target.value !== 'string' || list?.kind !== 'list') return;
  const values = list.elements.map(({ value }) => value);
  const problem = checkFormat(target.value, values, (value) => compilation.typeOf(value));
  if (problem !== undefined) throw new CompileProblem(problem, offset);
}

function checkTime({ name, args: [argument] }: Call): void {
  if (argument?.kind !== 'literal') return;
  const { value, offset } = argument;
  if (name === 'duration' && (typeof value !== 'string' || durationFromText(value) === undefined)) {
    throw new CompileProblem('this is not a duration such as 1h30m', offset);
  }
  if (name === 'timestamp' && typeof value === 'string' && timestampFromText(value) === undefined) {
    throw new CompileProblem('this is not a time such as 2026-01-31T00:00:00Z', offset);
  }
}

/** The conversion of a literal, done once. */
export function foldConversion(node: Call, step: EvaluationStep): EvaluationStep {
  const [argument] = node.args;
  if (argument === undefined || !isConstant(node)) return step;
  const value = step(new Frame({}));
  if (value instanceof EvaluationError) throw new CompileProblem(value.message, argument.offset);
  return () => value;
}

/** What Kubernetes evaluates before an expression runs; nothing is computed, `1 + 1` is not one. */
export function isConstant(node: Node): boolean {
  switch (node.kind) {
    case 'literal':
      return true;
    case 'call':
      return node.target === undefined && CONVERSIONS.has(node.name) && node.args.every(isConstant);
    case 'list':
      return node.elements.every(({ value }) => isConstant(value));
    case 'map':
      return node.entries.every(({ key, value }) => isConstant(key) && isConstant(value));
    default:
      return false;
  }
}

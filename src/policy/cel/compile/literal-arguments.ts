// Checks what can be known of literal arguments before an expression runs, as Kubernetes does.
import type { Call } from '../syntax/ast.ts';
import { CompileProblem } from '../syntax/problem.ts';
import { checkFormat } from '../library/format-check.ts';
import { DYN } from '../types/type.ts';
import { Failure } from '../values/failure.ts';
import { parseDuration, parseTimestamp } from '../values/time.ts';
import type { Compilation, Compiled } from './compilation.ts';
import { Frame, type Step } from './frame.ts';

/** Kubernetes evaluates these on literals when it compiles, so an error there is one of compilation. */
const CONVERSIONS: ReadonlySet<string> = new Set(
  'bool bytes double duration dyn int string timestamp type uint'.split(' '),
);

export function checkLiterals(compilation: Compilation, node: Call, args: readonly Compiled[]): void {
  checkTime(node);
  const format = node.target;
  const [list] = node.args;
  if (node.name !== 'format' || format?.kind !== 'literal' || list?.kind !== 'list') return;
  if (typeof format.value !== 'string' || args.length !== 1) return;
  const elements = args[0] === undefined ? [] : list.elements.map(({ value }) => value);
  const problem = checkFormat(
    format.value,
    elements,
    compilation.unifier.resolve(args[0]?.type ?? DYN).params[0] ?? DYN,
  );
  if (problem !== undefined) throw new CompileProblem(problem, node.offset);
}

function checkTime({ name, args: [argument] }: Call): void {
  if (argument?.kind !== 'literal') return;
  const { value, offset } = argument;
  if (name === 'duration' && (typeof value !== 'string' || parseDuration(value) === undefined)) {
    throw new CompileProblem('this is not a duration such as 1h30m', offset);
  }
  if (name === 'timestamp' && typeof value === 'string' && parseTimestamp(value) === undefined) {
    throw new CompileProblem('this is not a time such as 2026-01-31T00:00:00Z', offset);
  }
}

/** The conversion of a literal, done once. */
export function foldConversion(node: Call, step: Step): Step {
  if (node.target !== undefined || !CONVERSIONS.has(node.name) || node.args[0]?.kind !== 'literal')
    return step;
  const value = step(new Frame({}));
  if (value instanceof Failure) throw new CompileProblem(value.message, node.args[0].offset);
  return () => value;
}

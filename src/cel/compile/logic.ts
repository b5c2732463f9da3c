// Compiles `&&`, `||` and `? :`, which do not need all their operands, and can do with some that fail.
import type { Call } from '../syntax/ast.ts';
import { CompileProblem } from '../syntax/problem.ts';
import { BOOL, typeParameter, typeText } from '../types/type.ts';
import { EvaluationError, NOT_BOOL, OVER_BUDGET } from '../values/evaluation-error.ts';
import type { ExpressionCompilation, Compiled } from './compilation.ts';
import type { EvaluationStep } from './frame.ts';
import { noOverload, resolveOverloads } from './overload.ts';

const A = typeParameter('A');
const TERNARY = [{ params: [BOOL, A, A], result: A }];

export function compileLogical(
  compilation: ExpressionCompilation,
  node: Call,
  args: readonly Compiled[],
): Compiled {
  args.forEach(({ type }, index) => {
    if (compilation.unifier.assign(type, BOOL)) return;
    const found = typeText(compilation.unifier.resolve(type));
    throw new CompileProblem(
      `expected type bool but found ${found}`,
      node.args[index]?.offset ?? node.offset,
    );
  });
  const steps = args.map(({ step }) => step);
  return { type: BOOL, step: logicalStep(steps, node.name === '_||_') };
}

/** One operand that decides is enough, in whatever order: `fails || true` is true. */
function logicalStep(steps: readonly EvaluationStep[], decisive: boolean): EvaluationStep {
  return (frame) => {
    let error: EvaluationError | undefined;
    for (const step of steps) {
      const value = step(frame);
      if (value === decisive) return decisive;
      // Nothing can save an evaluation whose budget is used up, so no further operand is worth its time.
      if (frame.meter.exhausted) return OVER_BUDGET;
      if (value !== !decisive) error ??= value instanceof EvaluationError ? value : NOT_BOOL;
    }
    return error ?? !decisive;
  };
}

export function compileTernary(
  compilation: ExpressionCompilation,
  node: Call,
  args: readonly Compiled[],
): Compiled {
  const given = args.map(({ type }) => type);
  const resolution = resolveOverloads(compilation.unifier, TERNARY, given);
  const [condition, yes, no] = args;
  if (resolution === undefined || !condition || !yes || !no)
    throw noOverload(compilation.unifier, node, given);
  return {
    type: resolution.type,
    step(frame) {
      const value = condition.step(frame);
      if (value === true) return yes.step(frame);
      if (value === false) return no.step(frame);
      return value instanceof EvaluationError ? value : NOT_BOOL;
    },
  };
}

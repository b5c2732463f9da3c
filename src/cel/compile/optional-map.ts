// Compiles optMap and optFlatMap: work on the value of an optional, if it has one.
import type { OptionalMap } from '../syntax/ast.ts';
import { DYN, optionalType } from '../types/type.ts';
import { EvaluationError, NO_OVERLOAD } from '../values/evaluation-error.ts';
import { NONE, Optional } from '../values/optional.ts';
import type { ExpressionCompilation, Compiled } from './compilation.ts';

export function compileOptionalMap(compilation: ExpressionCompilation, node: OptionalMap): Compiled {
  const operand = compilation.compile(node.operand);
  const held = compilation.unifier.freshVariable();
  compilation.expectType(node, operand.type, optionalType(held), 'this works on optional values only');
  const local = compilation.newLocal(node.variable, compilation.unifier.resolve(held));
  const body = compilation.within([local], () => compilation.compile(node.body));
  if (node.isFlat)
    compilation.expectType(node.body, body.type, optionalType(DYN), 'the result must be optional');
  const { slot } = local;
  return {
    type: node.isFlat ? body.type : optionalType(body.type),
    step(frame) {
      const optional = operand.step(frame);
      if (optional instanceof EvaluationError) return optional;
      if (!(optional instanceof Optional)) return NO_OVERLOAD;
      if (optional === NONE) return NONE;
      frame.slots[slot] = optional.value;
      const value = body.step(frame);
      return value instanceof EvaluationError || node.isFlat ? value : new Optional(value);
    },
  };
}

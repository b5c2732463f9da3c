// Compiles macros that loop over a list or map, and macros on the value of an optional.
import { type Loop, type Node, type OptionalMap, CompileError } from '../syntax/ast.ts';
import {
  BOOL,
  DYN,
  INT,
  listType,
  mapType,
  typeParameter,
  typeText,
  type Type,
  optionalType,
  COMPARABLE,
} from '../types/type.ts';
import { type ExpressionCompilation, type Compiled, resolveOverloads } from './compilation.ts';
import { loopStep } from './loop-step.ts';
import { EvaluationError, NO_OVERLOAD, NONE, Optional } from '../values/value.ts';

export function compileLoop(compilation: ExpressionCompilation, node: Loop): Compiled {
  const range = compilation.compile(node.range);
  const rangeType = compilation.unifier.resolve(range.type);
  const types = variableTypes(compilation, node, rangeType);
  const locals = node.variables.map((name, index) => compilation.newLocal(name, types[index] ?? DYN));
  return compilation.insideLoop(node.offset, () =>
    compilation.within(locals, () => {
      const condition = node.condition && compileCondition(compilation, node.condition);
      const body = compilation.compileBlock(node.body);
      const type = resultType(compilation, node, rangeType, { first: types[0] ?? DYN, body: body.type });
      const slots = locals.map(({ slot }) => slot);
      return {
        type,
        step: loopStep(node.form, range.step, slots, { condition: condition?.step, body: body.step }),
      };
    }),
  );
}

/** A single variable is the element or the key. Of two variables, the first is the index or the key. */
function variableTypes(compilation: ExpressionCompilation, node: Loop, range: Type): readonly Type[] {
  const hasTwo = node.variables.length === 2;
  const [first = DYN, second = DYN] = range.params;
  switch (range.kind) {
    case 'list':
      return hasTwo ? [INT, first] : [first];
    case 'map':
      return hasTwo ? [first, second] : [first];
    case 'param':
      compilation.unifier.assign(DYN, range);
      return [DYN, DYN];
    case 'dyn':
      return [DYN, DYN];
    default:
      throw new CompileError(
        `${node.form} works on lists and maps, not on ${typeText(range)}`,
        node.range.offset,
      );
  }
}

function compileCondition(compilation: ExpressionCompilation, node: Node): Compiled {
  const condition = compilation.compileBlock(node);
  expectBool(compilation, node, condition.type);
  return condition;
}

function expectBool(compilation: ExpressionCompilation, node: Node, type: Type): void {
  const found = typeText(compilation.unifier.resolve(type));
  compilation.expectType(node, type, BOOL, `expected type bool but found ${found}`);
}

interface LoopTypes {
  readonly first: Type;
  readonly body: Type;
}

function resultType(
  compilation: ExpressionCompilation,
  node: Loop,
  range: Type,
  { first, body }: LoopTypes,
): Type {
  switch (node.form) {
    case 'all':
    case 'exists':
    case 'exists_one':
      expectBool(compilation, node.body, body);
      return BOOL;
    case 'filter':
      expectBool(compilation, node.body, body);
      return listType(first);
    case 'map':
    case 'transformList':
      return listType(body);
    case 'transformMap':
      return mapType(first, body);
    case 'transformMapEntry':
      return entryType(compilation, node, body);
    case 'sortBy':
      return sortedType(compilation, node, range, body);
    default:
      return node.form satisfies never;
  }
}

function entryType(compilation: ExpressionCompilation, node: Loop, body: Type): Type {
  const { unifier } = compilation;
  const entry = mapType(unifier.freshVariable(), unifier.freshVariable());
  compilation.expectType(node.body, body, entry, 'transformMapEntry makes a map of each entry');
  return unifier.resolve(entry);
}

const T = typeParameter('T');
const SORTED = COMPARABLE.map((key) => ({ params: [listType(T), listType(key)], result: listType(T) }));

function sortedType(compilation: ExpressionCompilation, node: Loop, range: Type, body: Type): Type {
  const resolution = resolveOverloads(compilation.unifier, SORTED, [range, listType(body)]);
  if (resolution !== undefined) return resolution.type;
  throw new CompileError('sortBy sorts lists, by values that have an order', node.offset);
}

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

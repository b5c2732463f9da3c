// Recognizes calls that are macros, and checks the arguments that name their variables.
import type { Call, LoopForm, Node } from './ast.ts';
import { CompileProblem } from './problem.ts';

/** A macro over a list or map: its number of variables, and whether it has a condition. */
interface LoopShape {
  readonly form: LoopForm;
  readonly name: string;
  readonly variables: 1 | 2;
  readonly hasCondition: boolean;
}

const LOOPS: readonly LoopShape[] = [
  { name: 'all', form: 'all', variables: 1, hasCondition: false },
  { name: 'exists', form: 'exists', variables: 1, hasCondition: false },
  { name: 'exists_one', form: 'exists_one', variables: 1, hasCondition: false },
  { name: 'filter', form: 'filter', variables: 1, hasCondition: false },
  { name: 'map', form: 'map', variables: 1, hasCondition: false },
  { name: 'map', form: 'map', variables: 1, hasCondition: true },
  { name: 'sortBy', form: 'sortBy', variables: 1, hasCondition: false },
  { name: 'all', form: 'all', variables: 2, hasCondition: false },
  { name: 'exists', form: 'exists', variables: 2, hasCondition: false },
  { name: 'existsOne', form: 'exists_one', variables: 2, hasCondition: false },
  { name: 'exists_one', form: 'exists_one', variables: 2, hasCondition: false },
  { name: 'transformList', form: 'transformList', variables: 2, hasCondition: false },
  { name: 'transformList', form: 'transformList', variables: 2, hasCondition: true },
  { name: 'transformMap', form: 'transformMap', variables: 2, hasCondition: false },
  { name: 'transformMap', form: 'transformMap', variables: 2, hasCondition: true },
  { name: 'transformMapEntry', form: 'transformMapEntry', variables: 2, hasCondition: false },
  { name: 'transformMapEntry', form: 'transformMapEntry', variables: 2, hasCondition: true },
];

export function expandMacro(call: Call): Node {
  if (call.target === undefined)
    return call.name === 'has' && call.args.length === 1 ? expandHas(call) : call;
  const isOptionalMap = call.name === 'optMap' || call.name === 'optFlatMap';
  if (isOptionalMap && call.args.length === 2) return expandOptionalMap(call, call.target);
  const shape = LOOPS.find(
    ({ name, variables, hasCondition }) =>
      name === call.name && call.args.length === variables + 1 + Number(hasCondition),
  );
  return shape === undefined ? call : expandLoop(call, call.target, shape);
}

function expandHas(call: Call): Node {
  const [argument] = call.args;
  if (argument?.kind !== 'select' || argument.mode === 'test') {
    throw new CompileProblem('has() takes a field: has(a.b)', call.offset);
  }
  if (argument.mode === 'optional')
    throw new CompileProblem('has() takes a plain field: has(a.b)', call.offset);
  return { ...argument, mode: 'test' };
}

function expandOptionalMap(call: Call, operand: Node): Node {
  const [variable, body] = call.args;
  if (variable === undefined || body === undefined) return call;
  const isFlat = call.name === 'optFlatMap';
  return {
    kind: 'optional-map',
    isFlat,
    operand,
    variable: variableName(variable),
    body,
    offset: call.offset,
  };
}

function expandLoop(call: Call, range: Node, shape: LoopShape): Node {
  const variables = call.args.slice(0, shape.variables).map(variableName);
  if (new Set(variables).size !== variables.length) {
    throw new CompileProblem('the two variables have the same name', call.offset);
  }
  const rest = call.args.slice(shape.variables);
  const body = rest.at(-1);
  if (body === undefined) return call;
  const condition = shape.hasCondition ? rest[0] : undefined;
  return { kind: 'loop', form: shape.form, range, variables, condition, body, offset: call.offset };
}

function variableName(node: Node): string {
  if (node.kind === 'identifier' && node.name !== '__result__') return node.name;
  throw new CompileProblem('the first argument of a macro is the name of its variable', node.offset);
}

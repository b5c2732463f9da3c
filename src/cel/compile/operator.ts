// Compiles the operators: their types by overloads, and the step that runs each of them.
import { type Call, type Node, CompileError } from '../syntax/ast.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  INT,
  listType,
  mapType,
  STRING,
  TIMESTAMP,
  typeParameter,
  UINT,
  type Type,
  typeText,
} from '../types/type.ts';
import { add, divide, modulo, multiply, negate, subtract } from '../values/arithmetic.ts';
import { areEqual, compareValues } from '../values/equality.ts';
import {
  evaluationError,
  EvaluationError,
  NO_OVERLOAD,
  NOT_BOOL,
  OVER_BUDGET,
  adapt,
  type Value,
  hasKey,
  isMap,
} from '../values/value.ts';
import type { Meter } from '../values/meter.ts';
import {
  type ExpressionCompilation,
  type Compiled,
  type EvaluationStep,
  noOverload,
  resolveOverloads,
  type Signature,
} from './compilation.ts';

type Binary = (left: Value, right: Value, meter: Meter) => Value;

function overloads(
  ...signatures: readonly (readonly [result: Type, ...params: Type[]])[]
): readonly Signature[] {
  return signatures.map(([result, ...params]) => ({ params, result }));
}

function same(...types: readonly Type[]): readonly Signature[] {
  return types.map((type) => ({ params: [type, type], result: type }));
}

const A = typeParameter('A');
const B = typeParameter('B');
const NUMBERS = [INT, UINT, DOUBLE];
const ORDERED = [
  ...NUMBERS.flatMap((left) => NUMBERS.map((right) => ({ params: [left, right], result: BOOL }))),
  ...[BOOL, STRING, BYTES, TIMESTAMP, DURATION].map((type) => ({ params: [type, type], result: BOOL })),
];
const EQUAL = overloads([BOOL, A, A]);

const BINARY: ReadonlyMap<string, { readonly signatures: readonly Signature[]; readonly run: Binary }> =
  new Map([
    ['_==_', { signatures: EQUAL, run: areEqual }],
    ['_!=_', { signatures: EQUAL, run: differ }],
    ['_<_', { signatures: ORDERED, run: ordered((order) => order < 0) }],
    ['_<=_', { signatures: ORDERED, run: ordered((order) => order <= 0) }],
    ['_>_', { signatures: ORDERED, run: ordered((order) => order > 0) }],
    ['_>=_', { signatures: ORDERED, run: ordered((order) => order >= 0) }],
    ['_in_', { signatures: overloads([BOOL, A, listType(A)], [BOOL, A, mapType(A, B)]), run: isIn }],
    ['_*_', { signatures: same(...NUMBERS), run: multiply }],
    ['_/_', { signatures: same(...NUMBERS), run: divide }],
    ['_%_', { signatures: same(INT, UINT), run: modulo }],
    [
      '_+_',
      {
        signatures: [
          ...same(BYTES, DURATION, ...NUMBERS, STRING, listType(A)),
          ...overloads([TIMESTAMP, DURATION, TIMESTAMP], [TIMESTAMP, TIMESTAMP, DURATION]),
        ],
        run: add,
      },
    ],
    [
      '_-_',
      {
        signatures: [
          ...same(DURATION, ...NUMBERS),
          ...overloads([TIMESTAMP, TIMESTAMP, DURATION], [DURATION, TIMESTAMP, TIMESTAMP]),
        ],
        run: subtract,
      },
    ],
  ]);
const UNARY: ReadonlyMap<
  string,
  { readonly signatures: readonly Signature[]; readonly run: (value: Value) => Value }
> = new Map([
  ['!_', { signatures: overloads([BOOL, BOOL]), run: not }],
  ['-_', { signatures: overloads([INT, INT], [DOUBLE, DOUBLE]), run: negate }],
]);

/** No identifier can have the name of an operator. */
export function isOperator(name: string): boolean {
  return BINARY.has(name) || UNARY.has(name) || isLazy(name);
}

/** True for the operators that may leave out all operands but the first. */
function isLazy(name: string): boolean {
  return name === '_&&_' || name === '_||_' || name === '_?_:_';
}

export function compileOperator(compilation: ExpressionCompilation, node: Call): Compiled {
  if (isLazy(node.name)) {
    const parts = node.args.map((argument, index) =>
      index === 0 ? compilation.compile(argument) : compilation.compileBlock(argument),
    );
    return node.name === '_?_:_'
      ? compileTernary(compilation, node, parts)
      : compileLogical(compilation, node, parts);
  }
  const args = node.args.map((argument) => compilation.compile(argument));
  const operator = BINARY.get(node.name) ?? UNARY.get(node.name);
  const given = args.map(({ type }) => type);
  const resolution = operator && resolveOverloads(compilation.unifier, operator.signatures, given);
  if (resolution === undefined) throw noOverload(compilation.unifier, node, given);
  const [, container] = node.args;
  if (node.name === '_in_' && isEmptyList(container)) return { type: resolution.type, step: () => false };
  return { type: resolution.type, step: operatorStep(node.name, args) };
}

/** An empty list contains nothing. Kubernetes does not even evaluate the left operand. */
function isEmptyList(node: Node | undefined): boolean {
  return node?.kind === 'list' && node.elements.length === 0;
}

function operatorStep(name: string, [left, right]: readonly Compiled[]): EvaluationStep {
  const unary = UNARY.get(name)?.run ?? not;
  const binary = BINARY.get(name)?.run ?? areEqual;
  const first = left?.step ?? (() => NO_OVERLOAD);
  if (right === undefined) return unaryStep(unary, first);
  return binaryStep(binary, first, right.step);
}

function unaryStep(run: (value: Value) => Value, operand: EvaluationStep): EvaluationStep {
  return (frame) => {
    const value = operand(frame);
    return value instanceof EvaluationError ? value : run(value);
  };
}

function binaryStep(run: Binary, left: EvaluationStep, right: EvaluationStep): EvaluationStep {
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    if (a instanceof EvaluationError) return a;
    if (b instanceof EvaluationError) return b;
    frame.meter.spend(1);
    return run(a, b, frame.meter);
  };
}

function not(value: Value): Value {
  return typeof value === 'boolean' ? !value : NOT_BOOL;
}

function differ(left: Value, right: Value, meter: Meter): Value {
  const equal = areEqual(left, right, meter);
  return typeof equal === 'boolean' ? !equal : equal;
}

const NAN = evaluationError('NaN has no order');

function ordered(test: (order: number) => boolean): Binary {
  return (left, right, meter) => {
    if (typeof left === 'string') meter.spend(left.length >> 6);
    const order = compareValues(left, right);
    if (order === undefined) return NO_OVERLOAD;
    return Number.isNaN(order) ? NAN : test(order);
  };
}

function isIn(element: Value, container: Value, meter: Meter): Value {
  if (isMap(container)) return hasKey(container, element);
  if (!Array.isArray(container)) return NO_OVERLOAD;
  meter.spend(container.length);
  return container.some((other: unknown) => areEqual(element, adapt(other), meter) === true);
}

const TERNARY = [{ params: [BOOL, A, A], result: A }];

function compileLogical(compilation: ExpressionCompilation, node: Call, args: readonly Compiled[]): Compiled {
  args.forEach(({ type }, index) => {
    if (compilation.unifier.assign(type, BOOL)) return;
    const found = typeText(compilation.unifier.resolve(type));
    throw new CompileError(`expected type bool but found ${found}`, node.args[index]?.offset ?? node.offset);
  });
  const steps = args.map(({ step }) => step);
  return { type: BOOL, step: logicalStep(steps, node.name === '_||_') };
}

/** One decisive operand is enough, in any order: `fails || true` is true. */
function logicalStep(steps: readonly EvaluationStep[], decisive: boolean): EvaluationStep {
  return (frame) => {
    let error: EvaluationError | undefined;
    for (const step of steps) {
      const value = step(frame);
      if (value === decisive) return decisive;
      // After the budget is used up, the evaluation has no result, so the other operands are skipped.
      if (frame.meter.exhausted) return OVER_BUDGET;
      if (value !== !decisive) error ??= value instanceof EvaluationError ? value : NOT_BOOL;
    }
    return error ?? !decisive;
  };
}

function compileTernary(compilation: ExpressionCompilation, node: Call, args: readonly Compiled[]): Compiled {
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

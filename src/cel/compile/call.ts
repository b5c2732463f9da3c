// Compiles calls of functions and methods. operator.ts compiles operators.
import type { Call, Node } from '../syntax/ast.ts';
import { CompileProblem } from '../syntax/problem.ts';
import { functionsNamed } from '../library/library.ts';
import type { FunctionDefinition } from '../library/define.ts';
import { EvaluationError, NO_OVERLOAD, OVER_BUDGET } from '../values/evaluation-error.ts';
import type { Meter } from '../values/meter.ts';
import { type Value, Optional } from '../values/value.ts';
import type { ExpressionCompilation, Compiled } from './compilation.ts';
import type { EvaluationStep } from './frame.ts';
import { checkLiterals, foldConversion } from './literal-arguments.ts';
import { compileRegexCall } from './regex-call.ts';
import { dottedName } from './name.ts';
import { noOverload, resolveOverloads, type Resolution } from './overload.ts';

export function compileCall(compilation: ExpressionCompilation, node: Call): Compiled {
  if (node.name === 'format') return compilation.insideFormat(() => compileFunction(compilation, node));
  return compileFunction(compilation, node);
}

function compileFunction(compilation: ExpressionCompilation, node: Call): Compiled {
  const args = node.args.map((argument) => compilation.compile(argument));
  const { definitions, target } = findFunction(compilation, node);
  const all = target === undefined ? args : [target, ...args];
  const resolution = resolve(compilation, node, definitions, all);
  checkLiterals(compilation, node);
  const { type } = resolution;
  if (target !== undefined && isFallback(node.name)) return { type, step: fallbackStep(node.name, all) };
  const steps = all.map(({ step }) => step);
  const step = compileRegexCall(node, steps) ?? callStep(resolution.candidates, steps);
  return { type, step: foldConversion(node, step) };
}

interface Found {
  readonly definitions: readonly FunctionDefinition[];
  readonly target: Compiled | undefined;
}

/** `a.b.c()` is the function a.b.c if it exists, and otherwise the method c of a.b. */
function findFunction(compilation: ExpressionCompilation, node: Call): Found {
  if (node.target === undefined) return { definitions: defined(node.name, false, node), target: undefined };
  const prefix = dottedName(node.target);
  const functions = prefix === undefined ? [] : functionsNamed(`${prefix}.${node.name}`);
  if (functions.length > 0) return { definitions: functions, target: undefined };
  const definitions = defined(node.name, true, node);
  return { definitions, target: compilation.compile(node.target) };
}

function defined(name: string, isMethod: boolean, node: Node): readonly FunctionDefinition[] {
  const definitions = functionsNamed(name).filter((definition) => definition.isMethod === isMethod);
  if (definitions.length > 0) return definitions;
  throw new CompileProblem(
    `there is no ${isMethod ? 'method' : 'function'} ${name.slice(0, 60)}`,
    node.offset,
  );
}

function resolve(
  compilation: ExpressionCompilation,
  node: Call,
  definitions: readonly FunctionDefinition[],
  all: readonly Compiled[],
): Resolution<FunctionDefinition> {
  const given = all.map(({ type }) => type);
  const resolution = resolveOverloads(compilation.unifier, definitions, given);
  if (resolution === undefined) throw noOverload(compilation.unifier, node, given);
  if (!forAllOverloads.has(node.name)) return resolution;
  return { ...resolution, candidates: definitions.filter(({ params }) => params.length === given.length) };
}

/**
 * Kubernetes calls one implementation of these, whatever overload the types select. `dyn(a).distinct()` is a list of an open
 * type, and its first use selects the first overload. https://pkg.go.dev/github.com/google/cel-go/cel#SingletonUnaryBinding
 */
const forAllOverloads: ReadonlySet<string> = new Set(['size', 'sort']);

/** `or` and `orValue` evaluate their argument only when it is needed. */
function isFallback(name: string): boolean {
  return name === 'or' || name === 'orValue';
}

function fallbackStep(name: string, [target, argument]: readonly Compiled[]): EvaluationStep {
  return (frame) => {
    const value = target?.step(frame);
    if (!(value instanceof Optional)) return value;
    if (value.value === undefined) return argument?.step(frame);
    return name === 'orValue' ? value.value : value;
  };
}

function callStep(
  candidates: readonly FunctionDefinition[],
  steps: readonly EvaluationStep[],
): EvaluationStep {
  const [first, second] = steps;
  const [only] = candidates;
  if (candidates.length !== 1 || only === undefined || first === undefined)
    return generalStep(candidates, steps);
  if (steps.length === 1) return unaryStep(only, first);
  if (steps.length === 2 && second !== undefined) return binaryStep(only, first, second);
  return generalStep(candidates, steps);
}

function unaryStep(
  { params: [param], run, cost }: FunctionDefinition,
  argument: EvaluationStep,
): EvaluationStep {
  return (frame) => {
    const value = argument(frame);
    if (value instanceof EvaluationError) return value;
    if (param?.accepts(value) !== true) return NO_OVERLOAD;
    return charged(run(value, frame.meter), workFor(value), frame.meter, cost);
  };
}

function binaryStep(
  { params: [left, right], run, cost }: FunctionDefinition,
  first: EvaluationStep,
  second: EvaluationStep,
): EvaluationStep {
  return (frame) => {
    const a = first(frame);
    const b = second(frame);
    if (a instanceof EvaluationError) return a;
    if (b instanceof EvaluationError) return b;
    if (left?.accepts(a) !== true || right?.accepts(b) !== true) return NO_OVERLOAD;
    return charged(run(a, b, frame.meter), workFor(a) + workFor(b), frame.meter, cost);
  };
}

function generalStep(
  candidates: readonly FunctionDefinition[],
  steps: readonly EvaluationStep[],
): EvaluationStep {
  return (frame) => {
    const values = steps.map((step) => step(frame));
    const error = values.find((value) => value instanceof EvaluationError);
    if (error !== undefined) return error;
    const chosen = candidates.find(({ params }) =>
      params.every((param, index) => param.accepts(values[index])),
    );
    if (chosen === undefined) return NO_OVERLOAD;
    const work = values.reduce<number>((sum, value) => sum + workFor(value), 0);
    return charged(chosen.run(...values, frame.meter), work, frame.meter, chosen.cost);
  };
}

/** A function takes at most linear time in its arguments and result, or charges the rest itself. */
function charged(result: Value, work: number, meter: Meter, cost = 1): Value {
  return meter.spend(cost + work + workFor(result)) ? result : OVER_BUDGET;
}

function workFor(value: Value): number {
  if (typeof value === 'string') return value.length >> 4;
  if (Array.isArray(value)) return value.length;
  return value instanceof Uint8Array ? value.length >> 4 : 0;
}

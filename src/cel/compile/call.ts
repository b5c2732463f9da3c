// Compiles calls of functions and methods. operator.ts compiles operators.
import { type Call, type Node, CompileError } from '../syntax/ast.ts';
import { functionsNamed } from '../library/library.ts';
import type { FunctionDefinition } from '../library/define.ts';
import {
  EvaluationError,
  NO_OVERLOAD,
  OVER_BUDGET,
  type Value,
  Optional,
  evaluationError,
} from '../values/value.ts';
import type { Meter } from '../values/meter.ts';
import {
  type ExpressionCompilation,
  type Compiled,
  type EvaluationStep,
  noOverload,
  resolveOverloads,
  type Resolution,
  Frame,
} from './compilation.ts';
import { dottedName } from './select.ts';
import { durationFromText, timestampFromText } from '../values/time.ts';
import type { Type } from '../types/type.ts';
import { parseFormat, type Clause } from '../library/string-format.ts';
import { compileRegex, type Regex } from '../regex.ts';

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
  throw new CompileError(`there is no ${isMethod ? 'method' : 'function'} ${name.slice(0, 60)}`, node.offset);
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

// Checks literal arguments when the expression is compiled, as Kubernetes does.

/** Kubernetes calls these on literals when it compiles, so an error is a compile error. */
const CONVERSIONS: ReadonlySet<string> = new Set(
  'bool bytes double duration dyn int string timestamp type uint'.split(' '),
);

function checkLiterals(compilation: ExpressionCompilation, node: Call): void {
  checkTime(node);
  if (node.name === 'format') checkFormatCall(compilation, node);
}

/** Checks a literal format against a literal list of values. */
function checkFormatCall(compilation: ExpressionCompilation, node: Call): void {
  const { target, args, offset } = node;
  const [list] = args;
  if (target?.kind !== 'literal' || typeof target.value !== 'string' || list?.kind !== 'list') return;
  const values = list.elements.map(({ value }) => value);
  const problem = checkFormat(target.value, values, (value) => compilation.typeOf(value));
  if (problem !== undefined) throw new CompileError(problem, offset);
}

function checkTime({ name, args: [argument] }: Call): void {
  if (argument?.kind !== 'literal') return;
  const { value, offset } = argument;
  if (name === 'duration' && (typeof value !== 'string' || durationFromText(value) === undefined)) {
    throw new CompileError('this is not a duration such as 1h30m', offset);
  }
  if (name === 'timestamp' && typeof value === 'string' && timestampFromText(value) === undefined) {
    throw new CompileError('this is not a time such as 2026-01-31T00:00:00Z', offset);
  }
}

/** Converts a literal once, when the expression is compiled. */
function foldConversion(node: Call, step: EvaluationStep): EvaluationStep {
  const [argument] = node.args;
  if (argument === undefined || !isConstant(node)) return step;
  const value = step(new Frame({}));
  if (value instanceof EvaluationError) throw new CompileError(value.message, argument.offset);
  return () => value;
}

/** Returns true for what Kubernetes evaluates before an expression runs. `1 + 1` is not evaluated. */
function isConstant(node: Node): boolean {
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

type TypeOf = (value: Node) => Type;

const TAKES: Readonly<Record<Clause['verb'], readonly string[] | 'most'>> = {
  s: 'most',
  d: ['int', 'uint'],
  o: ['int', 'uint'],
  b: ['int', 'uint', 'bool'],
  x: ['int', 'uint', 'string', 'bytes'],
  X: ['int', 'uint', 'string', 'bytes'],
  f: ['double', 'string'],
  e: ['double', 'string'],
};

/** Returns the problem; undefined when the format fits the values. */
function checkFormat(format: string, values: readonly Node[], typeOf: TypeOf): string | undefined {
  const parts = parseFormat(format);
  if (typeof parts === 'string') return parts;
  const clauses = parts.filter((part) => typeof part !== 'string');
  if (clauses.length !== values.length)
    return `format has ${clauses.length} places for ${values.length} values`;
  const wrong = values.findIndex((value, index) => !takes(clauses[index]?.verb ?? 's', value, typeOf));
  return wrong === -1 ? undefined : `%${clauses[wrong]?.verb} does not take a value of this type`;
}

function takes(verb: Clause['verb'], value: Node, typeOf: TypeOf): boolean {
  const { kind } = typeOf(value);
  const kinds = TAKES[verb];
  if (kinds !== 'most') return kind === 'dyn' || kind === 'param' || kinds.includes(kind);
  if (kind.startsWith('google.protobuf.')) return true;
  if (kind.includes('.') || kind === 'optional_type') return false;
  return partsOf(value).every((part) => takes(verb, part, typeOf));
}

/** Returns the elements of a literal list or map. */
function partsOf(value: Node): readonly Node[] {
  if (value.kind === 'list') return value.elements.map((element) => element.value);
  return value.kind === 'map' ? value.entries.flatMap((entry) => [entry.key, entry.value]) : [];
}

// Compiles matches, find and findAll. A literal pattern is compiled once, with the expression.

const BAD_PATTERN = evaluationError('the computed pattern is not a regular expression in RE2 syntax');
/** A pattern computed by the expression is compiled for each evaluation, so it must be short. */
const MAX_COMPUTED_LENGTH = 256;
const TOO_LONG = evaluationError(`a computed pattern is longer than ${MAX_COMPUTED_LENGTH} characters`);
const COST_OF_COMPILING = 10;

type Use = (regex: Regex, text: string, limit: Value) => Value;

const USES: ReadonlyMap<string, Use> = new Map<string, Use>([
  ['matches', (regex, text) => regex.search(text)],
  ['find', (regex, text) => regex.find(text)],
  ['findAll', (regex, text, limit) => regex.findAll(text, limitOf(limit))],
]);

/** Without a limit, or with a negative one, all matches count. */
function limitOf(limit: Value): number {
  return typeof limit === 'bigint' && limit >= 0n ? Number(limit) : Number.POSITIVE_INFINITY;
}

/** Returns undefined for other calls. The types of the arguments have been checked. */
function compileRegexCall(node: Call, steps: readonly EvaluationStep[]): EvaluationStep | undefined {
  const use = USES.get(node.name);
  const [text, pattern, limit] = steps;
  if (use === undefined || text === undefined || pattern === undefined) return undefined;
  const regexOf = regexSource(node.target === undefined ? node.args[1] : node.args[0], pattern);
  return (frame) => {
    const [subject, last] = [text(frame), limit?.(frame)];
    const regex = regexOf(frame);
    if (subject instanceof EvaluationError) return subject;
    if (regex instanceof EvaluationError) return regex;
    if (last instanceof EvaluationError) return last;
    if (typeof subject !== 'string' || (last !== undefined && typeof last !== 'bigint')) return NO_OVERLOAD;
    return frame.meter.spend(regex.cost(subject)) ? use(regex, subject, last) : OVER_BUDGET;
  };
}

function regexSource(
  node: Node | undefined,
  pattern: EvaluationStep,
): (frame: Frame) => Regex | EvaluationError {
  if (node?.kind !== 'literal' || typeof node.value !== 'string')
    return (frame) => computedRegex(pattern(frame), frame);
  const compiled = compileRegex(node.value);
  if (!compiled.ok) throw new CompileError(compiled.problem, node.offset);
  const { regex } = compiled;
  return () => regex;
}

function computedRegex(pattern: Value, frame: Frame): Regex | EvaluationError {
  if (pattern instanceof EvaluationError) return pattern;
  if (typeof pattern !== 'string') return NO_OVERLOAD;
  if (pattern.length > MAX_COMPUTED_LENGTH) return TOO_LONG;
  if (!frame.meter.spend(COST_OF_COMPILING * (10 + pattern.length))) return OVER_BUDGET;
  const compiled = compileRegex(pattern);
  if (!compiled.ok) return BAD_PATTERN;
  // A short pattern can expand to a long one: x{1000}.
  return frame.meter.spend(COST_OF_COMPILING * compiled.regex.size) ? compiled.regex : OVER_BUDGET;
}

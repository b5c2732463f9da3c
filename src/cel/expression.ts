// Compiles and evaluates CEL as ValidatingAdmissionPolicies have it. Evaluation never throws.
// Other rooms import this file and regex.ts only.
import {
  ExpressionCompilation,
  type Compiled,
  type Definition,
  type Definitions,
  type ExpressionScope,
  type MetadataKey,
  Frame,
  type Bindings,
  type EvaluationStep,
  type Variable,
} from './compile/compilation.ts';
import { parse } from './syntax/parser.ts';
import { CompileError, positionOf, type Index, type Literal, type Node, type Select } from './syntax/ast.ts';
import { BOOL, DYN, STRING, listType, typeText, type Type } from './types/type.ts';
import {
  EvaluationError,
  OVER_BUDGET,
  evaluationError,
  type EvaluationErrorReason,
  type Value,
} from './values/value.ts';
import type { Work } from './values/meter.ts';
import { findEnd } from './syntax/lexer.ts';
import { compileCall } from './compile/call.ts';
import { compileIndex, compileSelect, compileIdentifier } from './compile/select.ts';
import { compileDefined, compileDefinedIndex } from './compile/defined.ts';
import { compileList, compileMap } from './compile/aggregate.ts';
import { compileLoop, compileOptionalMap } from './compile/macro.ts';
import { compileOperator, isOperator } from './compile/operator.ts';

export { findEnd, positionOf };
export type { Bindings, Definitions, ExpressionScope, MetadataKey, Node, Type, Variable, Work };

export interface ExpressionProblem {
  readonly message: string;
  readonly offset: number;
  /** From 1, within the source. */
  readonly line: number;
  readonly column: number;
}

/**
 * `missing`: the namespace lacks a label or annotation that the expression looks up.
 * The message is safe to show: it names parts of the expression and keys of labels and annotations, never values.
 */
export type Evaluation<T = unknown> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: EvaluationErrorReason; readonly message: string };

/** `any` is the result of a variable, which only other expressions read. */
export type ResultKind = 'bool' | 'string' | 'strings' | 'any';

export interface Expression {
  readonly source: string;
  /** The type of the variable, for a variable of a policy. */
  readonly type: Type;
  /** The variables that the expression reads. A variable hidden by one of a macro does not count. */
  readonly reads: ReadonlySet<Variable>;
  /** The labels and annotations that it looks up by a key that stands in the expression. */
  readonly lookups: readonly MetadataKey[];
  /** Adds the cost of the evaluation to `work`. */
  evaluate(bindings: Bindings, work?: Work): Evaluation;
}

export type ExpressionResult =
  | { readonly ok: true; readonly expression: Expression }
  | { readonly ok: false; readonly problem: ExpressionProblem };

const MAX_BYTES = 4096;
const RESULTS = {
  bool: { type: BOOL, wrong: evaluationError('the result is not a bool') },
  string: { type: STRING, wrong: evaluationError('the result is not a string') },
  strings: { type: listType(STRING), wrong: evaluationError('the result is not a list of strings') },
  any: { type: DYN, wrong: evaluationError('the result is no value') },
};

export function compileExpression(
  source: string,
  scope: ExpressionScope,
  result: ResultKind,
): ExpressionResult {
  const compiled = attempt(source, () => compile(source, scope, result));
  return compiled.ok ? { ok: true, expression: compiled.value } : compiled;
}

type Attempt<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: ExpressionProblem };

function attempt<T>(source: string, work: () => T): Attempt<T> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    // The parser limits nesting, but the caller may have used up most of the stack.
    if (!(error instanceof CompileError || error instanceof RangeError)) throw error;
    const offset = error instanceof CompileError ? error.offset : 0;
    const message = error instanceof CompileError ? error.message : 'the expression is too complex';
    return { ok: false, problem: { message, offset, ...positionOf(source, offset) } };
  }
}

/** A variable of a policy as it is written. */
interface WrittenVariable {
  readonly name: string;
  readonly expression: string;
}

interface CompiledDefinitions {
  readonly definitions: Definitions;
  /** By the place of the variable in the list. */
  readonly problems: ReadonlyMap<number, ExpressionProblem>;
}

/** All that some expression sees. What one place does not show is refused where the variable is read there. */
const everything = ['namespaceObject', 'object', 'oldObject', 'request'] as const;

/** Compiles each variable alone, so that its problems are found even if no expression reads it. */
export function compileDefinitions(
  written: readonly WrittenVariable[],
  cluster: Definitions['cluster'],
): CompiledDefinitions {
  const variables: Definition[] = [];
  const problems = new Map<number, ExpressionProblem>();
  const compiledNodes = { nodes: 0 };
  for (const [index, { name, expression }] of written.entries()) {
    const definitions = { variables: [...variables], cluster, compiled: compiledNodes };
    const compiled = compileExpression(expression, { variables: everything, definitions }, 'any');
    if (!compiled.ok) problems.set(index, compiled.problem);
    variables.push({ name, tree: compiled.ok ? parse(expression) : undefined });
  }
  return { definitions: { variables, cluster, compiled: compiledNodes }, problems };
}

type TreeResult =
  { readonly ok: true; readonly tree: Node } | { readonly ok: false; readonly problem: ExpressionProblem };

/** Parses without checking names and types, for expressions that are turned into something else. */
export function parseTree(source: string): TreeResult {
  const parsed = attempt(source, () => parseBounded(source));
  return parsed.ok ? { ok: true, tree: parsed.value } : parsed;
}

function parseBounded(source: string): Node {
  if (Buffer.byteLength(source) > MAX_BYTES)
    throw new CompileError(`an expression has at most ${MAX_BYTES} bytes`, 0);
  return parse(source);
}

function compile(source: string, scope: ExpressionScope, result: ResultKind): Expression {
  const tree = parseBounded(source);
  const compilation = new ExpressionCompilation(scope, compileNode);
  const { type: compiled, step } = compilation.compileBlock(tree);
  const type = compilation.unifier.ground(compiled);
  checkResult(type, result);
  const { reads, lookups } = compilation;
  return {
    source,
    type,
    reads,
    lookups,
    evaluate: (bindings, work) => evaluate(step, bindings, result, work),
  };
}

function isPossibly(type: Type, wanted: Type): boolean {
  if (type.kind === 'dyn' || type.kind === 'param') return true;
  return (
    type.kind === wanted.kind &&
    wanted.params.every((each, index) => isPossibly(type.params[index] ?? DYN, each))
  );
}

/** A result whose type is known only at run time is checked after the evaluation. */
function checkResult(type: Type, result: ResultKind): void {
  if (result === 'any' || isPossibly(type, RESULTS[result].type)) return;
  throw new CompileError(
    `the result must be a ${typeText(RESULTS[result].type)} but is a ${typeText(type)}`,
    0,
  );
}

function evaluate(
  step: EvaluationStep,
  bindings: Bindings,
  result: ResultKind,
  work: Work | undefined,
): Evaluation {
  const frame = new Frame(bindings);
  const value = run(step, frame);
  work?.spend(frame.meter.spent);
  if (frame.meter.exhausted) return unsuccessful(OVER_BUDGET);
  if (value instanceof EvaluationError) return unsuccessful(value);
  const { type, wrong } = RESULTS[result];
  return type.accepts(value) ? { ok: true, value } : unsuccessful(wrong);
}

/** Steps do not throw, but a deep object may overflow the stack. */
function run(step: EvaluationStep, frame: Frame): Value {
  try {
    return step(frame);
  } catch (error) {
    if (error instanceof RangeError) return OVER_BUDGET;
    throw error;
  }
}

function unsuccessful({ reason, message }: EvaluationError): Evaluation<never> {
  return { ok: false, reason, message };
}

/**
 * Adds `variables` to the bindings. Each variable is evaluated when it is first read. Its error reaches every
 * expression that reads it:
 * https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#variable-composition
 */
export function withVariables(bindings: Bindings, computed: ReadonlyMap<string, Expression>): Bindings {
  const variables = {};
  const all = { ...bindings, variables };
  for (const [name, expression] of computed) {
    let result: Evaluation | undefined;
    const get = (): Value => {
      result ??= expression.evaluate(all);
      if (result.ok) return result.value;
      return new EvaluationError(
        result.reason,
        `composited variable "${name}" fails to evaluate: ${result.message}`,
      );
    };
    Object.defineProperty(variables, name, { enumerable: true, get });
  }
  return all;
}

function compileNode(compilation: ExpressionCompilation, node: Node): Compiled {
  switch (node.kind) {
    case 'literal':
      return compileLiteral(node);
    case 'identifier':
      return compileIdentifier(compilation, node);
    case 'select':
      return compileField(compilation, node);
    case 'index':
      return compileElement(compilation, node);
    case 'call':
      return isOperator(node.name) ? compileOperator(compilation, node) : compileCall(compilation, node);
    case 'list':
      return compileList(compilation, node);
    case 'map':
      return compileMap(compilation, node);
    case 'loop':
      return compileLoop(compilation, node);
    case 'optional-map':
      return compileOptionalMap(compilation, node);
    default:
      return node satisfies never;
  }
}

function compileField(compilation: ExpressionCompilation, node: Select): Compiled {
  return compilation.isDefinitions(node.operand)
    ? compileDefined(compilation, node)
    : compileSelect(compilation, node);
}

function compileElement(compilation: ExpressionCompilation, node: Index): Compiled {
  return node.operand.kind === 'select' && compilation.isDefinitions(node.operand.operand)
    ? compileDefinedIndex(compilation, node)
    : compileIndex(compilation, node);
}

function compileLiteral({ type, value }: Literal): Compiled {
  return { type, step: () => value };
}

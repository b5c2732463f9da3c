// Checks literal arguments when the expression is compiled, as Kubernetes does.
import type { Call, Node } from '../syntax/ast.ts';
import { CompileProblem } from '../syntax/problem.ts';
import { EvaluationError } from '../values/evaluation-error.ts';
import { durationFromText, timestampFromText } from '../values/time.ts';
import type { ExpressionCompilation } from './compilation.ts';
import { Frame, type EvaluationStep } from './frame.ts';
import type { Type } from '../types/type.ts';
import { parseFormat, type Clause } from '../library/string-format.ts';

/** Kubernetes calls these on literals when it compiles, so an error is a compile error. */
const CONVERSIONS: ReadonlySet<string> = new Set(
  'bool bytes double duration dyn int string timestamp type uint'.split(' '),
);

export function checkLiterals(compilation: ExpressionCompilation, node: Call): void {
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

/** Converts a literal once, when the expression is compiled. */
export function foldConversion(node: Call, step: EvaluationStep): EvaluationStep {
  const [argument] = node.args;
  if (argument === undefined || !isConstant(node)) return step;
  const value = step(new Frame({}));
  if (value instanceof EvaluationError) throw new CompileProblem(value.message, argument.offset);
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

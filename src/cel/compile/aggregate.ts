// Compiles list and map literals. Their elements have one type, as Kubernetes requires.
import { type ListLiteral, type MapLiteral, type Node, CompileError } from '../syntax/ast.ts';
import { BYTES, DURATION, DYN, listType, mapType, TIMESTAMP, typeText, type Type } from '../types/type.ts';
import { evaluationError, EvaluationError, type Value, Optional, CelMap, isMap } from '../values/value.ts';
import { Duration, Timestamp } from '../values/time.ts';
import type { ExpressionCompilation, Compiled, EvaluationStep } from './compilation.ts';

const NOT_OPTIONAL = evaluationError('what follows ? in a literal must be optional');
const NOT_A_KEY = evaluationError('lists, maps, bytes, times and durations cannot be keys of a map');
const NOT_KEY_TYPES: ReadonlySet<string> = new Set(
  [listType(DYN), mapType(DYN, DYN), BYTES, TIMESTAMP, DURATION].map(({ kind }) => kind),
);

interface Part {
  readonly step: EvaluationStep;
  readonly isOptional: boolean;
}

export function compileList(compilation: ExpressionCompilation, node: ListLiteral): Compiled {
  let type: Type | undefined;
  const parts: Part[] = [];
  for (const { value, isOptional } of node.elements) {
    const element = compileElement(compilation, value, isOptional);
    type = joinTypes(compilation, type, element.type, value);
    parts.push({ step: element.step, isOptional });
  }
  return { type: listType(type ?? compilation.unifier.freshVariable()), step: listStep(parts) };
}

function compileElement(compilation: ExpressionCompilation, node: Node, isOptional: boolean): Compiled {
  const { type, step } = compilation.compile(node);
  if (!isOptional) return { type, step };
  const resolved = compilation.unifier.resolve(type);
  if (resolved.kind === 'optional_type') return { type: resolved.params[0] ?? DYN, step };
  if (resolved.kind === 'dyn') return { type: DYN, step };
  throw new CompileError('what follows ? in a literal must be optional', node.offset);
}

/** Kubernetes refuses literals of mixed types, dyn included: `[1, dyn(2)]` does not compile. */
function joinTypes(
  compilation: ExpressionCompilation,
  soFar: Type | undefined,
  next: Type,
  node: Node,
): Type {
  const resolved = compilation.unifier.resolve(next);
  const before = soFar === undefined ? undefined : compilation.unifier.resolve(soFar);
  const joined = compilation.unifier.join(before, resolved);
  const mixesDyn = before !== undefined && (before.kind === 'dyn') !== (resolved.kind === 'dyn');
  if (compilation.mayMixTypes) return joined ?? DYN;
  if (joined !== undefined && !mixesDyn) return joined;
  const expected = typeText(before ?? DYN);
  throw new CompileError(`expected type ${expected} but found ${typeText(resolved)}`, node.offset);
}

function listStep(parts: readonly Part[]): EvaluationStep {
  return (frame) => {
    const list: Value[] = [];
    for (const { step, isOptional } of parts) {
      const value = step(frame);
      const element = isOptional ? unwrap(value) : value;
      if (element instanceof EvaluationError) return element;
      if (element !== undefined) list.push(element);
    }
    frame.meter.spend(parts.length);
    return list;
  };
}

/** Returns undefined for an empty optional; the element is then left out. */
function unwrap(value: Value): Value {
  if (value instanceof EvaluationError) return value;
  return value instanceof Optional ? value.value : NOT_OPTIONAL;
}

export function compileMap(compilation: ExpressionCompilation, node: MapLiteral): Compiled {
  let [keyType, valueType]: (Type | undefined)[] = [];
  const parts: { readonly key: EvaluationStep; readonly value: Part }[] = [];
  for (const entry of node.entries) {
    const key = compilation.compile(entry.key);
    const value = compileElement(compilation, entry.value, entry.isOptional);
    keyType = joinTypes(compilation, keyType, key.type, entry.key);
    valueType = joinTypes(compilation, valueType, value.type, entry.value);
    if (NOT_KEY_TYPES.has(keyType.kind)) throw new CompileError(NOT_A_KEY.message, entry.key.offset);
    parts.push({ key: key.step, value: { step: value.step, isOptional: entry.isOptional } });
  }
  const { unifier } = compilation;
  const type = mapType(keyType ?? unifier.freshVariable(), valueType ?? unifier.freshVariable());
  return { type, step: mapStep(parts) };
}

function mapStep(parts: readonly { readonly key: EvaluationStep; readonly value: Part }[]): EvaluationStep {
  return (frame) => {
    const pairs: (readonly [Value, Value])[] = [];
    for (const part of parts) {
      const key = part.key(frame);
      if (key instanceof EvaluationError) return key;
      if (!mayBeKey(key)) return NOT_A_KEY;
      const given = part.value.step(frame);
      const value = part.value.isOptional ? unwrap(given) : given;
      if (value instanceof EvaluationError) return value;
      if (value !== undefined) pairs.push([key, value]);
    }
    frame.meter.spend(parts.length);
    return new CelMap(pairs);
  };
}

function mayBeKey(value: Value): boolean {
  const isTime = value instanceof Timestamp || value instanceof Duration;
  return !(Array.isArray(value) || isMap(value) || value instanceof Uint8Array || isTime);
}

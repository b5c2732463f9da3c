// Implements the functions on lists and sets, of Kubernetes and of cel-go.
// https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-list-library
// https://github.com/google/cel-go/blob/v0.26.0/ext/README.md#sets
import {
  BOOL,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  typeParameter,
  UINT,
  type Type,
  COMPARABLE,
  optionalType,
} from '../types/type.ts';
import { add } from '../values/arithmetic.ts';
import { areEqual, compareValues, sortByKeys } from '../values/equality.ts';
import {
  evaluationError,
  EvaluationError,
  NO_OVERLOAD,
  OVER_BUDGET,
  adapt,
  Double,
  Uint,
  type Value,
  NONE,
  Optional,
  isMap,
  sizeOfMap,
} from '../values/value.ts';
import type { Meter } from '../values/meter.ts';
import { Duration, Timestamp } from '../values/time.ts';
import { defineFunction, defineMethod, type FunctionDefinition } from './define.ts';

type List = readonly unknown[];

const T = typeParameter('T');
const LIST = listType(T);
/** Kubernetes checks the elements of flatten() when it compiles, never at run time. */
const LIST_OF_LISTS: Type<List> = { ...listType(LIST), accepts: Array.isArray };
const EMPTY = evaluationError('the list is empty');
const OUT_OF_RANGE = evaluationError('the list has no such range');
const NEGATIVE_DEPTH = evaluationError('the depth is negative');

const SUMMABLE: readonly (readonly [Type, Value])[] = [
  [INT, 0n],
  [UINT, new Uint(0n)],
  [DOUBLE, new Double(0)],
  [DURATION, Duration.of(0n)],
];

export const listFunctions: readonly FunctionDefinition[] = [
  ...COMPARABLE.flatMap((type) => [
    defineMethod('isSorted', [listType(type)], BOOL, isSorted),
    defineMethod('max', [listType(type)], type, (list) => extreme(list, (order) => order < 0)),
    defineMethod('min', [listType(type)], type, (list) => extreme(list, (order) => order > 0)),
    defineMethod('sort', [listType(type)], listType(type), sort),
  ]),
  ...SUMMABLE.map(([type, zero]) =>
    defineMethod('sum', [listType(type)], type, (list, meter) => sum(list, zero, meter)),
  ),
  defineMethod('indexOf', [LIST, T], INT, (list, item, meter) =>
    BigInt(list.findIndex((element) => areEqual(adapt(element), item, meter) === true)),
  ),
  defineMethod('lastIndexOf', [LIST, T], INT, (list, item, meter) =>
    BigInt(list.findLastIndex((element) => areEqual(adapt(element), item, meter) === true)),
  ),
  defineMethod('distinct', [LIST], LIST, distinct),
  defineMethod('flatten', [LIST_OF_LISTS], LIST, (list, meter) => flatten(list, 1n, meter)),
  defineMethod('flatten', [listType(DYN), INT], listType(DYN), flatten),
  defineMethod('reverse', [LIST], LIST, (list) => list.toReversed()),
  defineMethod('slice', [LIST, INT, INT], LIST, slice),
  defineFunction('lists.range', [INT], listType(INT), range),
];

/** Values of two ordered types cannot be compared with each other. */
function isComparable(element: unknown): boolean {
  const value = adapt(element);
  return compareValues(value, value) !== undefined;
}

function isSorted(list: List): Value {
  if (!list.every(isComparable)) return NO_OVERLOAD;
  for (let index = 1; index < list.length; index += 1) {
    const order = compareValues(adapt(list[index - 1]), adapt(list[index]));
    if (order !== undefined && order > 0) return false;
  }
  return true;
}

function extreme(list: List, isBetter: (order: number) => boolean): Value {
  if (list.length === 0) return EMPTY;
  if (!list.every(isComparable)) return NO_OVERLOAD;
  return list.map(adapt).reduce((best, next) => {
    const order = compareValues(best, next);
    return order !== undefined && isBetter(order) ? next : best;
  });
}

function sort(list: List, meter: Meter): Value {
  if (!meter.spend(list.length * 4)) return OVER_BUDGET;
  return sortByKeys(list.map((element) => [adapt(element), adapt(element)]));
}

function sum(list: List, zero: Value, meter: Meter): Value {
  let total = zero;
  for (const element of list) {
    total = add(total, adapt(element), meter);
    if (total instanceof EvaluationError) return total;
  }
  return total;
}

function distinct(list: List, meter: Meter): Value {
  const found: Value[] = [];
  for (const element of list.map(adapt)) {
    if (!meter.spend(found.length)) return OVER_BUDGET;
    if (!found.some((other) => areEqual(element, other, meter) === true)) found.push(element);
  }
  return found;
}

function flatten(list: List, depth: bigint, meter: Meter): Value {
  if (depth < 0n) return NEGATIVE_DEPTH;
  let flat = list.map(adapt);
  for (let level = 0n; level < depth && flat.some((element) => Array.isArray(element)); level += 1n) {
    flat = flat.flatMap((element) => (Array.isArray(element) ? element.map(adapt) : [element]));
    if (!meter.spend(flat.length)) return OVER_BUDGET;
  }
  return flat;
}

function slice(list: List, start: bigint, end: bigint): Value {
  const isRange = start >= 0n && start <= end && end <= BigInt(list.length);
  return isRange ? list.slice(Number(start), Number(end)) : OUT_OF_RANGE;
}

/** Returns the whole numbers below `count`. */
function range(count: bigint, meter: Meter): Value {
  if (count <= 0n) return [];
  if (count > BigInt(Number.MAX_SAFE_INTEGER) || !meter.spend(Number(count))) return OVER_BUDGET;
  return Array.from({ length: Number(count) }, (_, index) => BigInt(index));
}

export const setFunctions: readonly FunctionDefinition[] = [
  defineFunction('sets.contains', [LIST, LIST], BOOL, (list, part, meter) =>
    comparing(list, part, meter, () => hasAll(list, part, meter)),
  ),
  defineFunction('sets.equivalent', [LIST, LIST], BOOL, (a, b, meter) =>
    comparing(a, b, meter, () => hasAll(a, b, meter) && hasAll(b, a, meter)),
  ),
  defineFunction('sets.intersects', [LIST, LIST], BOOL, (a, b, meter) =>
    comparing(a, b, meter, () => a.some((element) => has(b, adapt(element), meter))),
  ),
];

/** At worst, every element is compared with every other one. */
function comparing(a: List, b: List, meter: Meter, compare: () => boolean): Value {
  return meter.spend(a.length * b.length) ? compare() : OVER_BUDGET;
}

function hasAll(list: List, part: List, meter: Meter): boolean {
  return part.every((element) => has(list, adapt(element), meter));
}

function has(list: List, element: Value, meter: Meter): boolean {
  return list.some((other) => areEqual(adapt(other), element, meter) === true);
}

// Implements the functions on optional values, except `or` and `orValue` (compile/call.ts).

const V = typeParameter('V');
const OPTIONAL = optionalType(V);
const NO_VALUE = evaluationError('the optional has no value');
const NOT_OPTIONAL = evaluationError('an element of the list is not optional');

export const optionalFunctions: readonly FunctionDefinition[] = [
  defineFunction('optional.of', [V], OPTIONAL, (value) => new Optional(value)),
  defineFunction('optional.ofNonZeroValue', [V], OPTIONAL, (value, meter) =>
    isZero(value, meter) ? NONE : new Optional(value),
  ),
  defineFunction('optional.none', [], OPTIONAL, () => NONE),
  defineFunction('optional.unwrap', [listType(OPTIONAL)], listType(V), unwrap),
  defineMethod('unwrapOpt', [listType(OPTIONAL)], listType(V), unwrap),
  defineMethod('hasValue', [OPTIONAL], BOOL, (optional) => optional !== NONE),
  defineMethod('value', [OPTIONAL], V, (optional) => (optional === NONE ? NO_VALUE : optional.value)),
  defineMethod('or', [OPTIONAL, OPTIONAL], OPTIONAL, () => NO_OVERLOAD),
  defineMethod('orValue', [OPTIONAL, V], V, () => NO_OVERLOAD),
  defineMethod('first', [listType(V)], OPTIONAL, (list) => optionalAt(list, 0)),
  defineMethod('last', [listType(V)], OPTIONAL, (list) => optionalAt(list, list.length - 1)),
];

function optionalAt(list: readonly unknown[], index: number): Optional {
  return index >= 0 && index < list.length ? new Optional(adapt(list[index])) : NONE;
}

function unwrap(list: readonly unknown[]): Value {
  if (!list.every((element) => element instanceof Optional)) return NOT_OPTIONAL;
  return list.filter((element) => element !== NONE).map((element) => element.value);
}

/** False, 0, "", null, empty lists, maps and bytes, and the first moment of year 1. */
function isZero(value: Value, meter: Meter): boolean {
  if (value === null || value === false || value === '' || value === 0n) return true;
  if (value instanceof Uint || value instanceof Double) return Number(value.value) === 0;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp) return value.toString() === '0001-01-01T00:00:00Z';
  return isEmpty(value, meter);
}

function isEmpty(value: Value, meter: Meter): boolean {
  if (value instanceof Optional) return value === NONE;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  return isMap(value) && sizeOfMap(value, meter) === 0;
}

// Implements the functions on optional values, except `or` and `orValue` (compile/call.ts).
import { BOOL, listType, optionalType, typeParameter } from '../types/type.ts';
import {
  evaluationError,
  NO_OVERLOAD,
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

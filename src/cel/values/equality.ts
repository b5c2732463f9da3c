// Compares two values for `==`, `in` and the set functions. Numbers are equal across their types.
import { NO_OVERLOAD, type EvaluationError } from './evaluation-error.ts';
import { findKey, isMap, keysOf, sizeOfMap, type AnyMap } from './map.ts';
import type { Meter } from './meter.ts';
import { Quantity } from './quantity.ts';
import { adapt, Boxed, Double, kindOf, Uint, type ValueKind, type Value, Optional } from './value.ts';

/** Comparing one of these types of Kubernetes with another type is an error, not false. */
const opaque: ReadonlySet<ValueKind> = new Set<ValueKind>([
  'kubernetes.NamedFormat',
  'kubernetes.Quantity',
  'kubernetes.Semver',
  'kubernetes.URL',
  'net.CIDR',
  'net.IP',
]);

export function areEqual(left: Value, right: Value, meter: Meter): boolean | EvaluationError {
  if (typeof left === 'string') return typeof right === 'string' && areStringsEqual(left, right, meter);
  if (typeof left === 'boolean' || left === null) return left === right;
  if (right === null) return false;
  if (typeof left === 'bigint' && typeof right === 'bigint') return left === right;
  return areObjectsEqual(left, right, meter);
}

function areStringsEqual(left: string, right: string, meter: Meter): boolean {
  if (left.length !== right.length) return false;
  if (left.length > 255) meter.spend(left.length >> 8);
  return left === right;
}

function areObjectsEqual(left: Value, right: Value, meter: Meter): boolean | EvaluationError {
  const kind = kindOf(left);
  if (isNumeric(left)) return isNumeric(right) && areNumbersEqual(left, right);
  if (kind !== kindOf(right)) return opaque.has(kind) ? NO_OVERLOAD : false;
  return areEqualOfOneKind(left, right, meter);
}

function areEqualOfOneKind(left: Value, right: Value, meter: Meter): boolean | EvaluationError {
  if (Array.isArray(left) && Array.isArray(right)) return areListsEqual(left, right, meter);
  if (left instanceof Optional && right instanceof Optional) return areOptionalsEqual(left, right, meter);
  if (isMap(left) && isMap(right)) return areMapsEqual(left, right, meter);
  return areScalarsEqual(left, right, meter);
}

function areScalarsEqual(left: Value, right: Value, meter: Meter): boolean | EvaluationError {
  if (left instanceof Uint8Array && right instanceof Uint8Array) return areBytesEqual(left, right, meter);
  if (right instanceof Quantity && right.isSum) return NO_OVERLOAD;
  return left instanceof Boxed && right instanceof Boxed && left.equals(right);
}

/** As in cel-go, elements whose comparison is an error do not make lists differ. */
function areListsEqual(left: readonly unknown[], right: readonly unknown[], meter: Meter): boolean {
  if (left.length !== right.length || !meter.spend(left.length)) return false;
  return left.every((element, index) => areEqual(adapt(element), adapt(right[index]), meter) !== false);
}

function areMapsEqual(left: AnyMap, right: AnyMap, meter: Meter): boolean {
  if (left === right) return true;
  if (sizeOfMap(left, meter) !== sizeOfMap(right, meter) || meter.exhausted) return false;
  return keysOf(left).every((key) => {
    const other = findKey(right, key);
    return other !== undefined && areEqual(findKey(left, key), other, meter) !== false;
  });
}

function areOptionalsEqual(left: Optional, right: Optional, meter: Meter): boolean | EvaluationError {
  if (left.value === undefined || right.value === undefined) return left.value === right.value;
  return areEqual(left.value, right.value, meter);
}

function areBytesEqual(left: Uint8Array, right: Uint8Array, meter: Meter): boolean {
  if (left.length !== right.length || !meter.spend(left.length >> 4)) return false;
  return left.every((byte, index) => byte === right[index]);
}

export type Numeric = bigint | Uint | Double;

export function isNumeric(value: Value): value is Numeric {
  return typeof value === 'bigint' || value instanceof Uint || value instanceof Double;
}

/** Kubernetes compares every number with a double as a double, even where digits are lost. */
function areNumbersEqual(left: Numeric, right: Numeric): boolean {
  if (left instanceof Double || right instanceof Double) return toDouble(left) === toDouble(right);
  return toWhole(left) === toWhole(right);
}

export function toDouble(value: Numeric): number {
  return Number(typeof value === 'bigint' ? value : value.value);
}

function toWhole(value: bigint | Uint): bigint {
  return typeof value === 'bigint' ? value : value.value;
}

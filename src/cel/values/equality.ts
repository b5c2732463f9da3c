// Compares two values for `==`, `in` and the set functions. Numbers are equal across their types.
import {
  NO_OVERLOAD,
  type EvaluationError,
  adapt,
  Boxed,
  Double,
  kindOf,
  Uint,
  type ValueKind,
  type Value,
  Optional,
  findKey,
  isMap,
  keysOf,
  sizeOfMap,
  type AnyMap,
  evaluationError,
} from './value.ts';
import type { Meter } from './meter.ts';
import { Quantity } from './quantity.ts';
import { Duration, Timestamp } from './time.ts';

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

type Numeric = bigint | Uint | Double;

function isNumeric(value: Value): value is Numeric {
  return typeof value === 'bigint' || value instanceof Uint || value instanceof Double;
}

/** Kubernetes compares every number with a double as a double, even where digits are lost. */
function areNumbersEqual(left: Numeric, right: Numeric): boolean {
  if (left instanceof Double || right instanceof Double) return toDouble(left) === toDouble(right);
  return toWhole(left) === toWhole(right);
}

function toDouble(value: Numeric): number {
  return Number(typeof value === 'bigint' ? value : value.value);
}

function toWhole(value: bigint | Uint): bigint {
  return typeof value === 'bigint' ? value : value.value;
}

// Orders values: numbers across their types, strings and bytes by bytes, times, and false before true.

/**
 * Returns a negative number, zero or a positive number; NaN when a value is NaN; undefined when the types have no
 * order.
 */
export function compareValues(left: Value, right: Value): number | undefined {
  if (isNumeric(left)) return isNumeric(right) ? compareNumbers(left, right) : undefined;
  if (typeof left === 'string') return typeof right === 'string' ? compareStrings(left, right) : undefined;
  if (typeof left === 'boolean') return typeof right === 'boolean' ? Number(left) - Number(right) : undefined;
  return compareObjects(left, right);
}

function compareObjects(left: Value, right: Value): number | undefined {
  if (left instanceof Uint8Array && right instanceof Uint8Array) return compareBytes(left, right);
  if (left instanceof Timestamp && right instanceof Timestamp) return sign(left.nanos - right.nanos);
  if (left instanceof Duration && right instanceof Duration) return sign(left.nanos - right.nanos);
  return undefined;
}

function sign(difference: bigint): number {
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

function compareNumbers(left: Numeric, right: Numeric): number {
  if (left instanceof Double || right instanceof Double)
    return compareDoubles(toDouble(left), toDouble(right));
  return sign(
    (typeof left === 'bigint' ? left : left.value) - (typeof right === 'bigint' ? right : right.value),
  );
}

function compareDoubles(left: number, right: number): number {
  if (left === right) return 0;
  if (left < right) return -1;
  return left > right ? 1 : Number.NaN;
}

/** Go orders strings by UTF-8 bytes, which is the order of code points. UTF-16 differs above U+D7FF. */
export function compareStrings(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

function rank(unit: number): number {
  const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
  return isSurrogate ? unit + 0x10000 : unit;
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  for (const [index, byte] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (byte !== other) return byte - other;
  }
  return left.length - right.length;
}

const NOT_SORTABLE = evaluationError('only values of one type that has an order can be sorted');

export function sortByKeys(pairs: readonly (readonly [key: Value, value: Value])[]): Value {
  const [first] = pairs;
  if (first === undefined) return [];
  const kind = kindOf(first[0]);
  const isSortable = pairs.every(([key]) => kindOf(key) === kind && compareValues(key, key) !== undefined);
  if (!isSortable) return NOT_SORTABLE;
  return pairs.toSorted(([a], [b]) => compareValues(a, b) ?? 0).map(([, value]) => value);
}

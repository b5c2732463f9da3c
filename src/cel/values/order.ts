// Orders values: numbers across their types, strings and bytes by bytes, times, and false before true.
import { isNumeric, toDouble, type Numeric } from './equality.ts';
import { Duration, Timestamp } from './time.ts';
import { Double, type Value, kindOf } from './value.ts';
import { evaluationError } from './evaluation-error.ts';

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

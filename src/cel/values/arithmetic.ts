// Implements arithmetic: 64-bit integers that overflow to an error, and no mixing of numeric types.
import {
  evaluationError,
  NO_OVERLOAD,
  OVER_BUDGET,
  Double,
  MAX_INT,
  MAX_UINT,
  MIN_INT,
  Uint,
  type Value,
} from './value.ts';
import type { Meter } from './meter.ts';
import { Duration, Timestamp } from './time.ts';

const OVERFLOW = evaluationError('the result does not fit into its type');
const DIVIDED_BY_ZERO = evaluationError('division by zero');

export function toInt(value: bigint): Value {
  return value <= MAX_INT && value >= MIN_INT ? value : OVERFLOW;
}

export function toUint(value: bigint): Value {
  return value >= 0n && value <= MAX_UINT ? new Uint(value) : OVERFLOW;
}

export function add(left: Value, right: Value, meter: Meter): Value {
  if (typeof left === 'string')
    return typeof right === 'string' ? concatenate(left, right, meter) : NO_OVERLOAD;
  if (Array.isArray(left) && Array.isArray(right)) return joinLists(left, right, meter);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return joinBytes(left, right, meter);
  return (
    addTimes(left, right) ??
    calculate(
      left,
      right,
      (a, b) => a + b,
      (a, b) => a + b,
    )
  );
}

export function subtract(left: Value, right: Value): Value {
  return (
    subtractTimes(left, right) ??
    calculate(
      left,
      right,
      (a, b) => a - b,
      (a, b) => a - b,
    )
  );
}

export function multiply(left: Value, right: Value): Value {
  return calculate(
    left,
    right,
    (a, b) => a * b,
    (a, b) => a * b,
  );
}

export function divide(left: Value, right: Value): Value {
  if (isZero(right)) return DIVIDED_BY_ZERO;
  return calculate(
    left,
    right,
    (a, b) => a / b,
    (a, b) => a / b,
  );
}

export function modulo(left: Value, right: Value): Value {
  if (left instanceof Double) return NO_OVERLOAD;
  if (isZero(right)) return DIVIDED_BY_ZERO;
  // Go reports an overflow for the division behind this remainder.
  if (left === MIN_INT && right === -1n) return OVERFLOW;
  return calculate(
    left,
    right,
    (a, b) => a % b,
    (a, b) => a % b,
  );
}

export function negate(value: Value): Value {
  if (typeof value === 'bigint') return toInt(-value);
  return value instanceof Double ? new Double(-value.value) : NO_OVERLOAD;
}

function isZero(value: Value): boolean {
  return value === 0n || (value instanceof Uint && value.value === 0n);
}

function calculate(
  left: Value,
  right: Value,
  whole: (a: bigint, b: bigint) => bigint,
  real: (a: number, b: number) => number,
): Value {
  if (typeof left === 'bigint') return typeof right === 'bigint' ? toInt(whole(left, right)) : NO_OVERLOAD;
  if (left instanceof Uint)
    return right instanceof Uint ? toUint(whole(left.value, right.value)) : NO_OVERLOAD;
  if (left instanceof Double && right instanceof Double) return new Double(real(left.value, right.value));
  return NO_OVERLOAD;
}

function concatenate(left: string, right: string, meter: Meter): Value {
  return meter.spend((left.length + right.length) >> 4) ? left + right : OVER_BUDGET;
}

function joinLists(left: readonly unknown[], right: readonly unknown[], meter: Meter): Value {
  return meter.spend(left.length + right.length) ? [...left, ...right] : OVER_BUDGET;
}

function joinBytes(left: Uint8Array, right: Uint8Array, meter: Meter): Value {
  const length = left.length + right.length;
  if (!meter.spend(length >> 4)) return OVER_BUDGET;
  const joined = new Uint8Array(length);
  joined.set(left);
  joined.set(right, left.length);
  return joined;
}

function later(time: Timestamp, nanos: bigint): Timestamp | undefined {
  return Timestamp.of(time.nanos + nanos, time.offset);
}

function addTimes(left: Value, right: Value): Value {
  if (left instanceof Timestamp && right instanceof Duration) return later(left, right.nanos) ?? OVERFLOW;
  if (!(left instanceof Duration)) return undefined;
  if (right instanceof Timestamp) return later(right, left.nanos) ?? OVERFLOW;
  return right instanceof Duration ? (Duration.of(left.nanos + right.nanos) ?? OVERFLOW) : NO_OVERLOAD;
}

function subtractTimes(left: Value, right: Value): Value {
  if (left instanceof Timestamp) return subtractFromTimestamp(left, right);
  if (!(left instanceof Duration)) return undefined;
  return right instanceof Duration ? (Duration.of(left.nanos - right.nanos) ?? OVERFLOW) : NO_OVERLOAD;
}

function subtractFromTimestamp(left: Timestamp, right: Value): Value {
  if (right instanceof Timestamp) return timeBetween(right, left) ?? OVERFLOW;
  return right instanceof Duration ? (later(left, -right.nanos) ?? OVERFLOW) : NO_OVERLOAD;
}

/** Kubernetes computes the seconds first, and they must fit, too. */
function timeBetween(from: Timestamp, to: Timestamp): Duration | undefined {
  const seconds = Duration.of((to.seconds - from.seconds) * 1_000_000_000n);
  return seconds && Duration.of(to.nanos - from.nanos);
}

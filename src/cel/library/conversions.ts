// Implements conversions between types, and the parts of timestamps and durations (in UTC).
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  typeType,
  typeParameter,
  UINT,
} from '../types/type.ts';
import { toInt, toUint } from '../values/arithmetic.ts';
import { evaluationError, kindOf, TypeValue, Double, type Value } from '../values/value.ts';
import { doubleText, parseGoDouble } from '../values/double-text.ts';
import { defineFunction, type FunctionDefinition, defineMethod } from './define.ts';
import { durationFromText, timestampFromText, Timestamp } from '../values/time.ts';

const A = typeParameter('A');
const NOT_A_NUMBER = evaluationError('the text is not a number of this type');
const NOT_A_BOOL = evaluationError('the text is not a bool');
const NOT_UTF8 = evaluationError('the bytes are not UTF-8');
const OUT_OF_RANGE = evaluationError('the number does not fit into the type');

export const conversionFunctions: readonly FunctionDefinition[] = [
  defineFunction('dyn', [A], DYN, (value) => value),
  defineFunction('type', [A], typeType(A), (value) => new TypeValue(kindOf(value))),

  defineFunction('int', [INT], INT, (value) => value),
  defineFunction('int', [DOUBLE], INT, ({ value }) => doubleToInt(value)),
  defineFunction('int', [DURATION], INT, ({ nanos }) => nanos),
  defineFunction('int', [STRING], INT, (text) =>
    /^[+-]?\d+$/.test(text) ? integerFromText(text, toInt) : NOT_A_NUMBER,
  ),
  defineFunction('int', [TIMESTAMP], INT, ({ seconds }) => seconds),
  defineFunction('int', [UINT], INT, ({ value }) => toInt(value)),

  defineFunction('uint', [UINT], UINT, (value) => value),
  defineFunction('uint', [DOUBLE], UINT, ({ value }) => doubleToUint(value)),
  defineFunction('uint', [INT], UINT, (value) => toUint(value)),
  defineFunction('uint', [STRING], UINT, (text) =>
    /^\d+$/.test(text) ? integerFromText(text, toUint) : NOT_A_NUMBER,
  ),

  defineFunction('double', [DOUBLE], DOUBLE, (value) => value),
  defineFunction('double', [INT], DOUBLE, (value) => new Double(Number(value))),
  defineFunction('double', [STRING], DOUBLE, doubleFromText),
  defineFunction('double', [UINT], DOUBLE, ({ value }) => new Double(Number(value))),

  defineFunction('string', [STRING], STRING, (value) => value),
  defineFunction('string', [BOOL], STRING, String),
  defineFunction('string', [BYTES], STRING, decode),
  defineFunction('string', [DOUBLE], STRING, ({ value }) => doubleText(value)),
  defineFunction('string', [DURATION], STRING, String),
  defineFunction('string', [INT], STRING, String),
  defineFunction('string', [TIMESTAMP], STRING, String),
  defineFunction('string', [UINT], STRING, ({ value }) => String(value)),

  defineFunction('bool', [BOOL], BOOL, (value) => value),
  defineFunction('bool', [STRING], BOOL, boolFromText),

  defineFunction('bytes', [BYTES], BYTES, (value) => value),
  defineFunction('bytes', [STRING], BYTES, (text) => new TextEncoder().encode(text)),
];

const MAX_DIGITS = 40;

function integerFromText(text: string, fit: (value: bigint) => Value): Value {
  const digits = text.replace(/^([+-]?)0+(?=\d)/, '$1');
  return digits.length > MAX_DIGITS ? NOT_A_NUMBER : fit(BigInt(digits.replace('+', '')));
}

/** Both limits are excluded, as in cel-go: doubles near them are not exact. */
function doubleToInt(value: number): Value {
  return value > -(2 ** 63) && value < 2 ** 63 ? BigInt(Math.trunc(value)) : OUT_OF_RANGE;
}

function doubleToUint(value: number): Value {
  return value >= 0 && value < 2 ** 64 ? toUint(BigInt(Math.trunc(value))) : OUT_OF_RANGE;
}

function doubleFromText(text: string): Value {
  const value = parseGoDouble(text);
  return value === undefined ? NOT_A_NUMBER : new Double(value);
}

function boolFromText(text: string): Value {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true;
  return ['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text) ? false : NOT_A_BOOL;
}

function decode(bytes: Uint8Array): Value {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return NOT_UTF8;
  }
}

const NOT_A_DURATION = evaluationError('this is not a text of a duration, such as 1h30m');
const NOT_A_TIME = evaluationError('this is not a time such as 2026-01-31T00:00:00Z');
const MILLISECOND = 1_000_000n;
const SECOND = 1000n * MILLISECOND;
const DAY = 86_400_000;

export const timeFunctions: readonly FunctionDefinition[] = [
  defineFunction('duration', [DURATION], DURATION, (duration) => duration),
  // Kubernetes has the type of this conversion, and no implementation.
  defineFunction('duration', [INT], DURATION, () => NOT_A_DURATION),
  defineFunction('duration', [STRING], DURATION, (text) => durationFromText(text) ?? NOT_A_DURATION),
  defineFunction('timestamp', [TIMESTAMP], TIMESTAMP, (time) => time),
  defineFunction('timestamp', [INT], TIMESTAMP, (seconds) => Timestamp.of(seconds * SECOND) ?? NOT_A_TIME),
  defineFunction('timestamp', [STRING], TIMESTAMP, (text) => timestampFromText(text) ?? NOT_A_TIME),

  defineMethod('getHours', [DURATION], INT, (duration) => duration.in(3600n * SECOND)),
  defineMethod('getMinutes', [DURATION], INT, (duration) => duration.in(60n * SECOND)),
  defineMethod('getSeconds', [DURATION], INT, (duration) => duration.in(SECOND)),
  defineMethod('getMilliseconds', [DURATION], INT, (duration) => duration.in(MILLISECOND)),

  defineMethod('getFullYear', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCFullYear())),
  defineMethod('getMonth', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCMonth())),
  defineMethod('getDate', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCDate())),
  defineMethod('getDayOfMonth', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCDate() - 1)),
  defineMethod('getDayOfWeek', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCDay())),
  defineMethod('getDayOfYear', [TIMESTAMP], INT, ({ date }) => dayOfYear(date)),
  defineMethod('getHours', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCHours())),
  defineMethod('getMinutes', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCMinutes())),
  defineMethod('getSeconds', [TIMESTAMP], INT, ({ date }) => BigInt(date.getUTCSeconds())),
  defineMethod('getMilliseconds', [TIMESTAMP], INT, ({ fraction }) => fraction / MILLISECOND),
];

/** Counts from 0. */
function dayOfYear(date: Date): bigint {
  const newYear = new Date(0).setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return BigInt(Math.floor((date.getTime() - newYear) / DAY));
}

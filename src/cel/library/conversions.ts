// Conversions between types: int(), uint(), double(), string(), bool(), bytes(), dyn(), type().
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
import { evaluationError } from '../values/evaluation-error.ts';
import { doubleText, parseGoDouble } from '../values/double-text.ts';
import { kindOf, TypeValue, Double, type Value } from '../values/value.ts';
import { defineFunction, type FunctionDefinition } from './define.ts';

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

/** Both ends are excluded, as in cel-go: a double near them is not exact. */
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

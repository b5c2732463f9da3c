// Implements format(): parses a format and writes values for %s %d %f %e %x %X %o %b, as Kubernetes does.
import { DYN, listType, STRING } from '../types/type.ts';
import {
  evaluationError,
  EvaluationError,
  OVER_BUDGET,
  adapt,
  Double,
  Uint,
  type Value,
  TypeValue,
  findKey,
  isMap,
  keysOf,
  type AnyMap,
} from '../values/value.ts';
import type { Meter } from '../values/meter.ts';
import { fixedText, scientificText, doubleText } from '../values/double-text.ts';
import { defineMethod, type FunctionDefinition } from './define.ts';
import { compareStrings } from '../values/equality.ts';
import { Duration, Timestamp } from '../values/time.ts';

const TOO_FEW = evaluationError('format has fewer values than places for them');
const NOT_DECIMAL = evaluationError('%d and %o take whole numbers');
const NOT_REAL = evaluationError('%f and %e take doubles');
const NOT_BINARY = evaluationError('%b takes whole numbers and bools');
const NOT_HEX = evaluationError('%x takes whole numbers, strings and bytes');

export const formatFunctions: readonly FunctionDefinition[] = [
  defineMethod('format', [STRING, listType(DYN)], STRING, formatText),
];

function formatText(pattern: string, values: readonly unknown[], meter: Meter): Value {
  const parts = parseFormat(pattern);
  if (typeof parts === 'string') return evaluationError(parts);
  let text = '';
  let next = 0;
  for (const part of parts) {
    const written = typeof part === 'string' ? part : writeNext(part, values, next);
    if (typeof part !== 'string') next += 1;
    if (written instanceof EvaluationError) return written;
    if (!meter.spend(written.length >> 2)) return OVER_BUDGET;
    text += written;
  }
  return text;
}

function writeNext(clause: Clause, values: readonly unknown[], index: number): string | EvaluationError {
  return index < values.length ? write(clause, adapt(values[index])) : TOO_FEW;
}

function write({ verb, precision }: Clause, value: Value): string | EvaluationError {
  switch (verb) {
    case 's':
      return textOf(value);
    case 'f':
      // Kubernetes writes no sign for -0.0.
      return realText(value, (number) => groupThousands(fixedText(number === 0 ? 0 : number, precision)));
    case 'e':
      // Kubernetes uses the precision of %e as a width: `%.2e`, too, has six digits after the point.
      return padded(
        realText(value, (number) => superscriptExponent(scientificText(number))),
        precision,
      );
    default:
      return writeWhole(verb, value);
  }
}

function padded(text: string | EvaluationError, width: number): string | EvaluationError {
  return typeof text === 'string' ? text.padStart(width) : text;
}

function writeWhole(verb: Exclude<Clause['verb'], 's' | 'f' | 'e'>, value: Value): string | EvaluationError {
  switch (verb) {
    case 'd':
      return wholeText(value, 10) ?? NOT_DECIMAL;
    case 'o':
      return wholeText(value, 8) ?? NOT_DECIMAL;
    case 'b':
      return binaryText(value) ?? NOT_BINARY;
    case 'x':
      return hexText(value) ?? NOT_HEX;
    case 'X':
      return hexText(value)?.toUpperCase() ?? NOT_HEX;
    default:
      return verb satisfies never;
  }
}

function binaryText(value: Value): string | undefined {
  return typeof value === 'boolean' ? String(Number(value)) : wholeText(value, 2);
}

function wholeText(value: Value, radix: number): string | undefined {
  if (typeof value === 'bigint') return value.toString(radix);
  return value instanceof Uint ? value.value.toString(radix) : undefined;
}

function hexText(value: Value): string | undefined {
  if (typeof value === 'string') return hexOfBytes(new TextEncoder().encode(value));
  return value instanceof Uint8Array ? hexOfBytes(value) : wholeText(value, 16);
}

function hexOfBytes(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const INFINITE: ReadonlyMap<Value, string> = new Map<Value, string>([
  ['NaN', 'NaN'],
  ['Infinity', '∞'],
  ['-Infinity', '-∞'],
]);

function realText(value: Value, finite: (value: number) => string): string | EvaluationError {
  const special = INFINITE.get(value instanceof Double ? String(value.value) : value);
  if (special !== undefined) return special;
  return value instanceof Double ? finite(value.value) : NOT_REAL;
}

/** Kubernetes formats numbers with the locale en_US. */
function groupThousands(text: string): string {
  const [whole = '', fraction] = text.split('.');
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function superscriptExponent(text: string): string {
  const [mantissa = '', exponent = ''] = text.split('e');
  const digits = exponent.slice(1).padStart(2, '0');
  const raised = Array.from(digits, (digit) => SUPERSCRIPTS[Number(digit)]).join('');
  return `${mantissa}×10${exponent.startsWith('-') ? '⁻' : ''}${raised}`;
}

export interface Clause {
  readonly verb: 'b' | 'd' | 'e' | 'f' | 'o' | 's' | 'x' | 'X';
  readonly precision: number;
}

const DEFAULT_PRECISION = 6;
/**
 * Kubernetes accepts more, but takes the remainder of 256 for the zeros at the end.
 * https://pkg.go.dev/golang.org/x/text/internal/number#RoundingContext
 */
const MAX_PRECISION = 255;
const CLAUSE = /%(?:%|(?:\.(?<precision>\d+))?(?<verb>[bdefosxX]))/y;

/** Returns the parts in order, or a message if the format is invalid. */
export function parseFormat(format: string): readonly (string | Clause)[] | string {
  const parts: (string | Clause)[] = [];
  const pattern = new RegExp(CLAUSE.source, 'y');
  for (let index = 0; index < format.length;) {
    const next = format.indexOf('%', index);
    const plain = next === -1 ? format.length : next;
    if (plain > index) parts.push(format.slice(index, plain));
    if (next === -1) break;
    pattern.lastIndex = next;
    const match = pattern.exec(format);
    if (match === null) return 'what follows % in a format is one of s d f e x X o b %';
    const { precision, verb } = match.groups ?? {};
    if (Number(precision ?? 0) > MAX_PRECISION) return `a precision is at most ${MAX_PRECISION}`;
    parts.push(isVerb(verb) ? { verb, precision: Number(precision ?? DEFAULT_PRECISION) } : '%');
    index = pattern.lastIndex;
  }
  return parts;
}

function isVerb(text: string | undefined): text is Clause['verb'] {
  return text !== undefined;
}

// Writes values for %s: plainly at the top level, as CEL literals inside lists and maps.

const NOT_TEXT = evaluationError('%s does not take values of this type');
const NOT_UTF8 = evaluationError('the bytes are not UTF-8');

function textOf(value: Value): string | EvaluationError {
  if (typeof value === 'string') return value;
  if (value instanceof Double) return doubleText(value.value);
  if (value instanceof Timestamp || value instanceof Duration) return value.toString();
  return nestedText(value, bytesText);
}

function nestedText(
  value: Value,
  bytes: (value: Uint8Array) => string | EvaluationError,
): string | EvaluationError {
  if (value === null || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof Uint) return value.value.toString();
  if (value instanceof TypeValue) return value.name;
  if (value instanceof Uint8Array) return bytes(value);
  if (Array.isArray(value)) return listText(value);
  return isMap(value) ? mapText(value) : NOT_TEXT;
}

function literalText(value: Value): string | EvaluationError {
  if (typeof value === 'string') return quoted(value);
  if (value instanceof Double)
    return Number.isFinite(value.value) ? fixedText(value.value, 6) : quoted(goText(value.value));
  if (value instanceof Timestamp) return `timestamp(${quoted(value.toString())})`;
  if (value instanceof Duration) return `duration(${quoted(value.toString())})`;
  return nestedText(value, (bytes) => {
    const text = bytesText(bytes);
    return text instanceof EvaluationError ? text : `b${quoted(text)}`;
  });
}

function goText(value: number): string {
  return doubleText(value);
}

function listText(list: readonly unknown[]): string | EvaluationError {
  const texts: string[] = [];
  for (const element of list) {
    const text = literalText(adapt(element));
    if (text instanceof EvaluationError) return text;
    texts.push(text);
  }
  return `[${texts.join(', ')}]`;
}

function mapText(map: AnyMap): string | EvaluationError {
  const entries: (readonly [key: string, value: string])[] = [];
  for (const key of keysOf(map)) {
    const keyText = key instanceof Double || key === null ? NOT_TEXT : literalText(key);
    const valueText = literalText(findKey(map, key));
    if (keyText instanceof EvaluationError) return keyText;
    if (valueText instanceof EvaluationError) return valueText;
    entries.push([keyText, valueText]);
  }
  const sorted = entries.sort(([a], [b]) => compareStrings(a, b));
  return `{${sorted.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}

function bytesText(bytes: Uint8Array): string | EvaluationError {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return NOT_UTF8;
  }
}

const SHORT_ESCAPES = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
]);

/** Go's %q: https://pkg.go.dev/strconv#Quote */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escaped)}"`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const [mark, digits] = code < 0x80 ? ['x', 2] : code < 0x1_00_00 ? ['u', 4] : ['U', 8];
  return SHORT_ESCAPES.get(character) ?? `\\${mark}${code.toString(16).padStart(digits, '0')}`;
}

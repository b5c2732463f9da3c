// Implements format(): parses a format and writes values for %s %d %f %e %x %X %o %b, as Kubernetes does.
import { DYN, listType, STRING } from '../types/type.ts';
import { evaluationError, EvaluationError, OVER_BUDGET } from '../values/evaluation-error.ts';
import type { Meter } from '../values/meter.ts';
import { fixedText, scientificText } from '../values/double-text.ts';
import { adapt, Double, Uint, type Value } from '../values/value.ts';
import { defineMethod, type FunctionDefinition } from './define.ts';
import { textOf } from './format-text.ts';

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

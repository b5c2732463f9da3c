// Implements the functions on strings, which count in characters, and size().
// https://github.com/google/cel-go/blob/v0.26.0/ext/README.md#strings
import { BOOL, INT, listType, STRING, BYTES, DYN, mapType, type Type } from '../types/type.ts';
import { evaluationError, NO_OVERLOAD, OVER_BUDGET, type Value, sizeOfMap } from '../values/value.ts';
import type { Meter } from '../values/meter.ts';
import { defineFunction, defineMethod, type FunctionDefinition } from './define.ts';

const OUT_OF_RANGE = evaluationError('the string has no such index');
const NOT_A_RANGE = evaluationError('the end of a range lies before its start');
const WHITE_SPACE = /^[\t-\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]$/;

export const stringFunctions: readonly FunctionDefinition[] = [
  defineMethod('charAt', [STRING, INT], STRING, charAt),
  defineMethod('contains', [STRING, STRING], BOOL, (text, part) => text.includes(part)),
  defineMethod('endsWith', [STRING, STRING], BOOL, (text, part) => text.endsWith(part)),
  defineMethod('startsWith', [STRING, STRING], BOOL, (text, part) => text.startsWith(part)),
  defineMethod('indexOf', [STRING, STRING], INT, (text, part) => indexOf(text, part, 0n)),
  defineMethod('indexOf', [STRING, STRING, INT], INT, indexOf),
  defineMethod('lastIndexOf', [STRING, STRING], INT, lastIndexOfAll),
  defineMethod('lastIndexOf', [STRING, STRING, INT], INT, lastIndexOf),
  defineMethod('join', [listType(STRING)], STRING, (list, meter) => join(list, '', meter)),
  defineMethod('join', [listType(STRING), STRING], STRING, join),
  defineMethod('lowerAscii', [STRING], STRING, lowerAscii),
  defineMethod('upperAscii', [STRING], STRING, upperAscii),
  defineMethod('replace', [STRING, STRING, STRING], STRING, (text, from, to, meter) =>
    replace(text, from, to, [-1n, meter]),
  ),
  defineMethod('replace', [STRING, STRING, STRING, INT], STRING, (text, from, to, limit, meter) =>
    replace(text, from, to, [limit, meter]),
  ),
  defineMethod('split', [STRING, STRING], listType(STRING), (text, by) => split(text, by, -1n)),
  defineMethod('split', [STRING, STRING, INT], listType(STRING), split),
  defineMethod('substring', [STRING, INT], STRING, (text, start) => substring(text, start)),
  defineMethod('substring', [STRING, INT, INT], STRING, (text, start, end) => substring(text, start, end)),
  defineMethod('trim', [STRING], STRING, trim),
  defineFunction('strings.quote', [STRING], STRING, quote),
];

// oxlint-disable-next-line no-control-regex -- all of ASCII
const ASCII = /^[\u0000-\u007F]*$/;

function lowerAscii(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : text.replaceAll(/[A-Z]+/g, (part) => part.toLowerCase());
}

function upperAscii(text: string): string {
  return ASCII.test(text) ? text.toUpperCase() : text.replaceAll(/[a-z]+/g, (part) => part.toUpperCase());
}

/** Removes Go's white space. A pattern anchored at the end would take quadratic time. */
function trim(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && WHITE_SPACE.test(text.charAt(start))) start += 1;
  while (end > start && WHITE_SPACE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function charAt(text: string, index: bigint): Value {
  const characters = charactersOf(text);
  if (index < 0n || index > BigInt(characters.length)) return OUT_OF_RANGE;
  return characters[Number(index)] ?? '';
}

function indexOf(text: string, part: string, offset: bigint): Value {
  if (part === '') return offset;
  if (offset < 0n) return OUT_OF_RANGE;
  if (offset >= BigInt(countCharacters(text))) return -1n;
  return BigInt(characterIndex(text, text.indexOf(part, unitIndex(text, Number(offset)))));
}

function lastIndexOfAll(text: string, part: string): Value {
  if (part === '') return BigInt(countCharacters(text));
  return BigInt(characterIndex(text, text.lastIndexOf(part)));
}

function lastIndexOf(text: string, part: string, offset: bigint): Value {
  if (part === '') return offset;
  if (offset < 0n) return OUT_OF_RANGE;
  if (offset >= BigInt(countCharacters(text))) return -1n;
  return BigInt(characterIndex(text, text.lastIndexOf(part, unitIndex(text, Number(offset)))));
}

function join(list: readonly unknown[], separator: string, meter: Meter): Value {
  if (!list.every((element) => typeof element === 'string')) return NO_OVERLOAD;
  return meter.spend((list.length * separator.length) >> 4) ? list.join(separator) : OVER_BUDGET;
}

/** A negative limit means no limit. */
function replace(text: string, from: string, to: string, [limit, meter]: readonly [bigint, Meter]): Value {
  const parts = split(text, from, -1n);
  const possible = from === '' ? parts.length + 1 : parts.length - 1;
  const count = limit < 0n || limit > BigInt(possible) ? possible : Number(limit);
  if (!meter.spend((parts.length >> 2) + ((count * to.length) >> 4))) return OVER_BUDGET;
  // Between all characters, before the first one and after the last one.
  if (from === '') return [...parts, ''].map((part, index) => (index < count ? to : '') + part).join('');
  return parts
    .map((part, index) => part + separatorAfter(index, parts.length, index < count ? to : from))
    .join('');
}

function separatorAfter(index: number, length: number, separator: string): string {
  return index === length - 1 ? '' : separator;
}

function split(text: string, by: string, limit: bigint): readonly string[] {
  if (limit === 0n) return [];
  const parts = by === '' ? Array.from(text) : text.split(by);
  if (limit < 0n || BigInt(parts.length) <= limit) return parts;
  const whole = parts.slice(0, Number(limit) - 1);
  return [...whole, parts.slice(whole.length).join(by)];
}

function substring(text: string, start: bigint, end?: bigint): Value {
  if (end !== undefined && start > end) return NOT_A_RANGE;
  const length = BigInt(countCharacters(text));
  const last = end ?? length;
  if (start < 0n || start > length || last < 0n || last > length) return OUT_OF_RANGE;
  return sliceCharacters(text, Number(start), Number(last));
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\u0007', String.raw`\a`],
  ['\b', String.raw`\b`],
  ['\f', String.raw`\f`],
  ['\n', String.raw`\n`],
  ['\r', String.raw`\r`],
  ['\t', String.raw`\t`],
  ['\v', String.raw`\v`],
  ['\\', String.raw`\\`],
  ['"', String.raw`\"`],
]);

function quote(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the characters that have escapes
  return `"${text.replaceAll(/[\u0007-\r"\\]/g, (character) => ESCAPES.get(character) ?? character)}"`;
}

export const regexFunctions: readonly FunctionDefinition[] = [
  defineFunction('matches', [STRING, STRING], BOOL, () => NO_OVERLOAD),
  defineMethod('matches', [STRING, STRING], BOOL, () => NO_OVERLOAD),
  defineMethod('find', [STRING, STRING], STRING, () => NO_OVERLOAD),
  defineMethod('findAll', [STRING, STRING], listType(STRING), () => NO_OVERLOAD),
  defineMethod('findAll', [STRING, STRING, INT], listType(STRING), () => NO_OVERLOAD),
];

const LIST = listType(DYN);
const MAP = mapType(DYN, DYN);

function bothWays<V>(type: Type<V>, size: (value: V, meter: Meter) => number): readonly FunctionDefinition[] {
  const run = (value: V, meter: Meter): bigint => BigInt(size(value, meter));
  return [defineFunction('size', [type], INT, run), defineMethod('size', [type], INT, run)];
}

export const sizeFunctions: readonly FunctionDefinition[] = [
  ...bothWays(BYTES, (bytes) => bytes.length),
  ...bothWays(LIST, (list) => list.length),
  ...bothWays(MAP, sizeOfMap),
  ...bothWays(STRING, countCharacters),
];

const SURROGATES = /[\uD800-\uDFFF]/;
const PAIRS = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g;

function countCharacters(text: string): number {
  return SURROGATES.test(text) ? text.length - (text.match(PAIRS)?.length ?? 0) : text.length;
}

/** Returns the text itself when its characters are its UTF-16 units, and otherwise a list of characters. */
function charactersOf(text: string): string | readonly string[] {
  return SURROGATES.test(text) ? Array.from(text) : text;
}

function sliceCharacters(text: string, start: number, end?: number): string {
  const characters = charactersOf(text);
  return typeof characters === 'string'
    ? characters.slice(start, end)
    : characters.slice(start, end).join('');
}

/** Counts the characters before a position in UTF-16 units. */
function characterIndex(text: string, position: number): number {
  return position < 0 ? -1 : countCharacters(text.slice(0, position));
}

/** Returns the position of a character in UTF-16 units. */
function unitIndex(text: string, character: number): number {
  return sliceCharacters(text, 0, character).length;
}

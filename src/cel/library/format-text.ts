// Writes values for %s: plainly at the top level, as CEL literals inside lists and maps.
import { evaluationError, EvaluationError } from '../values/evaluation-error.ts';
import { doubleText, fixedText } from '../values/double-text.ts';
import { findKey, isMap, keysOf, type AnyMap } from '../values/map.ts';
import { compareStrings } from '../values/order.ts';
import { Duration, Timestamp } from '../values/time.ts';
import { adapt, Double, TypeValue, Uint, type Value } from '../values/value.ts';

const NOT_TEXT = evaluationError('%s does not take values of this type');
const NOT_UTF8 = evaluationError('the bytes are not UTF-8');

export function textOf(value: Value): string | EvaluationError {
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

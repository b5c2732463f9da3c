// Checks a text against its schema: words, length, pattern, date.
import type { Path } from '../../base/problem.ts';
import { describeValue } from '../../base/text.ts';
import { isDateTime } from '../../base/time.ts';
import { invalidValue, refuse, type Report, assembleObject } from './report.ts';
import type { TextSchema } from './schema.ts';
import { isJsonObject } from '../../base/json.ts';

export function checkText(schema: TextSchema, input: unknown, path: Path, report: Report): unknown {
  if (typeof input !== 'string') return refuse(schema, input, path, report);
  if (schema.values !== undefined) {
    return schema.values.includes(input) ? input : refuse(schema, input, path, report);
  }
  // The length goes first: it bounds what the pattern costs.
  const length = countCharacters(input, schema.maxLength);
  if (length > schema.maxLength) {
    report({ path, found: `${length} characters`, accepted: `at most ${schema.maxLength} characters` });
    return invalidValue;
  }
  if (length < (schema.minLength ?? 0)) return refuse(schema, input, path, report);
  if (!isWellFormed(schema, input)) {
    report({ path, found: describeValue(input), accepted: schema.accepted ?? `text like ${schema.pattern}` });
    return invalidValue;
  }
  return input;
}

function isWellFormed(schema: TextSchema, input: string): boolean {
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(input)) return false;
  return schema.format === undefined || isDateTime(input);
}

/** A text of at most `limit` UTF-16 units has at most `limit` characters; only a longer one needs counting. */
function countCharacters(input: string, limit: number): number {
  if (input.length <= limit) return input.length;
  // Every character of two units has one of the second kind, which never stands alone.
  return input.replaceAll(/[\uDC00-\uDFFF]/g, '').length;
}

/** Deeper than any object of Kubernetes that people write, and far from the end of the stack. */
const deepest = 64;

export function copyPlain(value: unknown, path: Path, report: Report): unknown {
  if (path.length > deepest) {
    report({ path, found: 'deeper nesting', accepted: `at most ${deepest} levels` });
    return invalidValue;
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => copyPlain(item, [...path, index], report));
    return items.includes(invalidValue) ? invalidValue : items;
  }
  if (isJsonObject(value)) {
    return assembleObject(
      Object.entries(value).map(([key, member]) => [key, copyPlain(member, [...path, key], report)] as const),
    );
  }
  if (isJsonScalar(value)) return value;
  report({ path, found: describeValue(value), accepted: 'what JSON can hold' });
  return invalidValue;
}

function isJsonScalar(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

// Checks texts against their schema, and copies plain JSON that no schema describes.
import type { Path } from '../base/problem.ts';
import { describeValue } from '../base/text.ts';
import { isDateTime } from '../base/time.ts';
import {
  invalidValue,
  refuse,
  type Report,
  assembleObject,
  templateMarks,
  withoutTemplate,
} from './report.ts';
import type { TextSchema } from './schema.ts';
import { isJsonObject } from '../base/json.ts';

export function checkText(schema: TextSchema, input: unknown, path: Path, report: Report): unknown {
  if (typeof input !== 'string') return refuse(schema, input, path, report);
  if (schema.values !== undefined) {
    return schema.values.includes(input) ? input : refuse(schema, input, path, report);
  }
  // The length is checked first, because it bounds the cost of the pattern.
  const length = countCharacters(input, schema.maxLength);
  if (length > schema.maxLength) {
    report({ path, found: `${length} characters`, accepted: `at most ${schema.maxLength} characters` });
    return invalidValue;
  }
  if (schema.braces === 'refused' && templateMarks.some((mark) => input.includes(mark))) {
    report({ path, found: describeValue(input), accepted: withoutTemplate(schema) });
    return invalidValue;
  }
  if (length < (schema.minLength ?? 0)) return refuse(schema, input, path, report);
  if (!isWellFormed(schema, input)) {
    report({
      path,
      found: describeValue(input),
      accepted: schema.accepted ?? `text that matches ${schema.pattern}`,
    });
    return invalidValue;
  }
  return input;
}

function isWellFormed(schema: TextSchema, input: string): boolean {
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(input)) return false;
  return schema.format === undefined || isDateTime(input);
}

/** Text of at most `limit` UTF-16 units has at most `limit` characters, so only longer text is counted. */
function countCharacters(input: string, limit: number): number {
  if (input.length <= limit) return input.length;
  // Each character of two units has exactly one unit of this range.
  return input.replaceAll(/[\uDC00-\uDFFF]/g, '').length;
}

/** Deeper than any Kubernetes object that people write, and far below the limit of the stack. */
const maxDepth = 64;

export function copyPlain(value: unknown, path: Path, report: Report): unknown {
  if (path.length > maxDepth) {
    report({ path, found: 'deeper nesting', accepted: `at most ${maxDepth} levels` });
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
  report({ path, found: describeValue(value), accepted: 'a JSON value' });
  return invalidValue;
}

function isJsonScalar(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

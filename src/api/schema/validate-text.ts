// Checks a text against its schema: words, length, pattern, date.
import type { Path } from '../../base/problem.ts';
import { describeValue } from '../../base/text.ts';
import { isDateTime } from '../../base/time.ts';
import { invalid, refuse, type Report } from './reporting.ts';
import type { TextSchema } from './schema.ts';

export function checkText(schema: TextSchema, input: unknown, path: Path, report: Report): unknown {
  if (typeof input !== 'string') return refuse(schema, input, path, report);
  if (schema.values !== undefined) {
    return schema.values.includes(input) ? input : refuse(schema, input, path, report);
  }
  // The length goes first: it bounds what the pattern costs.
  const length = countCharacters(input, schema.maxLength);
  if (length > schema.maxLength) {
    report({ path, found: `${length} characters`, accepted: `at most ${schema.maxLength} characters` });
    return invalid;
  }
  if (length < (schema.minLength ?? 0)) return refuse(schema, input, path, report);
  if (!isWellFormed(schema, input)) {
    report({ path, found: describeValue(input), accepted: schema.accepted ?? `text like ${schema.pattern}` });
    return invalid;
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

// Copies data that no schema describes: only what JSON can hold, and only so deep.
import { isJsonObject } from '../../base/json.ts';
import type { Path } from '../../base/problem.ts';
import { describeValue } from '../../base/text.ts';
import { assemble, invalid, type Report } from './reporting.ts';

/** Deeper than any object of Kubernetes that people write, and far from the end of the stack. */
const deepest = 64;

export function copyPlain(value: unknown, path: Path, report: Report): unknown {
  if (path.length > deepest) {
    report({ path, found: 'deeper nesting', accepted: `at most ${deepest} levels` });
    return invalid;
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => copyPlain(item, [...path, index], report));
    return items.includes(invalid) ? invalid : items;
  }
  if (isJsonObject(value)) {
    return assemble(
      Object.entries(value).map(([key, member]) => [key, copyPlain(member, [...path, key], report)] as const),
    );
  }
  if (isJsonScalar(value)) return value;
  report({ path, found: describeValue(value), accepted: 'what JSON can hold' });
  return invalid;
}

function isJsonScalar(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

// What all checks of values share: the mark of a refused value, and how a refusal is reported.
import { ownMember } from '../../base/json.ts';
import type { Path, Problem } from '../../base/problem.ts';
import { describeValue } from '../../base/text.ts';
import { describeSchema } from './accepted.ts';
import type { Schema } from './schema.ts';

/** Stands for a value of which a problem has been reported. */
export const invalid = Symbol('invalid');

export type Report = (problem: Problem) => void;

export function refuse(schema: Schema, input: unknown, path: Path, report: Report): typeof invalid {
  report({ path, found: describeValue(input), accepted: describeSchema(schema) });
  return invalid;
}

/** Object.fromEntries defines properties instead of assigning them, so a key such as `__proto__` is only a key. */
export function assemble(entries: readonly (readonly [string, unknown])[]): unknown {
  return entries.some(([, value]) => value === invalid) ? invalid : Object.fromEntries(entries);
}

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((current, step) => {
    if (Array.isArray(current) && typeof step === 'number') return current[step] as unknown;
    return ownMember(current, step);
  }, value);
}

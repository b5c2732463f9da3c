// States a problem of an AdmissionReview. The refusal is inside the review, where failurePolicy does not apply.
import { isJsonObject, type JsonObject } from '../../base/json.ts';

export interface ReviewProblem {
  /** 400: the API server never sends this. 403: no user may do this. */
  readonly code: 400 | 403;
  /** From the root of the AdmissionReview. Contains field names only: a key can be as secret as a value. */
  readonly path: string;
  readonly text: string;
}

export function invalidReview(path: string, text: string): ReviewProblem {
  return { code: 400, path, text };
}

export function forbiddenReview(path: string, text: string): ReviewProblem {
  return { code: 403, path, text };
}

/** `found a list; accepted: a map of texts`: states the type of the value, never the value. */
export function wrongType(path: string, value: unknown, accepted: string): ReviewProblem {
  return invalidReview(path, `found ${describeType(value)}; accepted: ${accepted}`);
}

/** A decoded part of a review, or its first problem. */
export type Decoding<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: ReviewProblem };

export function decoded<T>(value: T): Decoding<T> {
  return { ok: true, value };
}

export function notDecoded<T>(problem: ReviewProblem): Decoding<T> {
  return { ok: false, problem };
}

/** Returns the first problem that `judge` finds in the list. */
export function firstProblem<T>(
  values: readonly T[],
  judge: (value: T, index: number) => ReviewProblem | undefined,
): ReviewProblem | undefined {
  for (const [index, value] of values.entries()) {
    const problem = judge(value, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Returns the first problem of a value that must be absent or a list of objects. */
export function objectListProblem(
  value: unknown,
  path: string,
  judge: (item: JsonObject, path: string) => ReviewProblem | undefined,
): ReviewProblem | undefined {
  if (isAbsent(value)) return undefined;
  if (!Array.isArray(value)) return wrongType(path, value, 'a list of objects');
  return firstProblem(value, (item: unknown, index) => {
    const at = `${path}[${index}]`;
    return isJsonObject(item) ? judge(item, at) : wrongType(at, item, 'an object');
  });
}

export function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Go reads `null` like a missing field: as the zero value. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** Names the type of a value for messages. */
function describeType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return value === '' ? 'empty text' : 'a text';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'true or false';
    default:
      return 'an object';
  }
}

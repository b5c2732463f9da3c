// What makes a decoded AdmissionReview unanswerable: it is refused inside the review, where failurePolicy has no say.

export interface ReviewProblem {
  /** 400: not what the API server sends; 403: something that nobody may do here. */
  readonly code: 400 | 403;
  /** From the root of the AdmissionReview. Holds names of fields only: a key may be as secret as a value. */
  readonly path: string;
  readonly text: string;
}

export function invalidReview(path: string, text: string): ReviewProblem {
  return { code: 400, path, text };
}

export function forbiddenReview(path: string, text: string): ReviewProblem {
  return { code: 403, path, text };
}

/** `found a list; accepted: a map of texts`: the type of what stands there, never the value. */
export function wrongType(path: string, value: unknown, accepted: string): ReviewProblem {
  return invalidReview(path, `found ${describeType(value)}; accepted: ${accepted}`);
}

/** A part of a review that was decoded, or the first thing that is wrong with it. */
export type Decoding<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: ReviewProblem };

export function decoded<T>(value: T): Decoding<T> {
  return { ok: true, value };
}

export function notDecoded<T>(problem: ReviewProblem): Decoding<T> {
  return { ok: false, problem };
}

/** The first problem of a list, asked one after the other. */
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

export function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Go reads `null` like a field that is not there: the zero value. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** For messages: the kind of value that stands there. */
export function describeType(value: unknown): string {
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

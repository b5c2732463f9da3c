// What makes a decoded AdmissionReview unanswerable: it is refused inside the review, where failurePolicy has no say.
import { describeType } from './json-value.ts';

export interface Fault {
  /** 400: not what the API server sends; 403: something that nobody may do here. */
  readonly code: 400 | 403;
  /** From the root of the AdmissionReview. Holds names of fields only: a key may be as secret as a value. */
  readonly path: string;
  readonly problem: string;
}

export function badRequest(path: string, problem: string): Fault {
  return { code: 400, path, problem };
}

export function forbidden(path: string, problem: string): Fault {
  return { code: 403, path, problem };
}

/** `found a list; accepted: a map of texts`: the type of what stands there, never the value. */
export function wrongType(path: string, value: unknown, accepted: string): Fault {
  return badRequest(path, `found ${describeType(value)}; accepted: ${accepted}`);
}

/** A part of a review that was decoded, or the first thing that is wrong with it. */
export type Decoding<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault };

export function decoded<T>(value: T): Decoding<T> {
  return { ok: true, value };
}

export function faulty<T>(fault: Fault): Decoding<T> {
  return { ok: false, fault };
}

/** The first fault of a list, asked one after the other. */
export function firstFault<T>(
  values: readonly T[],
  judge: (value: T, index: number) => Fault | undefined,
): Fault | undefined {
  for (const [index, value] of values.entries()) {
    const fault = judge(value, index);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

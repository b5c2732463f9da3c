// The result of compiling a part of a policy or share: the compiled part, or all problems of the part.
import type { Problem } from '../../base/problem.ts';

export type CompileResult<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly Problem[] };

export function compiled<T>(value: T): CompileResult<T> {
  return { ok: true, value };
}

export function refused<T>(problems: readonly Problem[]): CompileResult<T> {
  return { ok: false, problems };
}

/** Returns all values, or the problems of all parts, so that an author can fix them in one edit. */
export function allOf<T>(parts: readonly CompileResult<T>[]): CompileResult<readonly T[]> {
  const problems = parts.flatMap((part) => (part.ok ? [] : part.problems));
  if (problems.length > 0) return refused(problems);
  return compiled(parts.flatMap((part) => (part.ok ? [part.value] : [])));
}

export function mapped<T, U>(part: CompileResult<T>, change: (value: T) => U): CompileResult<U> {
  return part.ok ? compiled(change(part.value)) : part;
}

// Describes a problem in an object that a person wrote, as data and as text. Defines the result of compiling such an object.
import { clipped } from './text.ts';

type PathStep = string | number;
export type Path = readonly PathStep[];

export interface Problem {
  /** The path from the root of the object to the value; for a missing field, to where it should be. */
  readonly path: Path;
  readonly found: string;
  readonly accepted: string;
  /** The problem as a sentence. The text shows it in place of `found` and `accepted`. */
  readonly message?: string;
  /** Set when the name of the last step is wrong, not its value. */
  readonly at?: 'key';
  /** For a problem inside a text such as an expression: the index of its first character. */
  readonly offset?: number;
}

/** Returns one line: `spec.match.names[0]: found 5; accepted: text`. */
export function renderProblem(problem: Problem): string {
  const where = problem.path.length === 0 ? 'the object' : renderPath(problem.path);
  return `${where}: ${problem.message ?? `found ${problem.found}; accepted: ${problem.accepted}`}`;
}

/** Returns `spec.required.labels["example.com/team"]`: a step that is not a plain word is put in brackets. */
export function renderPath(path: Path): string {
  return path.map(renderStep).join('');
}

/** Reads what `renderPath` writes. The rest after a word that is no step is left out. */
export function readPath(text: string): Path {
  const steps: PathStep[] = [];
  const step = /\.?([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;
  for (let match = step.exec(text); match !== null; match = step.exec(text)) {
    const [, word, index, key] = match;
    steps.push(word ?? (index === undefined ? String(JSON.parse(key ?? '""')) : Number(index)));
  }
  return steps;
}

function renderStep(step: PathStep, index: number): string {
  if (typeof step === 'number') return `[${step}]`;
  const key = clipped(step);
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(key)) return `[${JSON.stringify(key)}]`;
  return index === 0 ? key : `.${key}`;
}

/** The result of compiling a part of a policy or share: the compiled part, or all problems of the part. */
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

/** Makes one thing of the values, if there are any, and returns the problems of the others with it. */
export function partly<T, U>(
  parts: readonly CompileResult<T>[],
  make: (values: readonly T[]) => U,
): readonly CompileResult<U>[] {
  const values = parts.flatMap((part) => (part.ok ? [part.value] : []));
  const problems = parts.flatMap((part) => (part.ok ? [] : [part]));
  return values.length === 0 ? problems : [compiled(make(values)), ...problems];
}

export function both<A, B>(a: CompileResult<A>, b: CompileResult<B>): CompileResult<readonly [A, B]> {
  if (a.ok && b.ok) return compiled([a.value, b.value]);
  return refused([...(a.ok ? [] : a.problems), ...(b.ok ? [] : b.problems)]);
}

export function mapped<T, U>(part: CompileResult<T>, change: (value: T) => U): CompileResult<U> {
  return part.ok ? compiled(change(part.value)) : part;
}

export function andThen<T, U>(
  part: CompileResult<T>,
  next: (value: T) => CompileResult<U>,
): CompileResult<U> {
  return part.ok ? next(part.value) : part;
}

// Finds all problems of an object at once: without the parts that are wrong, the rest is loaded too.
import { isJsonObject, ownMember } from '../base/json.ts';
import type { Path, Problem, CompileResult } from '../base/problem.ts';

interface AllProblems<T> {
  readonly problems: readonly Problem[];
  /** The object without the parts that are wrong. Undefined if too little is left. */
  readonly rest: T | undefined;
}

/** A part can need another part that is wrong, and so on. */
const maxRounds = 5;

/** `first`: the problems of the whole object. The schema hides those of expressions, and these hide contradictions. */
export function allProblems<T>(
  value: unknown,
  first: readonly Problem[],
  load: (value: unknown) => CompileResult<T>,
): AllProblems<T> {
  const all = [...first];
  let [left, found] = [value, first];
  for (let round = 0; round < maxRounds; round += 1) {
    const removed = all.map(({ path }) => path);
    const whole = left;
    for (const { path } of found) {
      // Several problems can be about one part.
      const isRemoved = [path, path.slice(0, -1)].some(
        (each) => at(whole, each) !== undefined && at(left, each) === undefined,
      );
      if (!isRemoved) left = without(left, path);
    }
    if (left === undefined) break;
    const result = load(left);
    if (result.ok) return { problems: all, rest: result.value };
    found = result.problems;
    all.push(...found.filter(({ path }) => !removed.some((each) => needs(path, each))));
  }
  return { problems: all, rest: undefined };
}

/** A rule or an exception can name another part of the same policy. */
const references = [
  [
    ['spec', 'exceptions'],
    ['spec', 'validations'],
  ],
  [
    ['spec', 'namespaces', 'defaults'],
    ['spec', 'namespaces', 'required'],
  ],
] as const;

/** True if a problem at this path may come only from the removal of the other. */
function needs(path: Path, removed: Path): boolean {
  return (
    startsWith(removed, path) ||
    references.some(([from, to]) => startsWith(path, from) && startsWith(removed, to))
  );
}

function startsWith(path: Path, start: Path): boolean {
  return start.every((step, index) => path[index] === step);
}

function at(value: unknown, path: Path): unknown {
  return path.reduce((found, step) => {
    const items: readonly unknown[] | undefined = Array.isArray(found) ? found : undefined;
    return items === undefined ? ownMember(found, String(step)) : items[Number(step)];
  }, value);
}

/** Removes the innermost part on the path. With an item of a list, the later items are removed too, because they would move. */
function without(value: unknown, [step, ...rest]: Path): unknown {
  if (step === undefined) return undefined;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const item = without(items[Number(step)], rest);
    return item === undefined ? items.slice(0, Number(step)) : items.with(Number(step), item);
  }
  if (!isJsonObject(value) || !Object.hasOwn(value, step)) return undefined;
  const inner = without(value[step], rest);
  const entries = Object.entries(value).filter(([key]) => key !== step);
  return Object.fromEntries(inner === undefined ? entries : [...entries, [step, inner]]);
}

// Keeps the first object of each name, and sorts problems by file, for all loaders of files.
import type { FileProblem } from './file-problem.ts';

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

interface FirstOfEach<T> {
  readonly first: readonly T[];
  readonly repeated: readonly (FileProblem & { readonly name: string })[];
}

/** A second object of a name is refused, whichever file it is in; the message says where the first one is. */
export function firstOfEach<T extends Place>(
  objects: readonly T[],
  nameOf: (object: T) => string,
): FirstOfEach<T> {
  const byName = new Map<string, T>();
  const repeated: (FileProblem & { readonly name: string })[] = [];
  for (const object of objects) {
    const name = nameOf(object);
    const known = byName.get(name);
    if (known === undefined) {
      byName.set(name, object);
      continue;
    }
    const { file, line, column } = object;
    const message = `the name ${name} is taken by the one at ${known.file}:${known.line}:${known.column}`;
    repeated.push({ file, line, column, message, name });
  }
  return { first: [...byName.values()], repeated };
}

export function inOrder(problems: readonly FileProblem[]): readonly FileProblem[] {
  return problems.toSorted((a, b) => {
    if (a.file !== b.file) return a.file < b.file ? -1 : 1;
    return a.line - b.line || a.column - b.column;
  });
}

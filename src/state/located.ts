// Keeps the first object of each name, and sorts problems by file, for all loaders of files.
import { clipped } from '../base/text.ts';

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

// Describes a problem in a file that a person wrote, with file, line and column.

export interface FileProblem {
  readonly file: string;
  /** The line and the column count from 1. */
  readonly line: number;
  readonly column: number;
  /** Which document of the file, from 1. */
  readonly document?: number;
  /** The object that has the problem, if the object has a name: `policy team`. */
  readonly about?: string;
  readonly message: string;
}

/** One line in the form that editors and terminals can jump to: `policies/team.yaml:12:9: …`. */
export function renderFileProblem({ file, line, column, about, message }: FileProblem): string {
  return `${shownFile(file)}:${line}:${column}:${about === undefined ? '' : ` ${clipped(about)}:`} ${clipped(message, maxMessage)}`;
}

/** Longer than any message of Reeve. */
const maxMessage = 40_000;
/** https://man7.org/linux/man-pages/man0/limits.h.0p.html: PATH_MAX */
const maxPath = 4096;

/** The name of a file on one line: it can hold line breaks and control characters. */
export function shownFile(file: string): string {
  return clipped(file, maxPath);
}

/** A path that was asked for cannot be read at all: for the operator, not a fault of what is written there. */
export class UnreadablePathError extends Error {
  readonly path: string;

  constructor(path: string, reason: string) {
    super(`${shownFile(path)} cannot be read: ${reason}`);
    this.name = 'UnreadablePathError';
    this.path = path;
  }
}

// Reads the YAML and JSON files of a path and the objects in them. Each object and problem has its file, line and column.
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Dirent } from 'node:fs';
import { errorCode } from '../base/kube-error.ts';
import { clipped } from '../base/text.ts';
import { type Path, type Problem, renderProblem } from '../base/problem.ts';
import { parseYaml, type YamlText } from '../base/yaml.ts';
import { follow, objectsOf, type YamlNode, sourceOffset } from '../base/yaml-tree.ts';

export interface TextFile {
  readonly file: string;
  readonly text: string;
}

interface TextFiles {
  readonly files: readonly TextFile[];
  readonly problems: readonly FileProblem[];
  /** The folders that were read. A new file in one of them would be read, too. */
  readonly folders: readonly string[];
}

/** Enough for all namespaces of a big cluster in one file. */
const maxBytes = 32 * 1024 * 1024;
const extension = /\.(ya?ml|json)$/i;

/**
 * Reads a file that is named whatever its extension. Reads all YAML and JSON files of a folder and of the folders below,
 * except folders with the names in `leftOut`.
 */
export async function readYamlFiles(path: string, leftOut: readonly string[] = []): Promise<TextFiles> {
  const found = await stat(path).catch((error: unknown) => {
    throw new UnreadablePathError(path, reasonOf(error));
  });
  const visited = new Set<string>();
  const names = found.isDirectory() ? await filesBelow(path, leftOut, visited) : [path];
  const outcomes: (TextFile | FileProblem)[] = [];
  // One after the other: a folder may hold more files than a process may open.
  for (const name of names) outcomes.push(await readText(name));
  return {
    files: outcomes.filter((outcome) => 'text' in outcome),
    problems: outcomes.filter((outcome) => 'message' in outcome),
    folders: found.isDirectory() ? [...visited] : [dirname(path)],
  };
}

/**
 * Sorted by name. Reads each folder once, however many links lead to it. Links are followed, because a mounted ConfigMap
 * consists of links into a hidden folder. Hidden names are skipped for the same reason.
 */
async function filesBelow(
  folder: string,
  leftOut: readonly string[],
  visited: Set<string>,
): Promise<readonly string[]> {
  const real = await realpath(folder).catch((error: unknown) => {
    throw new UnreadablePathError(folder, reasonOf(error));
  });
  if (visited.has(real)) return [];
  visited.add(real);
  const entries = (await readFolder(folder))
    .filter(({ name }) => !name.startsWith('.') && !leftOut.includes(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const files: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (await isFolder(entry, path)) files.push(...(await filesBelow(path, leftOut, visited)));
    else if (extension.test(entry.name)) files.push(path);
  }
  return files;
}

async function readFolder(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    throw new UnreadablePathError(folder, reasonOf(error));
  }
}

async function isFolder(entry: Dirent, path: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  // The reading of the file reports a link that leads nowhere.
  return stat(path).then(
    (target) => target.isDirectory(),
    () => false,
  );
}

async function readText(file: string): Promise<TextFile | FileProblem> {
  try {
    const found = await stat(file);
    // Reading a pipe or a device could wait or go on for ever.
    if (!found.isFile()) return wholeFile(file, 'this is not a file');
    if (found.size > maxBytes)
      return wholeFile(file, `the file is longer than ${maxBytes / 1024 / 1024} MiB`);
    const text = decode(await readFile(file));
    return text === undefined ? wholeFile(file, 'this is not text in UTF-8') : { file, text };
  } catch (error) {
    return wholeFile(file, `the file cannot be read: ${reasonOf(error)}`);
  }
}

function wholeFile(file: string, message: string): FileProblem {
  return { file, line: 1, column: 1, message };
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  switch (errorCode(error)) {
    case 'ENOENT':
      return 'there is no such file or folder';
    case 'EACCES':
    case 'EPERM':
      return 'this process may not read it';
    case 'ENOTDIR':
      return 'a part of the path is not a folder';
    case 'ELOOP':
      return 'its links go round in a circle';
    default:
      return 'the system refuses it';
  }
}

// Keeps the first object of each name, and sorts problems by file, for all loaders of files.

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

interface FirstOfEach<T> {
  readonly first: readonly T[];
  readonly repeated: readonly (FileProblem & { readonly name: string })[];
}

/** Refuses a second object of a name, whichever file holds it. The message names the place of the first one. */
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

/** A given path cannot be read at all. This is a problem for the operator, and not one of a file's content. */
export class UnreadablePathError extends Error {
  readonly path: string;

  constructor(path: string, reason: string) {
    super(`${shownFile(path)} cannot be read: ${reason}`);
    this.name = 'UnreadablePathError';
    this.path = path;
  }
}

// Reads the objects of a text with YAML documents, each with the places of its values.

/** An object with its place in a file, and the document that knows the places of its values. */
export interface LocatedObject {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly document: number;
  readonly value: unknown;
  /** Returns the problem with its place in the file, at the very value that has the problem. */
  locate(problem: Problem): FileProblem;
}

interface LocatedObjects {
  readonly objects: readonly LocatedObject[];
  readonly problems: readonly FileProblem[];
  /** Values that kubectl would send to the API server in another form. */
  readonly misread: readonly FileProblem[];
}

export function readObjects({ file, text }: TextFile): LocatedObjects {
  const yaml = parseYaml(text);
  const objects: LocatedObject[] = [];
  const problems: FileProblem[] = [];
  const misread: FileProblem[] = [];
  for (const [index, document] of yaml.documents.entries()) {
    const number = index + 1;
    if (document.kind === 'broken') {
      problems.push(...document.problems.map((problem) => ({ file, document: number, ...problem })));
    }
    if (document.kind !== 'data') continue;
    misread.push(...document.misread.map((problem) => ({ file, document: number, ...problem })));
    const source: Source = { file, text, yaml, root: document.root, document: number };
    objects.push(...objectsOf(document.value).map(({ value, path }) => locatedObject(source, value, path)));
  }
  return { objects, problems, misread };
}

interface Source extends TextFile {
  readonly yaml: YamlText;
  readonly root: YamlNode;
  readonly document: number;
}

function locatedObject(source: Source, value: unknown, path: Path): LocatedObject {
  const { file, document, root, yaml } = source;
  return {
    file,
    document,
    value,
    ...yaml.positionAt(follow(root, path).node.start),
    locate(problem) {
      const place = placeOf(source, { ...problem, path: [...path, ...problem.path] });
      const within = place.exact ? '' : ` (character ${(problem.offset ?? 0) + 1} of the text)`;
      return { file, document, ...yaml.positionAt(place.offset), message: renderProblem(problem) + within };
    },
  };
}

interface ProblemPlace {
  readonly offset: number;
  /** False if the place is the start of the text, and not the very character. */
  readonly exact: boolean;
}

function placeOf({ root, text }: Source, { path, at, offset }: Problem): ProblemPlace {
  const { node, keyStart, complete } = follow(root, path);
  // A missing field has no place, so its problem points to the key of the object that should have it.
  if (!complete || at === 'key') return { offset: keyStart ?? node.start, exact: true };
  if (offset === undefined) return { offset: node.start, exact: true };
  const exact = node.kind === 'scalar' ? sourceOffset(text, node, offset) : undefined;
  return { offset: exact ?? node.start, exact: exact !== undefined };
}

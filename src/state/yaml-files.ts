// Finds the YAML and JSON files of a path and reads their text.
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Dirent } from 'node:fs';
import { errorCode } from '../base/kube-error.ts';
import { UnreadablePathError, type FileProblem } from './located.ts';

export interface TextFile {
  readonly file: string;
  readonly text: string;
}

interface TextFiles {
  readonly files: readonly TextFile[];
  readonly problems: readonly FileProblem[];
  /** The folders that were read: a new file in one of them would be read, too. */
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
 * By name, each folder once however many links lead to it. Links are followed, because a mounted ConfigMap consists of
 * links into a hidden folder; hidden names are skipped for the same reason.
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
  // A link that leads nowhere is reported when it is read as a file.
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

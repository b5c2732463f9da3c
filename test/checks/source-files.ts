// Reads the files of the repository that checks look at.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

export interface SourceFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** All TypeScript and Markdown below a folder. */
export function filesUnder(folder: string): readonly SourceFile[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|md)$/u.test(entry.name))
    .map((entry) => fileAt(join(entry.parentPath, entry.name).slice(root.length + 1)));
}

export function fileAt(path: string): SourceFile {
  return { path, text: readFileSync(join(root, path), 'utf8') };
}

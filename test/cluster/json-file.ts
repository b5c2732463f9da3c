// Files of JSON through which processes know each other.
import { readFile, rename, writeFile } from 'node:fs/promises';

/** Returns undefined when there is no such file. */
export async function readJsonFile<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch {
    return undefined;
  }
}

/** Replaces the file at once, so that a reader sees the old or the new text, never a part. Only its owner may read it. */
export async function writeJsonFile(path: string, content: object): Promise<void> {
  await writeFile(`${path}.tmp`, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.tmp`, path);
}

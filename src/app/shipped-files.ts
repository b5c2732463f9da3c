// Finds the files that ship beside the code, and reads the version. Every start loads it, so it imports no library.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownMember } from '../base/json.ts';

/** Works from src/ROOM/ and from dist/bin/. */
const root = join(import.meta.dirname, '..', '..');

/** A part of manifests/. */
export function shippedFolder(part: string): string {
  return join(root, 'manifests', part);
}

export async function readProgramVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  return String(ownMember(manifest, 'version'));
}

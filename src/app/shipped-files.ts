// Finds the files that ship beside the code, and reads package.json. Every start loads it, so it imports no library.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownMember } from '../base/json.ts';

/** Works from src/ROOM/ and from dist/bin/. */
const root = join(import.meta.dirname, '..', '..');

/** A part of manifests/. */
export function shippedFolder(part: string): string {
  return join(root, 'manifests', part);
}

export function readProgramVersion(): string {
  return String(ownMember(packageManifest(), 'version'));
}

function packageManifest(): unknown {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

// Checks that the running Node is new enough: an old one would end with an error that does not name the cause.

/** Returns one line for the user, or undefined when Node is new enough. `required` is `engines.node` of package.json. */
export function nodeVersionProblem(running: string, required = requiredNode()): string | undefined {
  if (required === undefined || compare(numbersIn(running), numbersIn(required)) >= 0) return undefined;
  return `Node ${required} is required, and this is Node ${running}`;
}

function requiredNode(): string | undefined {
  const node = ownMember(ownMember(packageManifest(), 'engines'), 'node');
  return typeof node === 'string' ? node : undefined;
}

function numbersIn(version: string): readonly number[] {
  return (/\d+(\.\d+)*/.exec(version)?.[0] ?? '').split('.').map(Number);
}

function compare(a: readonly number[], b: readonly number[]): number {
  const index = b.findIndex((part, at) => part !== (a[at] ?? 0));
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}

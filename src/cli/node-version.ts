// Checks that the running Node is new enough: an old one would end with an error that does not name the cause.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, ownMember } from '../base/json.ts';

/** Returns one line for the user, or undefined when Node is new enough. `required` is `engines.node` of package.json. */
export function nodeVersionProblem(running: string, required = requiredNode()): string | undefined {
  if (required === undefined || compare(numbersIn(running), numbersIn(required)) >= 0) return undefined;
  return `Node ${required} is required, and this is Node ${running}`;
}

function requiredNode(): string | undefined {
  const manifest: unknown = JSON.parse(
    readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'),
  );
  const node = isJsonObject(manifest) ? ownMember(manifest['engines'], 'node') : undefined;
  return typeof node === 'string' ? node : undefined;
}

function numbersIn(version: string): readonly number[] {
  return (/\d+(\.\d+)*/.exec(version)?.[0] ?? '').split('.').map(Number);
}

function compare(a: readonly number[], b: readonly number[]): number {
  const index = b.findIndex((part, at) => part !== (a[at] ?? 0));
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}

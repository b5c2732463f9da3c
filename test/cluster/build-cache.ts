// Files in the cache of the user whose names end with the key of their content: marks their use, and removes old ones.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

export interface CacheEntry {
  readonly name: string;
  /** In milliseconds. */
  readonly usedAt: number;
}

const keptOfEachKind = 3;
/** No build and no test takes that long, so no process still needs a file that was used last before that. */
const keptMs = 24 * 60 * 60 * 1000;

/** Marks the file as used. */
export function isCached(path: string): boolean {
  if (!existsSync(path)) return false;
  const now = new Date();
  utimesSync(path, now, now);
  return true;
}

/** Returns a name beside the file. Another process may make the same file, and the last rename wins. */
export function temporaryName(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.tmp`;
}

/** Call it after a build. Files that another process uses stay. */
export function removeOldBuilds(folder: string): void {
  const entries = readdirSync(folder).flatMap((name) => entryOf(folder, name));
  for (const name of oldBuilds(entries, Date.now()))
    rmSync(join(folder, name), { recursive: true, force: true });
}

/** Returns the names that have not been used for a day: builds that are not the newest of their kind, and unfinished ones. */
export function oldBuilds(entries: readonly CacheEntry[], now: number): readonly string[] {
  const byUse = [...entries].sort((a, b) => b.usedAt - a.usedAt);
  const seen = new Map<string, number>();
  return byUse.flatMap(({ name, usedAt }) => {
    const kind = kindOf(name);
    if (kind === undefined) return [];
    const newer = seen.get(kind) ?? 0;
    seen.set(kind, newer + 1);
    const isNeeded = kind !== unfinished && newer < keptOfEachKind;
    return isNeeded || now - usedAt < keptMs ? [] : [name];
  });
}

const unfinished = 'unfinished';

/** Undefined for files without a key, such as the folders of clusters. */
function kindOf(name: string): string | undefined {
  if (/^[a-z]+\d?-[a-z\d]+\S*\.(?:[\da-f]{12}\.tmp|[A-Za-z\d]{6})$/.test(name)) return unfinished;
  const { kind, ending = '' } = /^(?<kind>[a-z]+\d?)-[\da-f]{16}(?<ending>\.tar)?$/.exec(name)?.groups ?? {};
  return kind === undefined ? undefined : `${kind}${ending}`;
}

/** Another process may remove the file meanwhile. */
function entryOf(folder: string, name: string): readonly CacheEntry[] {
  const found = statSync(join(folder, name), { throwIfNoEntry: false });
  return found === undefined ? [] : [{ name, usedAt: found.mtimeMs }];
}

// The flag --watch of `reeve test`: runs the suites again after each change of a file.
import { watch, type FSWatcher } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isAborted, pause } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { ownMember } from '../../base/json.ts';
import { findSuites } from '../../inspect/suites/load-suite.ts';
import { UnreadablePathError, readYamlFiles } from '../../state/yaml-files.ts';
import { unlessUnreadable } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';

interface WatchIo {
  readonly stderr: (text: string) => void;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly onSignal: (listener: () => void) => void;
}

/** Editors write a file in several steps. */
const settleMs = 100;

/** Returns the exit code. */
export async function runOnChanges(
  paths: readonly string[],
  { stderr, clock, onSignal }: WatchIo,
  run: () => Promise<number>,
): Promise<number> {
  const stop = new AbortController();
  onSignal(() => stop.abort());
  const stopped = new Promise((done) => stop.signal.addEventListener('abort', done, { once: true }));
  let watchers: readonly FSWatcher[] = [];
  while (!isAborted(stop.signal)) {
    const changed = Promise.withResolvers<void>();
    const before = watchers;
    // The new watchers start before the suites run, so that no change is missed.
    watchers = (await foldersOf(paths)).flatMap((folder) => watched(folder, changed.resolve));
    for (const watcher of before) watcher.close();
    await unlessUnreadable(run(), { stderr });
    if (watchers.length === 0) return exitCodes.unknown;
    stderr('waiting for changes; Ctrl-C ends the command\n');
    await Promise.race([changed.promise, stopped]);
    await pause(clock, settleMs, stop.signal);
  }
  for (const watcher of watchers) watcher.close();
  return 0;
}

/** Watches folders, because many editors write a new file and rename it. */
function watched(folder: string, onChange: () => void): readonly FSWatcher[] {
  try {
    const watcher = watch(folder, (event, name) => {
      if (isOfSuites(event, name)) onChange();
    });
    // The folder around a deleted folder reports the change.
    return [watcher.on('error', () => watcher.close())];
  } catch {
    // The folder was deleted after it was read.
    return [];
  }
}

/** A name without an extension may be a new folder. Backups and lock files of editors are no changes. */
export function isOfSuites(event: string, name: string | null): boolean {
  if (name === null) return true;
  if (name.startsWith('.')) return false;
  return /\.(ya?ml|json)$/i.test(name) || (event === 'rename' && !name.includes('.'));
}

/** Returns the folders of the suites, and of all files that they name. */
async function foldersOf(paths: readonly string[]): Promise<readonly string[]> {
  const below = await Promise.all(paths.map((path) => foldersAt(path, ['node_modules'])));
  const { suites } = await readable(findSuites(paths), { suites: [], problems: [] });
  const named = await Promise.all(
    suites.flatMap(({ file, value }) =>
      namedBy(value).map((path) => foldersAt(resolve(dirname(file), path), [])),
    ),
  );
  return [...new Set([...below, ...named].flat().map((folder) => resolve(folder)))];
}

async function foldersAt(path: string, leftOut: readonly string[]): Promise<readonly string[]> {
  const missing = { folders: [dirname(path)] };
  return (await readable<{ folders: readonly string[] }>(readYamlFiles(path, leftOut), missing)).folders;
}

/** Returns `otherwise` for a path that cannot be read, because the run names the path. */
async function readable<T>(reading: Promise<T>, otherwise: T): Promise<T> {
  return await reading.catch((error: unknown) => {
    if (error instanceof UnreadablePathError) return otherwise;
    throw error;
  });
}

/** The suite may be invalid in any way. */
function namedBy(suite: unknown): readonly string[] {
  const requests = listed(ownMember(suite, 'tests')).map((test) =>
    ownMember(ownMember(test, 'request'), 'file'),
  );
  const files = [
    ...listed(ownMember(suite, 'policies')),
    ...listed(ownMember(suite, 'objects')),
    ...requests,
  ];
  return files.filter((each) => typeof each === 'string');
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

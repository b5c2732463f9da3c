// Compiles the bundle ahead, into the compile cache of Node: https://nodejs.org/api/module.html#module-compile-cache
//
//   node build/compile-cache.ts FLAG...
//
// The flags of Node with which the program will run. V8 refuses a cache that was made with others, and compiles again.
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { codeFolder, mainFile } from './bundle.ts';

export const cacheFolder = 'compiled';

/** What a Pod loads. The list leaves out what it needs rarely or never, such as the library for kubeconfigs. */
const loadedInPods = [
  'run2.cjs',
  'running2.cjs',
  'running.cjs',
  'find-api-server2.cjs',
  'run.cjs',
  'webhook-role.cjs',
  'reconciler-role.cjs',
  'encode.cjs',
  'pino.cjs',
];

/**
 * V8 writes the hashes of names into its cache, and they depend on a random seed. A fixed one gives the same bytes for the
 * same bundle. It is not the seed of a process that reads the cache: V8 calculates the hashes of what it reads again.
 */
const fixedSeed = '--random-seed=1';

/** With a path relative to the cache, the program may run in another folder. */
export function compileCacheVariables(dist: string): Readonly<Record<string, string>> {
  return { NODE_COMPILE_CACHE: join(dist, cacheFolder), NODE_COMPILE_CACHE_PORTABLE: '1' };
}

/** Replaces the cache in `dist`. Node keeps one for each user, so `user` is who will run the program. */
export function writeCompileCache(dist: string, flags: readonly string[], user: number): void {
  const cache = join(dist, cacheFolder);
  rmSync(cache, { recursive: true, force: true });
  const [main = '', ...others] = [mainFile, ...loadedInPods].map((name) => join(dist, codeFolder, name));
  // Files share code with the main one, which runs a command. So they are loaded when that ends.
  const code = `process.on('exit', () => ${JSON.stringify(others)}.forEach((file) => require(file))); require(${JSON.stringify(main)})`;
  execFileSync(process.execPath, [...flags, fixedSeed, '-e', code, main, '--help'], {
    env: compileCacheVariables(dist),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const name of readdirSync(cache)) {
    const named = join(cache, name.replace(/\d+$/, String(user)));
    renameSync(join(cache, name), named);
    chmodSync(named, 0o755);
  }
}

if (import.meta.main) {
  const numericUser = 65_532;
  writeCompileCache(resolve(import.meta.dirname, '../dist'), process.argv.slice(2), numericUser);
}

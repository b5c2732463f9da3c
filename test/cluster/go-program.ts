// Builds programs from Go modules, and keeps them in the cache of the user under a key of their content.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { runProgram } from '../support/run-program.ts';
import { isCached, removeOldBuilds, temporaryName } from './build-cache.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Program {
  readonly name: string;
  /** The folder of its Go module. Default: this folder. */
  readonly module?: string;
  /** The package that `go build` gets: relative to the module, or the import path of a required module. */
  readonly folder: string;
  /** Its source files in that folder. */
  readonly files: readonly string[];
  /** Returns the `-X` flags of the linker for a go.mod. Default: the version of Kubernetes. */
  readonly variables?: (goMod: string) => readonly string[];
}

/** The variables of a test project in which a build is an error: `npm test` never waits minutes for Go. */
export const neverBuilds = { REEVE_NEVER_BUILDS: 'yes' };

/** Returns the cache folder of the user. https://specifications.freedesktop.org/basedir-spec/latest/ */
export function cacheFolder(env: Environment): string {
  const base = env['XDG_CACHE_HOME'] ?? '';
  return join(base.startsWith('/') ? base : join(homedir(), '.cache'), 'reeve');
}

/** Equal keys mean equal binaries. `toolchain`: Go, the platform, the flags of the build. */
export function cacheKey(files: ReadonlyMap<string, Uint8Array>, toolchain: string): string {
  const hash = createHash('sha256').update(JSON.stringify(toolchain));
  for (const [name, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(JSON.stringify([name, createHash('sha256').update(content).digest('hex')]));
  }
  return hash.digest('hex').slice(0, 16);
}

/** kubectl refuses a server with the version that a plain build reports. */
export function kubernetesVersion(goMod: string): string {
  const [, version] = /^\s*k8s\.io\/kubernetes (v\S+)/m.exec(goMod) ?? [];
  if (version === undefined) throw new Error('go.mod does not name k8s.io/kubernetes');
  return version;
}

/** Builds the program unless the cache has it, and returns its path. */
export async function builtBy(
  go: string,
  env: Environment,
  program: Program,
  onBuild: () => void = () => undefined,
): Promise<string> {
  if (env['REEVE_NEVER_BUILDS'] !== undefined)
    throw new Error(`npm test does not build ${program.name}: list the file under withBuiltPrograms`);
  const module = program.module ?? import.meta.dirname;
  const toolchain = await runGo(go, ['env', 'GOVERSION', 'GOOS', 'GOARCH'], env, module);
  const names = ['go.mod', 'go.sum', ...program.files.map((file) => join(program.folder, file))];
  const contents = await Promise.all(names.map((name) => readFile(join(module, name))));
  const files = new Map(names.map((name, index) => [name, contents[index] ?? Buffer.of()]));
  const variables = program.variables ?? kubernetesVariables;
  const flags = ['-trimpath', '-ldflags', `-s -w ${variables(String(files.get('go.mod'))).join(' ')}`];
  const key = cacheKey(files, `${toolchain} ${flags.join(' ')}`);
  const path = join(cacheFolder(env), `${program.name}-${key}`);
  if (isCached(path)) return path;
  onBuild();
  await build(go, env, path, flags, { module, folder: program.folder });
  return path;
}

function kubernetesVariables(goMod: string): readonly string[] {
  return [`-X k8s.io/component-base/version.gitVersion=${kubernetesVersion(goMod)}`];
}

async function build(
  go: string,
  env: Environment,
  path: string,
  flags: readonly string[],
  { module, folder }: { readonly module: string; readonly folder: string },
): Promise<void> {
  const temporary = temporaryName(path);
  await mkdir(cacheFolder(env), { recursive: true });
  try {
    await runGo(go, ['build', ...flags, '-o', temporary, folder], env, module);
    await rename(temporary, path);
    removeOldBuilds(cacheFolder(env));
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Returns the standard output of Go in this folder. Rejects with its last lines when Go fails. */
export async function runGo(
  go: string,
  args: readonly string[],
  env: Environment,
  cwd: string,
): Promise<string> {
  const own = { ...env, CGO_ENABLED: '0', GOWORK: 'off' };
  const { code, stdout, stderr } = await runProgram(go, args, { cwd, env: own });
  if (code === 0) return stdout;
  throw new Error(`go ${args[0]} failed:\n${stderr.split('\n').slice(-20).join('\n')}`);
}

/** Returns the path of the Go command, or undefined when there is none. */
export async function findGo(env: Environment = process.env): Promise<string | undefined> {
  for (const folder of foldersOf(env)) {
    if ((await missingOf(folder, ['go'])).length === 0) return join(folder, 'go');
  }
  return undefined;
}

/** Returns the folders of the PATH. */
export function foldersOf(env: Environment): readonly string[] {
  return (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
}

/** Returns the names that are no programs in the folder. */
export async function missingOf(folder: string, names: readonly string[]): Promise<readonly string[]> {
  const isMissing = await Promise.all(
    names.map((name) =>
      access(join(folder, name), constants.X_OK).then(
        () => false,
        () => true,
      ),
    ),
  );
  return names.filter((_, index) => isMissing[index]);
}

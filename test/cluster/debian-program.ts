// Gets programs from packages of Debian without installing them: downloaded and unpacked into the cache of the user.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../support/run-program.ts';
import { cacheFolder, foldersOf, missingOf, type Environment } from './go-program.ts';

interface DebianPackage {
  /** https://packages.debian.org/ */
  readonly name: string;
  /** Its programs in /usr/bin. They must need no other package than the C library. */
  readonly programs: readonly string[];
}

/** The programs of a package by their names, or the reason in one sentence why they are missing. */
export type FoundPrograms =
  | { readonly kind: 'found'; readonly paths: ReadonlyMap<string, string> }
  | { readonly kind: 'none'; readonly reason: string };

/** Takes the programs from the PATH, otherwise from the cache, otherwise from Debian. */
export async function findDebianPrograms(
  { name, programs }: DebianPackage,
  env: Environment = process.env,
): Promise<FoundPrograms> {
  const unpacked = join(cacheFolder(env), `debian-${name}`);
  const cached = join(unpacked, 'usr', 'bin');
  for (const folder of [...foldersOf(env), cached])
    if ((await missingOf(folder, programs)).length === 0) return found(folder, programs);
  try {
    await unpack(name, unpacked, env);
    const missing = await missingOf(cached, programs);
    if (missing.length === 0) return found(cached, programs);
    return { kind: 'none', reason: `Debian's package ${name} has no ${missing.join(' and no ')}` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: 'none', reason: `${programs.join(' and ')} could not be downloaded: ${reason}` };
  }
}

function found(folder: string, programs: readonly string[]): FoundPrograms {
  return { kind: 'found', paths: new Map(programs.map((name) => [name, join(folder, name)])) };
}

/** The package is unpacked under a temporary name, because another process may do the same. The first rename wins. */
async function unpack(name: string, target: string, env: Environment): Promise<void> {
  await mkdir(cacheFolder(env), { recursive: true });
  const temporary = await mkdtemp(`${target}.`);
  try {
    const file = await download(name, temporary, env);
    const content = join(temporary, 'content');
    await run('dpkg-deb', ['--extract', file, content], temporary, env);
    await rename(content, target).catch((error: unknown) => {
      if (!existsSync(target)) throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** A machine may have no lists of packages. They are then downloaded into the folder, so that nothing of the machine changes. */
async function download(name: string, folder: string, env: Environment): Promise<string> {
  const command = ['-q', '-o', 'APT::Sandbox::User=root'];
  try {
    await run('apt-get', [...command, 'download', name], folder, env);
  } catch {
    await mkdir(join(folder, 'lists', 'partial'), { recursive: true });
    const own = [...command, '-o', `Dir::State::lists=${folder}/lists`, '-o', `Dir::Cache=${folder}`];
    await run('apt-get', [...own, 'update'], folder, env);
    await run('apt-get', [...own, 'download', name], folder, env);
  }
  const file = (await readdir(folder)).find((each) => each.endsWith('.deb'));
  if (file === undefined) throw new Error(`apt-get downloaded no package ${name}`);
  return join(folder, file);
}

async function run(program: string, args: readonly string[], cwd: string, env: Environment): Promise<void> {
  const { code, stderr } = await runProgram(program, args, { cwd, env });
  if (code !== 0) throw new Error(`${program} failed: ${stderr.trim().split('\n').at(-1)}`);
}

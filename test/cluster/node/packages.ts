// The programs that a node needs beside those built here. Debian has them all: missing ones are installed when root asks.
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';

export interface NeededProgram {
  readonly program: string;
  /** The package of Debian: https://packages.debian.org/ */
  readonly package: string;
}

const neededPrograms: readonly NeededProgram[] = [
  { program: 'containerd', package: 'containerd' },
  { program: 'runc', package: 'runc' },
  { program: '/usr/lib/cni/ptp', package: 'containernetworking-plugins' },
  { program: 'nft', package: 'nftables' },
  { program: 'ip', package: 'iproute2' },
  { program: 'unshare', package: 'util-linux' },
];

/** Programs of the administrator are not on the PATH of every account. */
export function pathOfRoot(path: string): string {
  return [path, '/usr/local/sbin', '/usr/sbin', '/sbin'].join(delimiter);
}

/** Returns the programs that this machine lacks. */
export function missingPrograms(
  path: string,
  exists: (file: string) => boolean = isExecutable,
  needed: readonly NeededProgram[] = neededPrograms,
): readonly NeededProgram[] {
  const folders = pathOfRoot(path).split(delimiter);
  const isThere = (program: string): boolean =>
    program.startsWith('/') ? exists(program) : folders.some((folder) => exists(join(folder, program)));
  return needed.filter(({ program }) => !isThere(program));
}

interface Account {
  readonly uid: number;
  readonly platform: string;
}

const thisAccount: Account = { uid: process.getuid?.() ?? -1, platform: process.platform };

/** Returns in one sentence why no node can run here; undefined when one can. */
export function nodeProblem(path: string, { uid, platform } = thisAccount): string | undefined {
  if (platform !== 'linux') return 'a node needs Linux';
  if (uid !== 0) return 'a node needs root, for its namespaces and cgroups';
  const missing = missingPrograms(path).map(({ program }) => program);
  return missing.length === 0 ? undefined : `a node needs ${missing.join(', ')}`;
}

/** Installs what is missing, if this is root on Debian. Afterwards `nodeProblem` says what is still missing. */
export async function installPrograms(
  path: string,
  say: (text: string) => void,
  needed: readonly NeededProgram[] = neededPrograms,
): Promise<void> {
  const packages = missingPrograms(path, isExecutable, needed).map((each) => each.package);
  if (packages.length === 0 || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  say(`installing ${packages.join(', ')}`);
  await apt('update');
  await apt('install', '--yes', '--no-install-recommends', ...packages);
}

async function apt(...args: readonly string[]): Promise<void> {
  const child = spawn('apt-get', ['-q', ...args], {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  // A failure is seen as a program that is still missing.
  await Promise.race([once(child, 'close'), once(child, 'error')]);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

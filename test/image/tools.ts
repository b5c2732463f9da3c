// The programs that build and run the image here, all of them packages of Debian. Root gets missing ones installed.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const needed = [
  { program: 'buildah', package: 'buildah' },
  { program: 'runc', package: 'runc' },
  { program: 'mmdebstrap', package: 'mmdebstrap' },
] as const;

/** runc is in a folder that is not on the PATH of every account. */
export const toolPath = [process.env['PATH'] ?? '', '/usr/sbin', '/sbin'].join(delimiter);

function missingTools(): readonly (typeof needed)[number][] {
  const folders = toolPath.split(delimiter);
  return needed.filter(({ program }) => !folders.some((folder) => existsSync(join(folder, program))));
}

/** Installs what is missing, and returns in one sentence why no image can be built here, or undefined. */
export function prepareTools(say: (text: string) => void): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'building the image needs root on Linux';
  const packages = missingTools().map((each) => each.package);
  if (packages.length > 0 && existsSync('/usr/bin/apt-get')) {
    say(`installing ${packages.join(', ')}`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    // A failure shows as a program that is still missing.
    spawnSync('apt-get', ['-q', 'update'], { env });
    spawnSync('apt-get', ['-q', 'install', '--yes', '--no-install-recommends', ...packages], { env });
  }
  const missing = missingTools().map(({ program }) => program);
  return missing.length === 0 ? undefined : `building the image needs ${missing.join(' and ')}`;
}

/** Returns standard output. Throws with the last lines of standard error. */
export function runTool(program: string, args: readonly string[], cwd?: string): string {
  const options = {
    encoding: 'utf8',
    env: { ...process.env, PATH: toolPath },
    maxBuffer: 2 ** 26,
    cwd,
  } as const;
  const { status, stdout, stderr, error } = spawnSync(program, args, options);
  if (status === 0) return stdout;
  const lines = (error?.message ?? stderr).trimEnd().split('\n').slice(-20).join('\n');
  throw new Error(`${program} ${args[0]} failed:\n${lines}`);
}

// The programs that build and run the image here, all of them packages of Debian.
import { spawnSync } from 'node:child_process';
import { installPrograms, missingPrograms, pathOfRoot } from '../cluster/node/packages.ts';

const needed = ['buildah', 'runc', 'mmdebstrap'].map((name) => ({ program: name, package: name }));

export const toolPath = pathOfRoot(process.env['PATH'] ?? '');

/** Returns in one sentence why no image can be built here; undefined when one can. */
export function toolsProblem(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'the image needs root on Linux';
  const missing = missingPrograms(toolPath, undefined, needed).map(({ program }) => program);
  return missing.length === 0 ? undefined : `the image needs ${missing.join(', ')}`;
}

/** Installs what is missing, if this is root on Debian. Afterwards `toolsProblem` says what is still missing. */
export async function installTools(say: (text: string) => void): Promise<void> {
  await installPrograms(toolPath, say, needed);
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

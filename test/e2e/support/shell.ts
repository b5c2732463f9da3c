// Runs a command that Reeve tells people to run: in a shell, as the administrator.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { dirname, join } from 'node:path';

const run = promisify(execFile);

/** Rejects when the command fails. */
export async function runLine(
  line: string,
  { kubeconfig }: { readonly kubeconfig: string },
): Promise<string> {
  const home = join(dirname(kubeconfig), 'kubectl-home');
  const env = { PATH: process.env['PATH'], KUBECONFIG: kubeconfig, HOME: home };
  const { stdout } = await run('sh', ['-c', line], { env });
  return stdout;
}

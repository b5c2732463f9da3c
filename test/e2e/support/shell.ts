// Runs a command that Reeve tells people to run: in a shell, as the administrator.
import { kubectlEnvironment } from '../../support/kubectl.ts';
import { runProgram } from '../../support/run-program.ts';

/** Rejects when the command fails. */
export async function runLine(
  line: string,
  { kubeconfig }: { readonly kubeconfig: string },
): Promise<string> {
  const { code, stdout, stderr } = await runProgram('sh', ['-c', line], {
    env: kubectlEnvironment(kubeconfig),
  });
  if (code !== 0) throw new Error(`${line} ended with ${code}: ${stderr}`);
  return stdout;
}

// The command `reeve run`: runs on a cluster until a signal stops it.
import { findApiServer, type ApiServerChoice } from '../kube/auth/find-api-server.ts';
import { startProgram, type RunSettings } from '../app/run.ts';
import { runUntilStopped, type RunningIo, type RunningOptions } from './running.ts';

/** Returns the exit code. */
export async function runOnCluster(
  options: RunSettings & RunningOptions & Pick<ApiServerChoice, 'kubeconfig'>,
  environment: ApiServerChoice['environment'],
  io: RunningIo,
): Promise<number> {
  return await runUntilStopped(options, io, async (log, starting) => {
    const { kubeconfig } = options;
    const findServer = async () => await findApiServer({ kubeconfig, environment });
    const program = await startProgram(options, findServer, log, { starting });
    return {
      readyLine: `reeve runs: ${program.description}`,
      failed: program.failed,
      stop: (graceMs, signal) => program.stop(graceMs, signal),
    };
  });
}

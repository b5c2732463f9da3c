// The command `reeve run`: works on a cluster until it is told to stop.
import type { ApiServerChoice } from '../kube/find-api-server.ts';
import { startProgram, type RunSettings } from '../wire/run.ts';
import { runUntilStopped, type RunningIo, type RunningOptions } from './running.ts';

/** Answers with the exit code. */
export async function runOnCluster(
  options: RunSettings & RunningOptions,
  environment: ApiServerChoice['environment'],
  io: RunningIo,
): Promise<number> {
  return await runUntilStopped(options, io, async (log) => {
    const program = await startProgram(options, environment, log);
    return {
      readyLine: `reeve runs: ${program.description}`,
      failed: program.failed,
      stop: (graceMs, signal) => program.stop(graceMs, signal),
    };
  });
}

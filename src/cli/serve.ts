// The command `reeve serve`: answers admission reviews for policies in files until a signal stops it.
import { renderFileProblem } from '../state/located.ts';
import { startWebhook, type RunningWebhook, type WebhookSettings } from '../app/serve.ts';
import { runUntilStopped, type RunningIo, type RunningOptions } from './running.ts';

/** Returns the exit code. */
export async function runServe(options: WebhookSettings & RunningOptions, io: RunningIo): Promise<number> {
  return await runUntilStopped(options, io, async (log) => {
    const running = await startWebhook(options, log);
    for (const problem of running.cluster.problems) io.stderr(`${renderFileProblem(problem)}\n`);
    return { readyLine: readyLine(running), stop: (graceMs, signal) => running.stop(graceMs, signal) };
  });
}

function readyLine({ url, probesUrl, cluster: { loaded, refused, namespaces } }: RunningWebhook): string {
  return (
    `reeve answers on ${url}/validate and ${url}/mutate (probes on ${probesUrl}): ` +
    `${loaded} policies loaded, ${refused} refused, ${namespaces} namespaces`
  );
}

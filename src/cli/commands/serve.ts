// The command `reeve serve`: answers admission reviews for policies in files until a signal stops it.
import { startWebhook, type RunningWebhook } from '../../app/serve.ts';
import { renderFileProblem } from '../../state/yaml-files.ts';
import { commandOf } from '../command.ts';
import {
  tlsProblems,
  fileOrFolder,
  hostSetting,
  installSettings,
  processSettings,
  webhookSettings,
} from '../flags/common-settings.ts';
import { optionalText, requiredText, type Settings } from '../flags/settings.ts';
import { runUntilStopped } from '../running.ts';

const flags = {
  policies: requiredText({
    ...fileOrFolder,
    help: 'The policies, shares, intents and bindings to serve: a YAML file, or a folder of them.',
  }),
  clusterState: optionalText({ ...fileOrFolder, help: 'Namespaces as YAML, in place of a cluster.' }),
  host: hostSetting('127.0.0.1'),
  ...webhookSettings,
  ...installSettings,
  ...processSettings,
} satisfies Settings;

export const command = commandOf({
  flags,
  outputs: {},
  check: tlsProblems,
  endsBySignal: true,
  run: async ({ settings }, io) =>
    await runUntilStopped(settings, io, async (log) => {
      const running = await startWebhook(settings, log);
      for (const problem of running.cluster.problems) io.stderr(`${renderFileProblem(problem)}\n`);
      return { readyLine: readyLine(running), stop: (graceMs, signal) => running.stop(graceMs, signal) };
    }),
});

function readyLine({ url, probesUrl, cluster: { loaded, refused, namespaces } }: RunningWebhook): string {
  return (
    `reeve answers on ${url}/validate and ${url}/mutate (probes on ${probesUrl}): ` +
    `${loaded} policies loaded, ${refused} refused, ${namespaces} namespaces`
  );
}

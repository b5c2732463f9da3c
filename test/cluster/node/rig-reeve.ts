// Installs Reeve on a rig as its users do: the image on every node, the chart with Helm, and then it runs in Pods.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../../image/build-image.ts';
import { installTools } from '../../image/tools.ts';
import { chartFolder, findHelm, mustHelm, type HelmMajor } from '../helm/helm.ts';
import { webhookIsAsked } from '../../support/reeve.ts';
import { mustKubectl } from '../../support/kubectl.ts';
import { reeveNamespace } from '../reeve-install.ts';
import { reeveArchive } from './reeve-image.ts';
import type { NodeRig } from './rig.ts';

type Say = (text: string) => void;

const reeveDeployments = ['deployment/reeve-webhook', 'deployment/reeve-reconciler'] as const;

/** Resolves when both Deployments are complete and API servers call the webhook. */
export async function installOnRig(
  rig: NodeRig,
  say: Say = () => undefined,
  major: HelmMajor = 4,
): Promise<void> {
  await installTools(say);
  await importReeve(rig, reeveArchive(say));
  await helmOnRig(rig, major, reeveInstall());
  await reeveIsComplete(rig);
  say('Reeve runs in Pods: kubectl get pods -n reeve-system -o wide');
}

/** Gives the image the name in the registry of the README, to which a reader pushes it. */
async function importReeve(rig: NodeRig, archive: string): Promise<void> {
  const tag = version();
  const alias = `registry.example.com/reeve:${tag}`;
  await rig.importImage(archive, `docker.io/library/reeve:${tag}`, alias);
}

/** Returns the one command with which README.md installs Reeve, without the name of Helm. */
export function reeveInstall(): readonly string[] {
  const readme = readFileSync(join(chartFolder, '..', '..', 'README.md'), 'utf8');
  const [, command] = /^helm (install .*)$/m.exec(readme) ?? [];
  if (command === undefined) throw new Error('README.md has no command that installs Reeve with Helm');
  return command.split(' ');
}

/** Returns what Helm prints. */
export async function helmOnRig(
  { cluster }: NodeRig,
  major: HelmMajor,
  args: readonly string[],
): Promise<string> {
  const helm = await findHelm(major);
  if (helm === undefined) throw new Error('Helm needs Go on the PATH');
  return await mustHelm(helm, [...args, '--namespace', reeveNamespace], cluster);
}

/** Waits for both Deployments, and until API servers call the webhook. */
export async function reeveIsComplete({ cluster }: NodeRig): Promise<void> {
  for (const deployment of reeveDeployments)
    await mustKubectl(['rollout', 'status', deployment, '-n', reeveNamespace, '--timeout=110s'], cluster);
  await webhookIsAsked(cluster);
}

// Installs Reeve on a rig as its users do: its image on every node, its manifests, and then it runs in Pods.
import { webhookIsAsked } from '../../support/reeve.ts';
import { mustKubectl } from '../../support/kubectl.ts';
import { reeveNamespace } from '../reeve-install.ts';
import { reeveArchive } from './reeve-image.ts';
import type { NodeRig } from './rig.ts';

type Say = (text: string) => void;

export const reeveDeployments = ['deployment/reeve-webhook', 'deployment/reeve-reconciler'] as const;

/** Resolves when both Deployments are complete and API servers call the webhook. */
export async function installOnRig(rig: NodeRig, say: Say = () => undefined): Promise<void> {
  await rig.importImage(reeveArchive(say));
  await mustKubectl(['apply', '-f', 'manifests/crds', '-f', 'manifests/install'], rig.cluster);
  await reeveIsComplete(rig);
  say('Reeve runs in Pods: kubectl get pods -n reeve-system -o wide');
}

/** Waits for both Deployments, and until API servers call the webhook. */
export async function reeveIsComplete({ cluster }: NodeRig): Promise<void> {
  for (const deployment of reeveDeployments)
    await mustKubectl(['rollout', 'status', deployment, '-n', reeveNamespace, '--timeout=110s'], cluster);
  await webhookIsAsked(cluster);
}

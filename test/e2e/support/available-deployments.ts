// Stands in for the kubelet: says that all replicas of Reeve are available, because they run as processes.
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { reeveNamespace } from '../../cluster/reeve-install.ts';
import { mustKubectl } from '../../support/kubectl.ts';

export async function reportAvailable(cluster: ClusterAccess): Promise<void> {
  const status = {
    observedGeneration: 99,
    replicas: 2,
    updatedReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
  };
  const how = [
    '-n',
    reeveNamespace,
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status }),
  ];
  for (const name of ['reeve-webhook', 'reeve-reconciler'])
    await mustKubectl(['patch', 'deployment', name, ...how], cluster);
}

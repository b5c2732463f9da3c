// Lets the API server handle almost no requests of Reeve's reconciler at a time, and refuse the others with 429.
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { mustKubectl } from '../../support/kubectl.ts';

const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';
const metadata = { name: 'fa-limit' };

/** The lowest possible level: https://kubernetes.io/docs/concepts/cluster-administration/flow-control/ */
const level = {
  apiVersion,
  kind: 'PriorityLevelConfiguration',
  metadata,
  spec: {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: 1,
      lendablePercent: 0,
      borrowingLimitPercent: 0,
      limitResponse: { type: 'Reject' },
    },
  },
};

const flow = {
  apiVersion,
  kind: 'FlowSchema',
  metadata,
  spec: {
    priorityLevelConfiguration: metadata,
    matchingPrecedence: 50,
    rules: [
      {
        subjects: [
          {
            kind: 'ServiceAccount',
            serviceAccount: { namespace: 'reeve-system', name: 'reeve-reconciler' },
          },
        ],
        // Leases are exempt: a reconciler that loses its Lease writes nothing at all.
        resourceRules: [
          {
            verbs: ['*'],
            apiGroups: ['', 'rbac.authorization.k8s.io', 'reeve.dev'],
            resources: ['*'],
            namespaces: ['*'],
            clusterScope: true,
          },
        ],
      },
    ],
  },
};

/** Resolves when the limit is in force. */
export async function limitRequests(cluster: ClusterAccess): Promise<void> {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [level, flow] });
  await mustKubectl(['apply', '-f', '-'], { kubeconfig: cluster.kubeconfig, input });
  const isUsed = '--for=condition=Dangling=False';
  await mustKubectl(['wait', 'flowschema', metadata.name, isUsed, '--timeout=60s'], cluster);
}

export async function liftLimit(cluster: ClusterAccess): Promise<void> {
  await mustKubectl(['delete', 'flowschema,prioritylevelconfiguration', metadata.name], cluster);
}

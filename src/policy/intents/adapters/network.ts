// Keeps `dnsManipulation` and `denyExternalNetworkAccess` with a NetworkPolicy.
import { defaultParams } from '../../../api/intents/intent-ids.ts';
import type { ObjectType } from '../../../base/object-type.ts';
import type { IntentAdapter } from '../adapter.ts';
import { intentObjectName } from '../object-names.ts';

const networkPolicyType: ObjectType = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' };

/** The Pods of the cluster's resolver. https://kubernetes.io/docs/tasks/administer-cluster/dns-custom-nameservers/ */
const toResolver = {
  to: [
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
      podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
    },
  ],
  ports: [
    { protocol: 'UDP', port: 53 },
    { protocol: 'TCP', port: 53 },
  ],
};

export const networkAdapter: IntentAdapter = {
  id: 'network',
  needs: [],
  provides: [networkPolicyType],
  supports({ id, action }) {
    if (id !== 'dnsManipulation' && id !== 'denyExternalNetworkAccess') return false;
    return action === 'Block' || 'a NetworkPolicy can only block';
  },
  render({ id, name, params }, { workloads }) {
    const rules =
      id === 'dnsManipulation'
        ? { policyTypes: ['Egress'], egress: [toResolver] }
        : rulesWithin(params?.ranges ?? defaultParams.ranges);
    const spec = { podSelector: workloads ?? {}, ...rules };
    return {
      resources: [{ ...networkPolicyType, metadata: { name: intentObjectName({ name, workloads }) }, spec }],
    };
  },
};

function rulesWithin(ranges: readonly string[]) {
  const peers = ranges.map((cidr) => ({ ipBlock: { cidr } }));
  return {
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ from: peers }],
    egress: [{ to: peers }, toResolver],
  };
}

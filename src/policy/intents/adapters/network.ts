// Keeps `dnsManipulation` and `denyExternalNetworkAccess` with a NetworkPolicy.
import type { ObjectType } from '../../terms/object-key.ts';
import type { IntentAdapter } from '../adapter.ts';
import { objectName } from '../object-names.ts';

const networkPolicyType: ObjectType = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' };

/** https://www.rfc-editor.org/rfc/rfc1918#section-3 */
const privateRanges: readonly string[] = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'];

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
        : rulesWithin(params?.ranges ?? privateRanges);
    const spec = { podSelector: workloads ?? {}, ...rules };
    return {
      resources: [{ ...networkPolicyType, metadata: { name: objectName({ name, workloads }) }, spec }],
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

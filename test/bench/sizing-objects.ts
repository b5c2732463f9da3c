// The namespaces, policies and shares of a cluster of a given size, and the FlowSchemas that count the requests of Reeve.
import type { KubeObject } from '../../src/base/metadata.ts';

export interface Size {
  readonly namespaces: number;
  readonly policies: number;
  readonly shares: number;
  readonly secretBytes: number;
  /** How many ConfigMaps of 1 kB each namespace has that are not from Reeve. */
  readonly others: number;
}

const prefix = 'size-';
const apiVersion = 'reeve.dev/v1alpha1';

/** How many objects Reeve keeps in all namespaces: each policy provides two, each share one. */
export function objectCount({ namespaces, policies, shares }: Size): number {
  return namespaces * (2 * policies + shares);
}

export function namespaceOf(index: number): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: `${prefix}${index}`, labels: { team: `team-${index % 50}`, stage: 'test' } },
  };
}

export function otherOf(namespace: number, index: number): KubeObject {
  const metadata = { name: `other-${index}`, namespace: `${prefix}${namespace}` };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value: 'x'.repeat(1000) } };
}

/** A rule, a RoleBinding and a quota for each namespace. */
export function policyOf(index: number): object {
  return {
    apiVersion,
    kind: 'NamespacePolicy',
    metadata: { name: `size-${index}` },
    spec: {
      match: { names: [`${prefix}*`] },
      namespaces: { required: { labels: { team: { pattern: '^[a-z0-9-]+$' } } } },
      contents: {
        roleBindings: [
          {
            name: `size-${index}`,
            roleRef: { kind: 'ClusterRole', name: 'edit' },
            subjects: [{ kind: 'Group', name: '${namespaceObject.metadata.labels.team}' }],
          },
        ],
        resources: [
          {
            apiVersion: 'v1',
            kind: 'ResourceQuota',
            metadata: { name: `size-${index}` },
            spec: { hard: { pods: '50', 'requests.cpu': '20', 'requests.memory': '40Gi' } },
          },
        ],
      },
    },
  };
}

export function sourceOf(index: number, bytes: number): KubeObject {
  const data = { value: Buffer.alloc(bytes, 'x').toString('base64') };
  const metadata = { name: `size-${index}`, namespace: 'reeve-shared' };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data };
}

export function shareOf(index: number): object {
  const name = `size-${index}`;
  const spec = { source: { namespace: 'reeve-shared', name }, targets: { names: [`${prefix}*`] } };
  return { apiVersion, kind: 'SecretShare', metadata: { name }, spec };
}

/** Counts all requests of one account. The level is the one that accounts have without it. */
export function flowSchemaOf(account: string): object {
  const rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true };
  return {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'FlowSchema',
    metadata: { name: account },
    spec: {
      priorityLevelConfiguration: { name: 'workload-low' },
      matchingPrecedence: 500,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: [
            { kind: 'ServiceAccount', serviceAccount: { namespace: 'reeve-system', name: account } },
          ],
          resourceRules: [rule],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        },
      ],
    },
  };
}

// Reads from the API server everything that the oracle judges.
import type { ApiCalls } from './api-calls.ts';
import type { Inventory, Stored } from './stored.ts';
import { sourceNamespace } from './world.ts';

const crd = '/apis/reeve.dev/v1alpha1';
const contents = {
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/rolebindings',
  Secret: '/api/v1/secrets',
  ConfigMap: '/api/v1/configmaps',
};

export async function takeInventory(calls: ApiCalls): Promise<Inventory> {
  const [namespaces, policies, shares, sources] = await Promise.all([
    calls.list<Stored>('/api/v1/namespaces'),
    calls.list<Stored>(`${crd}/namespacepolicies`),
    calls.list<Stored>(`${crd}/secretshares`),
    calls.list<Stored>(`/api/v1/namespaces/${sourceNamespace}/secrets`),
  ]);
  const found = await Promise.all(
    Object.entries(contents).map(async ([kind, path]) =>
      (await calls.list<Stored>(path)).map((object) => ({ ...object, kind })),
    ),
  );
  const isOfTheSoak = (name = ''): boolean => name.startsWith('soak-');
  return {
    namespaces: namespaces.filter(({ metadata }) => isOfTheSoak(metadata.name)),
    policies,
    shares,
    sources,
    found: found
      .flat()
      .filter(({ metadata }) => isOfTheSoak(metadata.namespace) && metadata.name !== 'kube-root-ca.crt'),
  };
}

// What `reeve plan` expects the API server to answer to a policy.
import { expect, test } from 'vitest';
import { findInstall } from '../../../src/cli/input/find-install.ts';
import { kubeObjectsOf, stateOfFiles } from '../../../src/inspect/input/file-state.ts';
import { planCluster } from '../../../src/inspect/plan/plan-cluster.ts';
import { readObjects } from '../../../src/state/yaml-files.ts';

const now = new Date('2026-11-01T00:00:00Z');
const base = stateOfFiles([], findInstall([], {}));

test.each([
  ['with a namespace is stored without it', 'namespace: shop', undefined],
  [
    'whose metadata has a wrong type is refused in the words of the webhook',
    'finalizers: 3',
    'request.object.metadata.finalizers: found a number; accepted: a list of texts',
  ],
])('a policy %s', async (_, field, refused) => {
  const text = `{apiVersion: reeve.dev/v1alpha1, kind: NamespacePolicy, metadata: {name: p, ${field}}, spec: {}}`;
  const { objects } = kubeObjectsOf(readObjects({ file: 'f', text }).objects);
  const { providers } = await planCluster({ base, objects, now });
  expect(providers).toMatchObject([{ id: 'NamespacePolicy/p', change: 'new' }]);
  expect(providers[0]?.refused).toBe(refused);
});

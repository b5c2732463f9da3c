// Installs and removes the kinds of security engines on a control plane. No engine runs there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { parseYaml } from '../../../src/base/yaml.ts';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { until } from '../../support/until.ts';

/** As the install passes them for all adapters, without an image for scans of TLS. */
export const kindFlags = [
  'v1/ConfigMap',
  'networking.k8s.io/v1/NetworkPolicy',
  'kyverno.io/v1/Policy',
  'security.kubearmor.com/v1/KubeArmorPolicy',
].map((kind) => `--resource-kind=${kind}`);

export type Engine = 'kyverno' | 'kubearmor';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const engineKinds: Readonly<Record<Engine, { readonly crd: string; readonly list: string }>> = {
  kyverno: { crd: 'policies.kyverno.io', list: '/apis/kyverno.io/v1/policies' },
  kubearmor: {
    crd: 'kubearmorpolicies.security.kubearmor.com',
    list: '/apis/security.kubearmor.com/v1/kubearmorpolicies',
  },
};

/** Returns once the API server serves the kinds. */
export async function installEngines(cluster: ClusterAccess, ...engines: readonly Engine[]): Promise<void> {
  await Promise.all(
    engines.map(async (engine) => {
      const { crd, list } = engineKinds[engine];
      // Not `kubectl apply`: Kyverno's CRD has 650 KB, and an annotation with a copy of it at most 256 KB.
      // https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/
      await cluster.admin.mustSend('POST', crds, definitionOf(engine));
      await until(
        async () => (await cluster.admin.send('GET', list)).status === 200,
        () => `${crd} is served`,
      );
    }),
  );
}

/** Removes the kinds with all of their objects. Returns once the API server serves the kinds no more. */
export async function removeEngines(cluster: ClusterAccess, ...engines: readonly Engine[]): Promise<void> {
  await Promise.all(
    engines.map(async (engine) => {
      const { crd, list } = engineKinds[engine];
      await cluster.admin.send('DELETE', `${crds}/${crd}`);
      await until(
        async () => (await cluster.admin.send('GET', list)).status === 404,
        () => `${crd} is not served`,
      );
    }),
  );
}

function definitionOf(engine: Engine): unknown {
  const [document] = parseYaml(readFileSync(fileOf(engine), 'utf8')).documents;
  if (document?.kind !== 'data') throw new Error(`the CRD of ${engine} is not one YAML document`);
  return document.value;
}

function fileOf(engine: Engine): string {
  const kyverno = inject('kyvernoKinds');
  if (engine === 'kubearmor')
    return join(import.meta.dirname, '../../fixtures/engines/kubearmorpolicies.yaml');
  if (kyverno === undefined) throw new Error("without Go there are no kinds of Kyverno's module");
  return kyverno;
}

// The account with which `helm test` runs `reeve check`: what the chart creates for it, apart from the Pod.
import { annotationOf, renderChart } from '../checks/chart/rendered-chart.ts';
import { neededHelm } from '../chart/helm-versions.ts';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import { reeveNamespace } from '../cluster/reeve-install.ts';
import type { KubeObject } from '../../src/base/metadata.ts';
import { mustKubectl } from './kubectl.ts';

export interface HelmTestAccount {
  readonly kubeconfig: string;
  /** The arguments of the Pod. */
  readonly args: readonly string[];
  remove(): Promise<void>;
}

export async function createHelmTestAccount(cluster: ClusterAccess): Promise<HelmTestAccount> {
  const { kubeconfig } = cluster;
  const { hooks } = await renderChart(await neededHelm(4));
  const objects = hooks
    .map(({ object }) => object)
    .filter((object) => String(annotationOf(object, 'helm.sh/hook')).split(',').includes('test'));
  const pod = objects.find(({ kind }) => kind === 'Pod') as PodObject | undefined;
  const items = objects.filter(({ kind }) => kind !== 'Pod');
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await mustKubectl(['apply', '-f', '-'], { kubeconfig, input });
  return {
    kubeconfig: await cluster.tokenKubeconfig(reeveNamespace, 'reeve-check'),
    args: pod?.spec.containers[0]?.args ?? [],
    remove: async () => void (await mustKubectl(['delete', '-f', '-'], { kubeconfig, input })),
  };
}

interface PodObject extends KubeObject {
  readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
}

// Reads the Pods of Reeve, and waits until both roles run as they should.
import { kubectl, mustKubectl } from '../../support/kubectl.ts';
import { until } from '../../support/until.ts';
import { reeveNamespace } from '../../cluster/reeve-install.ts';
import { reeveIsComplete } from '../../cluster/node/rig-reeve.ts';
import type { NodeRig } from '../../cluster/node/rig.ts';

export const roles = ['webhook', 'reconciler'] as const;

export type PodRole = (typeof roles)[number];

export interface ReevePod {
  readonly name: string;
  /** Undefined while the Pod waits for a node. */
  readonly node: string | undefined;
  readonly isReady: boolean;
  readonly restarts: number;
}

interface PodObject {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly restartCount: number }[];
  };
}

/** Returns the Pods of a role that are not being deleted. */
export async function reevePods({ cluster }: NodeRig, role: PodRole): Promise<readonly ReevePod[]> {
  const selector = `?labelSelector=app.kubernetes.io/component=${role}`;
  const list = await cluster.admin.mustSend('GET', `/api/v1/namespaces/${reeveNamespace}/pods${selector}`);
  return (list as { readonly items: readonly PodObject[] }).items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata, spec, status }) => ({
      name: metadata.name,
      node: spec.nodeName,
      isReady: (status.conditions ?? []).some((each) => each.type === 'Ready' && each.status === 'True'),
      restarts: status.containerStatuses?.[0]?.restartCount ?? 0,
    }));
}

/** Returns the nodes of the ready Pods of a role, by name. */
export async function nodesOf(rig: NodeRig, role: PodRole): Promise<readonly string[]> {
  const pods = await reevePods(rig, role);
  return pods.flatMap(({ node, isReady }) => (node !== undefined && isReady ? [node] : [])).toSorted();
}

/** Resolves when the ready Pods of both roles are on these nodes. */
export async function reeveRunsOn(rig: NodeRig, nodes: readonly string[]): Promise<void> {
  let seen = '';
  await until(
    async () => {
      seen = JSON.stringify(await Promise.all(roles.map((role) => nodesOf(rig, role))));
      return seen === JSON.stringify(roles.map(() => nodes));
    },
    () => `both roles are ready on ${nodes.join(' and ')}: ${seen}`,
    120,
  );
}

/** Replaces every Pod, as after a change of configuration. */
export async function restartReeve(rig: NodeRig): Promise<void> {
  await mustKubectl(['rollout', 'restart', 'deployment', '-n', reeveNamespace], rig.cluster);
  await reeveIsComplete(rig);
}

/** Prepares a test, whatever the one before it left behind: all nodes in use, and each role on both. */
export async function spreadReeve(rig: NodeRig): Promise<void> {
  for (const { name } of rig.nodes) await kubectl(['uncordon', name], rig.cluster);
  // A node that was cut off may still be NotReady.
  await mustKubectl(['wait', 'node', '--all', '--for=condition=Ready', '--timeout=110s'], rig.cluster);
  await reeveIsComplete(rig);
  const names = rig.nodes.map(({ name }) => name);
  const placed = await Promise.all(roles.map((role) => nodesOf(rig, role)));
  if (placed.some((nodes) => nodes.join() !== names.join())) await restartReeve(rig);
  await reeveRunsOn(rig, names);
}

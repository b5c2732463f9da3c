// Before tests that need a cluster: starts a control plane for each worker of the run, and provides its address.
import type { TestProject } from 'vitest/node';
import { findBinary } from '../cluster/binary.ts';
import { startControlPlane } from '../cluster/control-plane.ts';
import type { ControlPlane } from '../cluster/control-plane.ts';
import { clusterWorkers } from './cluster-workers.ts';

export interface ProvidedPlane {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly server: string;
  readonly etcd: string;
  readonly caFile: string;
  readonly hasControllers: boolean;
  readonly isSandbox?: boolean;
}

export type ProvidedCluster =
  | {
      readonly kind: 'running';
      /** One plane for each worker. The files of a worker run one after the other and share its plane with no other worker. */
      readonly planes: readonly ProvidedPlane[];
      readonly hasControllers: boolean;
    }
  | { readonly kind: 'none'; readonly reason: string };

declare module 'vitest' {
  interface ProvidedContext {
    cluster: ProvidedCluster;
  }
}

/** With the value `required`, a run without a control plane fails. Otherwise the run reports what it left out. */
const variable = 'REEVE_CLUSTER_TESTS';

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const binary = await findBinary(process.env, (text) => void process.stderr.write(text));
  if (binary.kind === 'none') {
    if (process.env[variable] === 'required') throw new Error(`no control plane: ${binary.reason}`);
    project.provide('cluster', { kind: 'none', reason: binary.reason });
    return () => Promise.resolve();
  }
  const planes = await Promise.all(
    Array.from({ length: clusterWorkers }, () => startControlPlane({ binary })),
  );
  const hasControllers = planes.every((plane) => plane.hasControllers);
  project.provide('cluster', { kind: 'running', planes: planes.map(provided), hasControllers });
  return async () => {
    await Promise.all(planes.map((plane) => plane.stop()));
  };
}

function provided(plane: ControlPlane): ProvidedPlane {
  const { folder, kubeconfig, server, etcd, caFile, hasControllers } = plane;
  return { folder, kubeconfig, server, etcd, caFile, hasControllers };
}

/** Returns the line about the cluster for the closing summary. Undefined when nothing was left out. */
export function clusterNotice(cluster: ProvidedCluster | undefined): string | undefined {
  if (cluster === undefined) return undefined;
  if (cluster.kind === 'none')
    return `NOT TESTED ON A CLUSTER: the tests on a real control plane were skipped, because ${cluster.reason}`;
  if (cluster.hasControllers) return undefined;
  return 'NOT ALL TESTED ON A CLUSTER: without Go there are no controllers, so the tests that need them were skipped';
}

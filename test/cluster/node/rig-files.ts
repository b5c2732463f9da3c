// The files through which the processes of a rig know each other.
import { join } from 'node:path';
import type { ClusterBinary } from '../binary.ts';
import type { ProcessIdentity } from '../process-identity.ts';

/** What a rig is made of. `rig.ts` writes it, and every process of the rig reads it. */
export interface RigSettings {
  readonly folder: string;
  readonly nodes: number;
  /** The port of the API server, the same in the namespaces and outside on 127.0.0.1. */
  readonly port: number;
  readonly binary: ClusterBinary;
  /** The program with kubelet, kube-proxy and kube-scheduler. */
  readonly parts: string;
  /** The archive with the image of the sandbox containers. */
  readonly pause: string;
  /** The programs that are not on the PATH of every account. */
  readonly path: string;
}

/** What the keeper of a running rig says about it. */
export interface RigState {
  readonly keeper: ProcessIdentity;
  /** The cgroups of the rig, which the keeper removes. */
  readonly cgroups: readonly string[];
}

export interface RigLayout {
  readonly settings: string;
  readonly state: string;
  readonly keeperLog: string;
  readonly insideLog: string;
  /** Connects the network of the machine with that of the rig: files cross network namespaces. */
  readonly socket: string;
  /** Exists as soon as every node is Ready. */
  readonly ready: string;
  readonly plane: string;
}

export function rigLayout(folder: string): RigLayout {
  return {
    settings: join(folder, 'settings.json'),
    state: join(folder, 'rig.json'),
    keeperLog: join(folder, 'keeper.log'),
    insideLog: join(folder, 'inside.log'),
    socket: join(folder, 'api.sock'),
    ready: join(folder, 'ready'),
    plane: join(folder, 'plane'),
  };
}

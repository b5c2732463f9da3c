// Finds, starts and stops the one control plane that a checkout of this repository has in the background.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { findBinary } from './binary.ts';
import { cacheFolder } from './go-program.ts';
import { openCluster } from './cluster-access.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { startControlPlane } from './control-plane.ts';
import { readState, reeveProcess, type NamedProcess } from './layout.ts';
import { endProcess, isRunning } from './process-identity.ts';

type Say = (text: string) => void;

const patienceMs = 20_000;

/** Each checkout has its own folder of a kind, so that two checkouts do not collide. */
export function devFolder(kind: 'cluster' | 'rig' = 'cluster'): string {
  const checkout = resolve(import.meta.dirname, '..', '..');
  const hash = createHash('sha256').update(checkout).digest('hex').slice(0, 12);
  return join(cacheFolder(process.env), `${kind}-${hash}`);
}

/** Returns undefined unless all components run. */
export async function runningCluster(): Promise<ClusterAccess | undefined> {
  const folder = devFolder();
  const { processes = [] } = (await readState(folder)) ?? {};
  return controlPlaneRuns(processes) ? await openCluster(folder) : undefined;
}

/** Reeve is no part of the control plane: without it, the data of the cluster is still there. */
export function controlPlaneRuns(processes: readonly NamedProcess[]): boolean {
  const components = processes.filter(({ name }) => name !== reeveProcess);
  return components.length > 0 && components.every(isRunning);
}

export async function clusterUp(say: Say): Promise<ClusterAccess> {
  const running = await runningCluster();
  if (running !== undefined) {
    say('the control plane runs already');
    return running;
  }
  const folder = devFolder();
  if ((await readState(folder)) !== undefined) {
    say('what is left of a control plane that was cut off is removed');
    await clusterDown();
  }
  if (existsSync(folder))
    throw new Error('another `up` is starting it; if not, `down` removes what is left of it');
  const binary = await findBinary(process.env, (text) => say(text.trimEnd()));
  const plane = await startControlPlane({ binary, folder, audit: false, endsWithUs: false });
  if (!plane.hasControllers) say('it has no controllers, which come only with Go');
  return plane;
}

/** Returns false when there was no control plane to stop. */
export async function clusterDown(): Promise<boolean> {
  const folder = devFolder();
  const { processes = [] } = (await readState(folder)) ?? {};
  for (const component of processes.toReversed()) await endProcess(component, patienceMs);
  const existed = existsSync(folder);
  await rm(folder, { recursive: true, force: true });
  return existed;
}

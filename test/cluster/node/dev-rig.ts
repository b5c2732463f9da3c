// Finds, starts and stops the one rig that a checkout of this repository has in the background.
import { existsSync } from 'node:fs';
import { devFolder } from '../dev-cluster.ts';
import { endRig, openRig, startRig, type NodeRig } from './rig.ts';

type Say = (text: string) => void;

/** Returns undefined unless a rig runs. */
export async function runningRig(): Promise<NodeRig | undefined> {
  return await openRig(devFolder('rig'));
}

export async function rigUp(nodes: number, say: Say): Promise<NodeRig> {
  const running = await runningRig();
  if (running !== undefined) {
    say(`a rig with ${running.nodes.length} nodes runs already`);
    return running;
  }
  const folder = devFolder('rig');
  if (existsSync(folder))
    throw new Error('another `up` is starting it; if not, `down` removes what is left of it');
  return await startRig({ nodes, folder, endsWithUs: false }, (text) => say(text.trimEnd()));
}

/** Returns false when there was no rig to stop. */
export async function rigDown(): Promise<boolean> {
  return await endRig(devFolder('rig'));
}

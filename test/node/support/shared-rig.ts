// The rig with two nodes that the tests on nodes share. Without it those tests are skipped.
import { describe, inject } from 'vitest';
import { openRig, type NodeRig } from '../../cluster/node/rig.ts';

const { skipIf } = describe;

/** Groups tests that need real nodes: the shared rig, or one of their own. */
export const describeNodes = skipIf(inject('rig').kind === 'none');

/** Works only inside `describeNodes`. */
export async function sharedRig(): Promise<NodeRig> {
  const provided = inject('rig');
  const rig = provided.kind === 'running' ? await openRig(provided.folder) : undefined;
  if (rig === undefined) throw new Error('the rig of the tests does not run');
  return rig;
}

// Runs Reeve on a control plane for one group of tests.
import { afterAll, beforeAll } from 'vitest';
import { installReeve } from '../../cluster/reeve-install.ts';
import { keepReeve, keptReeve, startReeve, type Reeve, type ReeveOptions } from '../../support/reeve.ts';
import type { Stage } from './stage.ts';

export interface ReeveOfTests {
  readonly process: Reeve;
  /** Starts another process, for tests that have stopped the first. */
  start(options?: ReeveOptions): Promise<void>;
}

/**
 * Installs and starts Reeve before the tests, and ends it after them, without what they have left on the stage. On the
 * sandbox, a Reeve without options stays for the next file of the worker. Hooks that the group adds later run while
 * Reeve runs: https://vitest.dev/config/sequence.html#sequence-hooks
 */
export function withReeve(stage: Stage, options?: ReeveOptions): ReeveOfTests {
  const isShared = options === undefined && stage.cluster.isSandbox;
  let process: Reeve;
  const start = async (given = options): Promise<void> => {
    process = await startReeve(stage.cluster, given);
  };
  beforeAll(async () => {
    const found = isShared ? keptReeve() : undefined;
    if (found !== undefined) {
      process = found;
      return;
    }
    await installReeve(stage.cluster);
    await start();
  });
  afterAll(async () => {
    await stage.cleanUp();
    if (isShared) keepReeve(process);
    else await process.stop();
  });
  return {
    start,
    get process() {
      return process;
    },
  };
}

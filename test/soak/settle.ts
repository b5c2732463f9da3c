// Waits, when nothing more is done to the cluster, until it is as policies and shares want it.
import { setTimeout as sleep } from 'node:timers/promises';
import { operator, type ApiCalls } from './api-calls.ts';
import { takeInventory } from './inventory.ts';
import { deviations } from './oracle.ts';
import type { Random } from './random.ts';
import { counts, sourceWith } from './world.ts';

export interface Settled {
  readonly settleSeconds: number;
  /** Deviations that remain. */
  readonly deviations: readonly string[];
}

/** A watch that went silent is found out after a minute, and much may have to be looked at again then. */
const patienceMs = 180_000;
const everyMs = 500;

/** Without its source a share keeps old copies, which cannot be judged; so all sources are created again. */
export async function settle(calls: ApiCalls, canary: string, random: Random): Promise<Settled> {
  const began = performance.now();
  for (let index = 0; index < counts.sources; index += 1)
    await calls.mustSend({ method: 'PATCH', ...sourceWith(index, canary, random), as: operator });
  let left: readonly string[];
  do {
    await sleep(everyMs);
    left = deviations(await takeInventory(calls));
  } while (left.length > 0 && performance.now() - began < patienceMs);
  return { settleSeconds: (performance.now() - began) / 1000, deviations: left };
}

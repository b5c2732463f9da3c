// Waits, once nothing changes the cluster any more, until it is as policies and shares want it.
import { setTimeout as sleep } from 'node:timers/promises';
import { operator, type ApiCalls } from './api-calls.ts';
import { takeInventory } from './inventory.ts';
import { deviations } from './oracle.ts';
import type { Random } from './random.ts';
import { counts, sourceWith } from './world.ts';

export interface Settled {
  readonly settleSeconds: number;
  /** The remaining deviations. */
  readonly deviations: readonly string[];
}

/** Reeve detects a silent watch after a minute, and may then have to reconcile many namespaces. */
const patienceMs = 180_000;
const everyMs = 500;

/** A share without its source keeps old copies that cannot be judged, so all sources are created again. */
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

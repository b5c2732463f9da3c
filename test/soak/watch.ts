// Watches the processes while the soak runs: takes samples, searches their metrics for secrets, and records crashes.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Arena } from './arena.ts';
import { leaksIn, type Needle } from './leaks.ts';
import { isLeader, type Replica } from './replica.ts';

export interface Watched {
  /** Secrets found in metrics. */
  readonly leaks: readonly string[];
  /** Processes that ended by themselves. */
  readonly fallen: readonly string[];
  /** How many samples each reconciler had taken when it was first seen to lead, by pid. A leader holds more than a standby. */
  readonly samplesBeforeLead: ReadonlyMap<number, number>;
}

const everyMs = 4000;

export async function watchOver(
  { replicas }: Arena,
  needles: readonly Needle[],
  signal: AbortSignal,
): Promise<Watched> {
  const leaks = new Set<string>();
  const fallen = new Set<string>();
  const samplesBeforeLead = new Map<number, number>();
  const look = async (replica: Replica): Promise<void> => {
    const pid = replica.lives.at(-1);
    if (replica.hasFallen) fallen.add(`${replica.name} (${pid})`);
    replica.takeSample();
    const metrics = (await replica.metrics()) ?? '';
    for (const leak of leaksIn(metrics, needles)) leaks.add(`${leak} in the metrics of ${replica.name}`);
    if (pid !== undefined && isLeader(metrics) && !samplesBeforeLead.has(pid))
      samplesBeforeLead.set(pid, replica.samplesOf(pid).length);
  };
  while (!signal.aborted) {
    await Promise.all(replicas.map(look));
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
  return { leaks: [...leaks], fallen: [...fallen], samplesBeforeLead };
}

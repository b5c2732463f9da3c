// What a Reeve tells in its metrics of its way to the API server: how often it was interrupted, for how long it has heard nothing.
import type { Reeve } from '../../support/reeve.ts';

/** How many lists and watches failed for that reason, whatever they are about. */
export async function interruptions(reeve: Reeve, reason: string): Promise<number> {
  const lines = (await reeve.metrics()).split('\n');
  return lines
    .filter(
      (line) => line.startsWith('reeve_watch_interruptions_total{') && line.includes(`reason="${reason}"`),
    )
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** In seconds; 0 before there is a watch. */
export async function silence(reeve: Reeve, path: string): Promise<number> {
  return (await reeve.metric(`reeve_watch_silence_seconds{path="${path}"}`)) ?? 0;
}

/** How many requests were turned away. */
export async function turnedAway(reeve: Reeve, code: 401 | 429): Promise<number> {
  return (await reeve.metric(`reeve_api_refusals_total{code="${code}"}`)) ?? 0;
}

// Reads the metrics of Reeve about its connection to the API server: interruptions, silence, refused requests.
import type { Reeve } from '../../support/reeve.ts';

/** Returns how many lists and watches of any kind failed for that reason. */
export async function interruptions(reeve: Reeve, reason: string): Promise<number> {
  const lines = (await reeve.metrics()).split('\n');
  return lines
    .filter(
      (line) => line.startsWith('reeve_watch_interruptions_total{') && line.includes(`reason="${reason}"`),
    )
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** Returns the silence of a watch in seconds, or 0 before the watch exists. */
export async function silence(reeve: Reeve, path: string): Promise<number> {
  return (await reeve.metric(`reeve_watch_silence_seconds{path="${path}"}`)) ?? 0;
}

/** Returns how many requests the API server answered with this code. */
export async function turnedAway(reeve: Reeve, code: 401 | 429): Promise<number> {
  return (await reeve.metric(`reeve_api_refusals_total{code="${code}"}`)) ?? 0;
}

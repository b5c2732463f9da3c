// The metrics of the way to the API server: how its watches are, and what it turns away.
import type { MetricsRegistry } from './registry.ts';

/** Of each watch, what it watches and how long it has said nothing; asked whenever somebody reads the metrics. */
type SilencesOfWatches = () => Iterable<{ readonly path: string; readonly silentMs: number }>;

const turnedAway = [401, 429] as const;
type TurnedAway = (typeof turnedAway)[number];

export class ConnectionMetrics {
  readonly #refusals;

  constructor(registry: MetricsRegistry) {
    this.#refusals = registry.counter(
      'reeve_api_refusals_total',
      'Requests that the API server turned away and that are sent again: 401 with another token, 429 when it has time.',
      ['code'],
    );
    for (const code of turnedAway) this.#refusals.inc({ code: String(code) }, 0);
  }

  turnedAway(code: TurnedAway): void {
    this.#refusals.inc({ code: String(code) });
  }
}

export class WatchMetrics {
  readonly #interruptions;

  constructor(registry: MetricsRegistry, silences: SilencesOfWatches) {
    this.#interruptions = registry.counter(
      'reeve_watch_interruptions_total',
      'Lists and watches that failed or were cut, and were begun anew.',
      ['path', 'reason'],
    );
    registry.measuredEach(
      'reeve_watch_silence_seconds',
      'How long ago a watch last heard of the API server, which says something about every minute.',
      'path',
      () => longestOfEach(silences()),
    );
  }

  interrupted(path: string, reason: string): void {
    this.#interruptions.inc({ path, reason });
  }
}

/** In seconds. Several watches may differ in nothing but the names that they are about. */
function longestOfEach(silences: ReturnType<SilencesOfWatches>): ReadonlyMap<string, number> {
  const longest = new Map<string, number>();
  for (const { path, silentMs } of silences)
    longest.set(path, Math.max(longest.get(path) ?? 0, silentMs / 1000));
  return longest;
}

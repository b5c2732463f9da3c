// Reports refusals of the API server, and interruptions and silence of its watches.
import type { MetricsRegistry } from './registry.ts';

/** Returns the path and the silence of each watch. Called whenever the metrics are read. */
type SilencesOfWatches = () => Iterable<{ readonly path: string; readonly silentMs: number }>;

const refusalCodes = [401, 429] as const;
type RefusalCode = (typeof refusalCodes)[number];

export class ConnectionMetrics {
  readonly #refusals;

  constructor(registry: MetricsRegistry) {
    this.#refusals = registry.counter(
      'reeve_api_refusals_total',
      'Requests refused by the API server and sent again: 401 with another token, 429 after a wait.',
      ['code'],
    );
    for (const code of refusalCodes) this.#refusals.inc({ code: String(code) }, 0);
  }

  refused(code: RefusalCode): void {
    this.#refusals.inc({ code: String(code) });
  }
}

export class WatchMetrics {
  readonly #interruptions;

  constructor(registry: MetricsRegistry, silences: SilencesOfWatches) {
    this.#interruptions = registry.counter(
      'reeve_watch_interruptions_total',
      'Lists and watches that failed or were cut, and were started again.',
      ['path', 'reason'],
    );
    registry.measuredEach(
      'reeve_watch_silence_seconds',
      'Seconds since a watch last received something. The API server sends a bookmark about every minute.',
      ['path'],
      () => [...maxPerPath(silences())].map(([path, seconds]) => [{ path }, seconds]),
    );
  }

  interrupted(path: string, reason: string): void {
    this.#interruptions.inc({ path, reason });
  }
}

/** Returns seconds per path. Several watches have the same path when they differ only in their selectors. */
function maxPerPath(silences: ReturnType<SilencesOfWatches>): ReadonlyMap<string, number> {
  const max = new Map<string, number>();
  for (const { path, silentMs } of silences) max.set(path, Math.max(max.get(path) ?? 0, silentMs / 1000));
  return max;
}

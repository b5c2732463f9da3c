// Runs the watches of the program: what each has trouble with is logged and counted, and what each means for readiness is summed up.
import type { WatchSink } from '../base/watch-sink.ts';
import type { KubeClient } from '../kube/http/client.ts';
import { listWatch, type WatchHealth } from '../kube/watch/list-watch.ts';
import type { WatchTarget } from '../kube/watch/watch-target.ts';
import { WatchMetrics } from '../observe/connection-metrics.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/registry.ts';
import { systemClock } from '../base/clock.ts';

/** Whoever starts watches, without being able to end them. */
export type WatchStarter = Pick<Watches, 'start'>;

interface Running {
  readonly path: string;
  readonly watch: WatchHealth;
}

export class Watches {
  readonly #client: KubeClient;
  readonly #log: Log;
  readonly #fail: (error: unknown) => void;
  readonly #metrics: WatchMetrics;
  readonly #running: Running[] = [];
  /** Those without which the program can do its work. */
  readonly #needed: WatchHealth[] = [];

  /** `fail` is told of an error of the program itself, after which nothing can be relied on. */
  constructor(client: KubeClient, log: Log, registry: MetricsRegistry, fail: (error: unknown) => void) {
    this.#client = client;
    this.#log = log;
    this.#fail = fail;
    this.#metrics = new WatchMetrics(registry, () =>
      this.#running.map(({ path, watch: { silentMs } }) => ({ path, silentMs })),
    );
  }

  /** One that is optional does not keep the program from being ready. */
  start(target: WatchTarget, sink: WatchSink, isOptional = false): WatchHealth {
    const { path } = target;
    const watch = listWatch(this.#client, target, sink, {
      clock: systemClock,
      onInterruption: ({ phase, error, retryInMs }) => {
        this.#metrics.interrupted(path, interruptionReason(error));
        this.#log.warn('watch interrupted', { path, phase, ...error, retryInMs: Math.round(retryInMs) });
      },
    });
    watch.stopped.catch(this.#fail);
    this.#running.push({ path, watch });
    if (!isOptional) this.#needed.push(watch);
    return watch;
  }

  /** Starts watches without which the program is ready all the same. */
  get asOptional(): WatchStarter {
    return { start: (target, sink) => this.start(target, sink, true) };
  }

  get isSynced(): boolean {
    return this.#needed.every((watch) => watch.isSynced);
  }

  get isHealthy(): boolean {
    return this.#needed.every((watch) => watch.isSynced && watch.isHealthy());
  }

  async stop(): Promise<void> {
    for (const { watch } of this.#running) watch.stop();
    await Promise.allSettled(this.#running.map(({ watch }) => watch.stopped));
  }
}

/** Of this program, for what came without an answer of a server. */
const ownWords: ReadonlySet<string> = new Set([
  'Stalled',
  'ClosedEarly',
  'WentBack',
  'Timeout',
  'NoCredentials',
]);

const wordOfCode: ReadonlyMap<number, string> = new Map([
  [200, 'MalformedAnswer'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [410, 'Expired'],
  [429, 'TooManyRequests'],
]);

export function interruptionReason({
  code,
  reason,
}: {
  readonly code: number;
  readonly reason: string;
}): string {
  if (code === 0) return ownWords.has(reason) ? reason : 'Disconnected';
  return wordOfCode.get(code) ?? (code >= 500 ? 'ServerError' : 'Refused');
}

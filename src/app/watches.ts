// Runs the watches of the program, logs and counts their interruptions, and derives readiness from them.
import { type WatchSink, unservedVersion } from '../base/watch-sink.ts';
import type { KubeClient } from '../kube/http/client.ts';
import { listWatch, type WatchHealth } from '../kube/watch/list-watch.ts';
import type { WatchTarget } from '../kube/watch/watch-target.ts';
import { resourcePath, type ResourceAddress } from '../kube/http/https-client.ts';
import { WatchMetrics } from '../observe/connection-metrics.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/registry.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { KubeError } from '../base/kube-error.ts';
import { pause } from '../base/abort.ts';
import type { ServedKind } from '../kube/object-writer.ts';
import type { ObjectType } from '../base/object-type.ts';
import type { ClusterConnection } from './cluster-connection.ts';

/** Starts watches, and cannot stop them. */
export type WatchStarter = Pick<Watches, 'start' | 'reread'>;

interface Running {
  readonly target: WatchTarget;
  readonly watch: WatchHealth;
}

/** Kubernetes and Reeve keep these kinds in etcd. The versions of any other server say nothing about etcd. */
const inEtcd = /^\/api\/|^\/apis\/([a-z]+|[a-z.]+\.k8s\.io|reeve\.dev)\//;

type WrittenObject = ResourceAddress & { readonly name: string };

export class Watches {
  readonly #client: KubeClient;
  readonly #log: Log;
  readonly #fail: (error: unknown) => void;
  readonly #metrics: WatchMetrics;
  readonly #running: Running[] = [];
  /** Watches without which the program is not ready. */
  readonly #needed: WatchHealth[] = [];

  /** `fail` takes an error of the program itself, after which the process must end. */
  constructor(client: KubeClient, log: Log, registry: MetricsRegistry, fail: (error: unknown) => void) {
    this.#client = client;
    this.#log = log;
    this.#fail = fail;
    this.#metrics = new WatchMetrics(registry, () =>
      this.#running.map(({ target: { path }, watch: { silentMs } }) => ({ path, silentMs })),
    );
  }

  /** The program is ready without an optional watch. */
  start(target: WatchTarget, sink: WatchSink, isOptional = false): WatchHealth {
    const { path } = target;
    const watch = listWatch(this.#client, target, sink, {
      clock: systemClock,
      streamsLists: true,
      onRestored: () => this.#restored(watch, path),
      onInterruption: ({ phase, error, retryInMs }) => {
        this.#metrics.interrupted(path, interruptionReason(error));
        this.#log.warn('watch interrupted', { path, phase, ...error, retryInMs: Math.round(retryInMs) });
      },
    });
    watch.stopped.catch(this.#fail);
    this.#running.push({ target, watch });
    if (!isOptional) this.#needed.push(watch);
    return watch;
  }

  /** One sign counts for all watches, because a restored etcd may pass their own versions before they ask. */
  #restored(noticedBy: WatchHealth, path: string): void {
    this.#log.warn('the API server went back to an older state, so everything is read again', { path });
    if (!inEtcd.test(path)) return;
    for (const { watch } of this.#running) if (watch !== noticedBy) watch.restored();
  }

  /** Called when a write of `version` of this object was a conflict, because its watch may have missed a newer version. */
  async reread(object: WrittenObject, version: string): Promise<void> {
    const { apiVersion, plural, name } = object;
    const collection = resourcePath({ apiVersion, plural });
    const covering = this.#running.filter(
      ({ target: { path, fieldSelector } }) =>
        path === collection && (fieldSelector === undefined || fieldSelector === `metadata.name=${name}`),
    );
    await Promise.all(covering.map(({ watch }) => watch.reread(resourcePath(object), version)));
  }

  /** Starts optional watches only. */
  get asOptional(): WatchStarter {
    return {
      start: (target, sink) => this.start(target, sink, true),
      reread: (object, version) => this.reread(object, version),
    };
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

/** Reasons of this program, for interruptions without an answer of a server. */
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

/** Returns a reason from a fixed list, because a server or proxy may send any text. */
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

// Starts a watch once the API server serves its kind. Until then the kind counts as one without objects.

interface ServedWatch {
  readonly type: ObjectType;
  readonly sink: WatchSink;
  /** The level of the log line when the API server does not serve the kind. */
  readonly absence: 'debug' | 'info' | 'warn';
  /** The interval of looks while the kind is not served. Default: a second. */
  readonly lookMs?: number;
  /** Starts the watch under the resource name of the kind. */
  readonly start: (plural: string) => void;
}

/** Discovery caches for 30 s, so most looks cost no request. */
const defaultLookMs = 1000;

/** Resolves when the watch has started or the signal has aborted. */
export async function startOnceServed(
  { type: { apiVersion, kind }, sink, absence, lookMs = defaultLookMs, start }: ServedWatch,
  { discovery }: Pick<ClusterConnection, 'discovery'>,
  log: Log,
  signal: AbortSignal,
  clock: Pick<Clock, 'sleep'> = systemClock,
): Promise<void> {
  let isToldAbsent = false;
  while (!signal.aborted) {
    const found = await answerOf(discovery.find(apiVersion, kind, signal), signal);
    if (found !== 'no answer' && found !== undefined) return start(found.plural);
    if (found === undefined && !isToldAbsent) {
      log[absence]('kind not served', { apiVersion, kind });
      // A kind that is not served has no objects, so its initial sync is done.
      sink.replaced([], unservedVersion);
      isToldAbsent = true;
    }
    await pause(clock, lookMs, signal);
  }
}

/** Distinguishes "no answer" from "not served". */
async function answerOf(
  finding: Promise<ServedKind | undefined>,
  signal: AbortSignal,
): Promise<ServedKind | undefined | 'no answer'> {
  try {
    return await finding;
  } catch (error) {
    if (error instanceof KubeError || signal.aborted) return 'no answer';
    throw error;
  }
}

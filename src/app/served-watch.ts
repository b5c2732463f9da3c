// Starts a watch once the API server serves its kind. Until then the kind counts as one without objects.
import { KubeError } from '../base/kube-error.ts';
import { pause } from '../base/abort.ts';
import { unservedVersion, type WatchSink } from '../base/watch-sink.ts';
import type { ServedKind } from '../kube/object-writer.ts';
import type { Log } from '../observe/log.ts';
import type { ObjectType } from '../policy/terms/object-key.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import type { ClusterConnection } from './cluster-connection.ts';

interface ServedWatch {
  readonly type: ObjectType;
  readonly sink: WatchSink;
  /** How unusual it is that the API server does not serve the kind. */
  readonly absence: 'info' | 'warn';
  /** Starts the watch under the resource name of the kind. */
  readonly start: (plural: string) => void;
}

/** While the kind is not served. Discovery caches that for 30 s, so most looks cost no request. */
const lookMs = 1000;

/** Resolves when the watch has started or the signal has aborted. */
export async function startOnceServed(
  { type: { apiVersion, kind }, sink, absence, start }: ServedWatch,
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

/** Separates "no answer" from "not served". */
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

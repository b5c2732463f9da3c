// Starts each watch of the reconciler as soon as the API server serves its kind.
import { KubeError } from '../base/kube-error.ts';
import { type ServedKind, guessedPlural } from '../kube/discovery.ts';
import { resourcePath } from '../kube/http/resource-paths.ts';
import type { Log } from '../observe/log.ts';
import type { WantedWatch } from '../reconcile/live/watches.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import { systemClock } from '../base/clock.ts';
import type { WatchStarter } from './watches.ts';

export interface StartingWatches {
  /** Gives up the watches that have not started. */
  stop(): void;
}

/** The delays when the API server does not answer, and when it does not serve the kind yet. */
const unansweredMs = 1000;
const unservedMs = 30_000;

export function startWantedWatches(
  wanted: readonly WantedWatch[],
  connection: ClusterConnection,
  watches: WatchStarter,
  log: Log,
  fail: (error: unknown) => void,
): StartingWatches {
  const ending = new AbortController();
  const { signal } = ending;
  for (const watch of wanted) {
    // Every API server has these kinds.
    if (watch.isOptional) startOnceServed(watch, connection, watches, log, signal).catch(fail);
    else watches.start(targetOf(watch, guessedPlural(watch.type.kind)), watch.sink);
  }
  return { stop: () => ending.abort() };
}

async function startOnceServed(
  watch: WantedWatch,
  { discovery }: ClusterConnection,
  watches: WatchStarter,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const { apiVersion, kind } = watch.type;
  await watch.needed;
  let isToldAbsent = false;
  while (!signal.aborted) {
    const found = await answerOf(discovery.find(apiVersion, kind, signal), signal);
    if (found !== 'no answer' && found !== undefined) {
      watches.start(targetOf(watch, found.plural), watch.sink, true);
      return;
    }
    if (found === undefined && !isToldAbsent) {
      log.warn('kind not served', { apiVersion, kind });
      // A kind that is not served has no objects, so its initial sync is done.
      watch.sink.replaced([], '0');
      isToldAbsent = true;
    }
    await systemClock.sleep(found === undefined ? unservedMs : unansweredMs, signal).catch(() => undefined);
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

function targetOf({ type, namespace, name, metadataOnly }: WantedWatch, plural: string) {
  return {
    path: resourcePath({ apiVersion: type.apiVersion, plural, namespace }),
    metadataOnly,
    ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
  };
}

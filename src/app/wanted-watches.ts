// Starts each watch of the reconciler as soon as the API server serves its kind.
import { guessedPlural } from '../base/plural.ts';
import { resourcePath } from '../kube/http/https-client.ts';
import type { Log } from '../observe/log.ts';
import type { WantedWatch } from '../reconcile/live/watches.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import { startOnceServed } from './served-watch.ts';
import type { WatchStarter } from './watches.ts';

interface StartingWatches {
  /** Gives up the watches that have not started. */
  stop(): void;
}

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
    if (watch.isOptional) startWhenNeeded(watch, connection, watches, log, signal).catch(fail);
    else watches.start(targetOf(watch, guessedPlural(watch.type.kind)), watch.sink);
  }
  return { stop: () => ending.abort() };
}

async function startWhenNeeded(
  watch: WantedWatch,
  connection: ClusterConnection,
  watches: WatchStarter,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const { type, sink, needed } = watch;
  await needed;
  const start = (plural: string): void => void watches.start(targetOf(watch, plural), sink, true);
  await startOnceServed({ type, sink, start, absence: 'info' }, connection, log, signal);
}

function targetOf(
  { type, namespace, name, metadataOnly, keepsManagers = false }: WantedWatch,
  plural: string,
) {
  return {
    path: resourcePath({ apiVersion: type.apiVersion, plural, namespace }),
    metadataOnly,
    keepsManagers,
    ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
  };
}

// Starts the watches that keep the engine's view of the cluster up to date: providers, intents and Namespaces.
import { decidingKinds } from '../api/kinds.ts';
import { apiVersion } from '../schema/names.ts';
import type { WatchSink } from '../base/watch-sink.ts';
import { resourcePath } from '../kube/http/https-client.ts';
import { intentAdapters } from '../policy/intents/adapters.ts';
import type { Install } from '../policy/terms/install.ts';
import { LiveCluster } from '../state/live-cluster.ts';
import type { Log } from '../observe/log.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import { startOnceServed, type WatchStarter } from './watches.ts';
import { definitionUid, RemovedIntents, ServedKinds } from './served-kinds.ts';
import { systemClock } from '../base/clock.ts';

/** Most clusters never serve the kind. Discovery caches as long. */
const propertyLookMs = 30_000;

interface ViewContext {
  readonly connection: Pick<ClusterConnection, 'discovery' | 'writer'>;
  readonly log: Log;
  /** Takes an error of the program itself. */
  readonly fail: (error: unknown) => void;
}

export interface ClusterView {
  readonly cluster: LiveCluster;
  /** Resolves when the API server was asked for the kinds of all engines, answered or not. */
  readonly enginesAsked: Promise<void>;
  /** Ends the watches that have not started, and the questions about kinds. */
  stop(): void;
}

/**
 * The view is incomplete until the watches have synced. A kind that an older install lacks is watched once the API server
 * serves it.
 */
export function watchCluster(
  install: Install,
  watches: WatchStarter,
  { connection, log, fail }: ViewContext,
): ClusterView {
  const cluster = new LiveCluster({
    install,
    adapters: intentAdapters,
    intentsRemoved: () => removedIntents.ask(),
    watchesProperties: true,
  });
  const kindUid = (signal: AbortSignal) => definitionUid(connection.writer, 'securityintents', signal);
  const removedIntents = new RemovedIntents({ cluster, kindUid, clock: systemClock });
  const ending = new AbortController();
  const starter = (version: string, sink: WatchSink) => (plural: string) =>
    void watches.start({ path: resourcePath({ apiVersion: version, plural }) }, sink);
  const whenServed = (watch: Omit<Parameters<typeof startOnceServed>[0], 'start'>): void => {
    const { type, sink } = watch;
    const start = starter(type.apiVersion, sink);
    startOnceServed({ ...watch, start }, connection, log, ending.signal).catch(fail);
  };
  for (const { kind, plural, mayBeMissing } of decidingKinds) {
    const sink = cluster.sinks[kind];
    if (mayBeMissing) whenServed({ type: { apiVersion, kind }, sink, absence: 'warn' });
    else starter(apiVersion, sink)(plural);
  }
  for (const { sink, ...type } of cluster.properties)
    whenServed({ type, sink, absence: 'debug', lookMs: propertyLookMs });
  watches.start({ path: resourcePath({ apiVersion: 'v1', plural: 'namespaces' }) }, cluster.namespaces);
  const { discovery } = connection;
  const served = new ServedKinds({ cluster, discovery, clock: systemClock });
  served.run(ending.signal).catch(fail);
  removedIntents.run(ending.signal).catch(fail);
  return { cluster, enginesAsked: served.asked, stop: () => ending.abort() };
}

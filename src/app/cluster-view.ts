// Starts the watches that keep the engine's view of the cluster up to date: providers, intents and Namespaces.
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
 * The view is incomplete until the watches have synced. An older install lacks the kinds of intents: after an upgrade, the
 * program may start before their CustomResourceDefinitions are there.
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
  });
  const kindUid = (signal: AbortSignal) => definitionUid(connection.writer, 'securityintents', signal);
  const removedIntents = new RemovedIntents({ cluster, kindUid, clock: systemClock });
  const ending = new AbortController();
  const start = (plural: string, sink: WatchSink): void =>
    void watches.start({ path: resourcePath({ apiVersion, plural }) }, sink);
  start('namespacepolicies', cluster.policies);
  start('secretshares', cluster.shares);
  watches.start({ path: resourcePath({ apiVersion: 'v1', plural: 'namespaces' }) }, cluster.namespaces);
  const ofIntents = {
    SecurityIntent: cluster.intents,
    ClusterSecurityIntentBinding: cluster.clusterBindings,
    SecurityIntentBinding: cluster.bindings,
  };
  for (const [kind, sink] of Object.entries(ofIntents)) {
    const type = { apiVersion, kind };
    const watch = { type, sink, absence: 'warn', start: (plural: string) => start(plural, sink) } as const;
    startOnceServed(watch, connection, log, ending.signal).catch(fail);
  }
  const { discovery } = connection;
  const served = new ServedKinds({ cluster, discovery, clock: systemClock });
  served.run(ending.signal).catch(fail);
  removedIntents.run(ending.signal).catch(fail);
  return { cluster, enginesAsked: served.asked, stop: () => ending.abort() };
}

// Starts the role "reconciler": watches, writer, election, log and metrics.
import { hostname } from 'node:os';
import { pause } from '../base/abort.ts';
import { KubeEventRecorder } from '../kube/events/event-recorder.ts';
import type { Log } from '../observe/log.ts';
import { measureProviders } from '../observe/provider-metrics.ts';
import { ReconcileReports } from '../observe/reconcile.ts';
import type { MetricsRegistry } from '../observe/registry.ts';
import { namespaceReports } from '../inspect/report/open-reports.ts';
import { GuardMonitor } from '../reconcile/guard-monitor.ts';
import { createReconciler, type Reconciler, type ReconcilerOptions } from '../reconcile/controller.ts';
import type { KindProbe } from '../reconcile/ports.ts';
import { KubeObjectWriter } from '../kube/object-writer.ts';
import type { HookMode } from '../policy/compile/snapshot.ts';
import type { Install } from '../policy/terms/install.ts';
import { kinds } from '../api/kinds.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import { elect, type Election } from './election.ts';
import { definitionUid } from './served-kinds.ts';
import { systemClock } from '../base/clock.ts';
import { auditReaderOf, ownedReaderOf, ownSecretsOf } from './object-readers.ts';
import { type WatchStarter, startOnceServed } from './watches.ts';
import type { ActivityObserver } from '../observe/activity.ts';
import type { Tracing } from './tracing.ts';
import { createSelfReviewer } from '../kube/access-review.ts';
import { guessedPlural } from '../base/text.ts';
import { resourcePath } from '../kube/http/https-client.ts';
import type { WantedWatch } from '../reconcile/live/watches.ts';

export interface ReconcilerSettings {
  readonly namespace: string;
  readonly leaderElect: boolean;
  readonly concurrency: number;
  /** In milliseconds. */
  readonly resync: number;
  readonly secretsRbacFailurePolicy: HookMode;
  /** Keeps one Report of openreports.io in each namespace. */
  readonly reports: boolean;
}

export interface ReconcilerContext {
  readonly connection: ClusterConnection;
  readonly cluster: LiveCluster;
  readonly install: Install;
  /** Resolves when the API server was asked for the kinds of security engines. */
  readonly enginesAsked: Promise<void>;
  readonly watches: WatchStarter;
  readonly log: Log;
  readonly registry: MetricsRegistry;
  readonly activity: ActivityObserver;
  readonly tracing: Tracing;
  /** Takes an error of the program itself. */
  readonly fail: (error: unknown) => void;
}

export interface RunningReconciler {
  /** Stops writing, sends the last events, and releases the Lease. */
  stop(): Promise<void>;
}

const leaseName = 'reeve-reconciler';
const flushMs = 3000;
const engineMs = 2000;

export function startReconciler(settings: ReconcilerSettings, context: ReconcilerContext): RunningReconciler {
  const { connection, cluster, install, enginesAsked, watches, log, registry, activity, tracing, fail } =
    context;
  const { client } = connection;
  const roles: { election?: Election; reconciler?: Reconciler; guardMonitor?: GuardMonitor } = {};
  const observer = new ReconcileReports(log, registry, activity, {
    isLeading: () => roles.election?.isLeader ?? false,
    queued: () => roles.reconciler?.health().queued ?? 0,
    oldestUnreconciledMs: () => roles.reconciler?.health().oldestUnreconciledMs ?? 0,
    guards: () => roles.guardMonitor?.states() ?? [],
  });
  measureProviders(registry, {
    providers: () => roles.reconciler?.numbers()?.providers ?? [],
    namespaces: () => roles.reconciler?.numbers()?.namespaces,
    now: () => systemClock.now(),
  });
  const events = eventsOf(client, log);
  // After a conflict, the watch of the object reads the object, because it may have missed a write of others.
  const writer = new KubeObjectWriter(client, connection.discovery, (object, version) =>
    watches.reread(object, version),
  );
  const parts = { connection, cluster, install, writer, events, observer };
  const reconciler = reconcilerOf(settings, { ...parts, traced: tracing.queue });
  roles.reconciler = reconciler;
  const guardMonitor = new GuardMonitor({ writer, observer, clock: systemClock }, events);
  roles.guardMonitor = guardMonitor;
  const wanted = startWantedWatches(reconciler.watches, connection, watches, log, fail);
  const election = elect(
    client,
    { ...settings, name: leaseName },
    log,
    async (signal) => {
      // Otherwise, the first statuses would call intents unsupported. The wait ends even if the API server does not answer.
      await Promise.race([enginesAsked, pause(systemClock, engineMs, signal)]);
      await Promise.all([reconciler.run(signal), guardMonitor.run(signal)]);
    },
    fail,
  );
  roles.election = election;
  return {
    stop: async () => {
      wanted.stop();
      await election.stop();
      // Events are optional, so the wait for them is short.
      await Promise.race([events.flush(), systemClock.sleep(flushMs)]);
    },
  };
}

function reconcilerOf(
  settings: ReconcilerSettings,
  {
    connection,
    ...context
  }: Pick<ReconcilerContext, 'connection' | 'cluster' | 'install'> &
    Pick<ReconcilerOptions, 'writer' | 'events' | 'observer' | 'traced'>,
): Reconciler {
  const { secretNames, resourceOf, namespaceClaims } = context.install;
  return createReconciler({
    ...context,
    ownSecrets: ownSecretsOf(connection, secretNames),
    auditReader: auditReaderOf(connection),
    ownedReader: ownedReaderOf(connection, resourceOf),
    createNamespace: namespaceClaims ? (object) => connection.writer.create(object) : undefined,
    reports: settings.reports ? namespaceReports : undefined,
    kinds: kindProbeOf(connection),
    selfReviewer: createSelfReviewer(connection.client),
    clock: systemClock,
    secretsRbacFailurePolicy: settings.secretsRbacFailurePolicy,
    concurrency: settings.concurrency,
    resyncMs: settings.resync,
  });
}

function eventsOf(client: ClusterConnection['client'], log: Log): KubeEventRecorder {
  return new KubeEventRecorder(client, {
    clock: systemClock,
    instance: hostname(),
    onDrop: (reason) => log.debug('event dropped', { reason }),
  });
}

function kindProbeOf({ writer }: ClusterConnection): KindProbe {
  return {
    isKindTerminating: async (kind, signal) =>
      (await definitionUid(writer, kinds[kind].plural, signal)) === undefined,
  };
}

// Starts each watch of the reconciler as soon as the API server serves its kind.

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

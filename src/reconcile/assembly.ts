// Builds the parts of the reconciler, in the order in which data flows through them.
import type { Install } from '../policy/terms/install.ts';
import type { HookMode } from '../policy/compile/snapshot.ts';
import { orphanedText } from '../policy/plan/fuse.ts';
import { tenantOf, type ProviderId } from '../policy/terms/provider-id.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import type { Clock } from '../base/clock.ts';
import { createAudit, type AuditPartsOptions } from './audit/audit-sweeps.ts';
import { Dispatcher } from './dispatcher.ts';
import { EventAnnouncer } from './events.ts';
import { Finalizers, ProviderStatuses } from './provider/provider-writes.ts';
import { type FuseOptions, Fuse } from './fuse/fuse.ts';
import { InitialSync, ProviderLedger } from './ledger.ts';
import { WatchSync, accountsWatch, wantedWatches } from './live/watches.ts';
import { NamespaceConditions } from './namespace/namespace-conditions.ts';
import { NamespaceWorker } from './namespace/namespace-worker.ts';
import { DefaultsRepairer, Audits } from './namespace/audits.ts';
import { StepExecutor } from './namespace/step-executor.ts';
import type { YieldingEvents } from '../base/recorded-event.ts';
import type { KindProbe, OwnedReader, ReconcileObserver, SelfReviewer } from './ports.ts';
import type { ObjectWriter } from '../base/object-writer.ts';
import { ReportKeeper, type NamespaceReports } from './reports/report-keeper.ts';
import { ProviderBlockers, type ProviderBlockersOptions, SelfCheck } from './provider/provider-blockers.ts';
import { HeldObjects, ProviderWorker } from './provider/provider-worker.ts';
import { WorkQueue, type QueueOptions } from './queue/queue.ts';
import { providesFields, type ProviderDefinition } from '../policy/compile/load-provider.ts';
import { UndesiredObjects, DesiredCache } from './fuse/undesired-objects.ts';
import { ObservedAccounts } from './live/observed-accounts.ts';
import { ObservedObjects } from './live/observed-objects.ts';
import { Sources } from './live/sources.ts';
import { NamespacePlanner } from './namespace/namespace-planner.ts';

export interface AssemblyOptions extends Pick<AuditPartsOptions, 'auditReader'> {
  readonly install: Install;
  readonly ownedReader: OwnedReader;
  /** Policies, shares and Namespaces. The caller starts their watches. */
  readonly cluster: LiveCluster;
  readonly writer: ObjectWriter;
  readonly kinds: KindProbe;
  /** Answers which rights our own account has. */
  readonly selfReviewer: SelfReviewer;
  readonly whereToAdd: ProviderBlockersOptions['whereToAdd'];
  /** How writes of Secrets, Roles and RoleBindings are reviewed. Default: Ignore. */
  readonly secretsRbacFailurePolicy?: HookMode;
  /** Makes the Report of each namespace. Default: the reconciler keeps no Reports. */
  readonly reports?: NamespaceReports | undefined;
  readonly events: YieldingEvents;
  readonly observer: ReconcileObserver;
  readonly clock: Clock;
  /** How long the fuse waits for further deletions. Default: 3 s, at most 15 s. */
  readonly times?: FuseOptions['times'];
  /** How many namespaces are reconciled at once. Default: 16. */
  readonly concurrency?: number;
}

export type Assembly = ReturnType<typeof assembleReconciler>;

const defaultConcurrency = 16;
const providerConcurrency = 8;
const conditionConcurrency = 8;
const reportConcurrency = 2;

export function assembleReconciler(options: AssemblyOptions) {
  const { cluster, clock, observer } = options;
  const queues = createQueues(options);
  options.events.yieldTo(queues.namespaceQueue);
  const state = createState(options, queues);
  const reports = createReports(options, queues);
  const { namespaceQueue, providerQueue } = queues;
  const { objects, accounts, sources, watches, watchSync, desiredCache, fuse, announcer } = state;
  const { ledger, conditions } = reports;

  // Changes of all state above become keys of the queues.
  const initialSync = new InitialSync({ cluster, objects, ledger, providerQueue, observer, clock });
  const dispatcher = new Dispatcher({
    cluster,
    objects,
    accounts,
    sources,
    ledger,
    desiredCache,
    initialSync,
    namespaceQueue,
    providerQueue,
  });

  const audit = createAudit({ ...options, providerQueue });
  const parts = { ...queues, ...state, ...reports, ...audit, initialSync, dispatcher };
  const namespaceWorker = createNamespaceWorker(options, parts);
  const providerWorker = createProviderWorker(options, parts);
  const reportKeeper = createReportKeeper(options, parts);
  const workers = { namespaceWorker, providerWorker, conditions, reportKeeper };
  return {
    ...queues,
    objects,
    accounts,
    watches: [
      ...audit.watched(watches),
      accountsWatch(accounts),
      ...(reportKeeper === undefined ? [] : [reportKeeper.watch]),
    ],
    watchSync,
    fuse,
    ledger,
    initialSync,
    announcer,
    dispatcher,
    ...workers,
    ...audit,
  };
}

type Queues = ReturnType<typeof createQueues>;

/** Queues of names and ids. They get their handlers when the reconciler runs. */
function createQueues(options: AssemblyOptions) {
  const { concurrency = defaultConcurrency } = options;
  return {
    namespaceQueue: queueOf<string>(options, concurrency, 'namespace '),
    // A tenant can write thousands of bindings. The statuses of all other providers must not wait for them.
    providerQueue: queueOf<ProviderId>(options, providerConcurrency, '', tenantOf),
    conditionQueue: queueOf<string>(options, conditionConcurrency, 'condition of namespace '),
    reportQueue: queueOf<string>(options, reportConcurrency, 'report of namespace '),
  };
}

type State = ReturnType<typeof createState>;

function createState(options: AssemblyOptions, { providerQueue }: Queues) {
  const { cluster, install, selfReviewer, clock, events, observer } = options;
  const announcer = new EventAnnouncer({ events, cluster, clock, providerQueue });
  const orphaned: FuseOptions['orphaned'] = (provider, why, count) => {
    observer.orphaned(provider, why, count);
    announcer.provider(provider, 'Orphaned', orphanedText(why, count, provider));
  };
  const changed = (provider: ProviderId): void => providerQueue.add(provider);
  const planning = assemblePlanning({ ...options, orphaned, changed });
  const watchSync = new WatchSync({ ...planning, cluster, install, selfReviewer, clock });
  return { ...planning, watchSync, announcer };
}

type Reports = ReturnType<typeof createReports>;

/** Reports of the namespaces, and the writers of statuses, finalizers and conditions. */
function createReports(options: AssemblyOptions, { namespaceQueue, conditionQueue }: Queues) {
  const { cluster, writer, observer, clock } = options;
  return {
    ledger: new ProviderLedger({ cluster, clock }),
    statuses: new ProviderStatuses({ cluster, writer, observer }),
    finalizers: new Finalizers({ cluster, writer, observer }),
    conditions: new NamespaceConditions({
      cluster,
      writer,
      observer,
      clock,
      namespaceQueue,
      conditionQueue,
    }),
  };
}

interface Parts extends Queues, State, Reports, ReturnType<typeof createAudit> {
  readonly initialSync: InitialSync;
  readonly dispatcher: Dispatcher;
}

/** Handles the keys of the namespace queue. */
function createNamespaceWorker(options: AssemblyOptions, parts: Parts): NamespaceWorker {
  const given = { ...options, ...parts };
  return new NamespaceWorker({
    ...given,
    executor: new StepExecutor(given),
    repairer: new DefaultsRepairer(given),
  });
}

/** Handles the keys of the report queue. */
function createReportKeeper(options: AssemblyOptions, parts: Parts): ReportKeeper | undefined {
  const { reports } = options;
  return reports === undefined ? undefined : new ReportKeeper({ ...options, ...parts, reports });
}

/** Handles the keys of the provider queue. */
function createProviderWorker(options: AssemblyOptions, parts: Parts): ProviderWorker {
  const { cluster, install, selfReviewer, secretsRbacFailurePolicy, whereToAdd, observer, clock } = options;
  const { objects, accounts, sources, fuse, ledger, statuses, finalizers, announcer, objectAudit } = parts;
  const { initialSync, dispatcher, providerQueue } = parts;
  const { auditReader, ownedReader, writer } = options;
  const selfCheck = new SelfCheck({ install, selfReviewer, clock, providerQueue, dispatcher });
  const blockers = new ProviderBlockers({
    cluster,
    sources,
    ledger,
    selfCheck,
    announcer,
    observer,
    providerQueue,
    secretsRbacFailurePolicy,
    whereToAdd,
  });
  const heldObjects = new HeldObjects({ fuse, ledger, announcer, observer });
  return new ProviderWorker({
    install,
    heldObjects,
    dispatcher,
    cluster,
    ledger,
    objects,
    accounts,
    fuse,
    finalizers,
    statuses,
    blockers,
    announcer,
    objectAudit,
    auditReader,
    ownedReader,
    writer,
    observer,
    clock,
    initialSync,
    providerQueue,
  });
}

function queueOf<K extends string>(
  { clock, observer }: AssemblyOptions,
  concurrency: number,
  what: string,
  groupOf?: QueueOptions<K>['groupOf'],
): WorkQueue<K> {
  const onError = (key: K, error: unknown): void => observer.unexpectedError(`${what}${key}`, error);
  return new WorkQueue<K>({ concurrency, clock, onError, ...(groupOf === undefined ? {} : { groupOf }) });
}

// Builds the parts that plan: what is there, what is wanted, and the fuse between both.

interface PlanningOptions extends Pick<FuseOptions, 'changed' | 'isPlan' | 'times'> {
  readonly install: Install;
  /** Policies, shares and Namespaces. The caller feeds it. */
  readonly cluster: LiveCluster;
  readonly writer: Pick<ObjectWriter, 'read'>;
  readonly kinds: KindProbe;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly orphaned: FuseOptions['orphaned'];
}

export type Planning = ReturnType<typeof assemblePlanning>;

/** `reeve plan` builds the same parts, and feeds them once. */
export function assemblePlanning(options: PlanningOptions) {
  const { cluster, install, writer, clock } = options;
  // Observed state: live objects and sources. Policies, shares and Namespaces come with `cluster`.
  const objects = new ObservedObjects();
  const accounts = new ObservedAccounts();
  const needAccounts = (definition: ProviderDefinition | undefined): void => {
    if (providesFields(definition)) accounts.need();
  };
  // The watches of policies can be ahead.
  for (const { definition } of cluster.providers()) needAccounts(definition);
  cluster.subscribe({ affecting: ({ after }) => needAccounts(after?.definition) });
  const sources = new Sources({ install, writer, cluster });
  const watches = wantedWatches(install, objects, sources);
  // Derived state: desired objects, undesired objects, and the verdict of the deletion fuse.
  const desiredCache = new DesiredCache({ cluster, clock });
  const undesired = new UndesiredObjects({ cluster, objects, desiredCache, clock });
  const fuse = new Fuse({ ...options, objects, undesired });
  const planner = new NamespacePlanner({
    install,
    cluster,
    desiredCache,
    objects,
    accounts,
    sources,
    fuse,
    writer,
    clock,
  });
  const audits = new Audits({ cluster, clock });
  return { objects, accounts, sources, watches, desiredCache, undesired, fuse, planner, audits };
}

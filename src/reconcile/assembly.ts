// Builds the parts of the reconciler, in the order in which data flows through them.
import type { HookMode } from '../policy/compile/snapshot.ts';
import { orphanedText } from '../policy/plan/fuse.ts';
import { createAudit } from './audit/audit-sweeps.ts';
import { Dispatcher } from './dispatcher.ts';
import { ClaimKeeper, type ClaimPorts } from './claims/claim-keeper.ts';
import { EventAnnouncer } from './events.ts';
import { Finalizers, ProviderStatuses } from './provider/provider-writes.ts';
import type { FuseOptions } from './fuse/fuse.ts';
import { InitialSync, ProviderLedger } from './ledger.ts';
import { accountsWatch, type WantedWatch } from './live/watches.ts';
import { CreationRecorder } from './namespace/creation-recorder.ts';
import { DefaultsRepairer, NamespaceConditions } from './namespace/namespace-conditions.ts';
import { NamespaceWorker } from './namespace/namespace-worker.ts';
import { StepExecutor } from './namespace/step-executor.ts';
import { assemblePlanning, type Planning } from './planning.ts';
import { temporaryLabel } from '../schema/names.ts';
import { isSameObjectType, roleBindingType, type ObjectType } from '../base/object-type.ts';
import { labeledSink, SharedSink, type WatchSink } from '../base/watch-sink.ts';
import type { YieldingEvents } from '../base/recorded-event.ts';
import type { AuditReader, KindProbe, OwnedReader, ReconcileContext, SelfReviewer } from './ports.ts';
import { ReportKeeper, type NamespaceReports } from './reports/report-keeper.ts';
import { HeldObjects, OwnRightsMonitor, ProviderBlockers } from './provider/provider-blockers.ts';
import { ProviderWorker } from './provider/provider-worker.ts';
import { createQueues, type Queues } from './queue/queue.ts';
import { TemporaryAccess } from './temporary-access.ts';

export interface AssemblyOptions extends Omit<ReconcileContext, keyof Queues> {
  readonly ownedReader: OwnedReader;
  readonly auditReader: AuditReader;
  readonly kinds: KindProbe;
  /** Answers which rights our own account has. */
  readonly selfReviewer: SelfReviewer;
  /** The mode in which writes of Secrets, Roles and RoleBindings are reviewed. Default: Ignore. */
  readonly secretsRbacFailurePolicy?: HookMode;
  /** Creates the Namespaces of claims. Default: the reconciler creates none. */
  readonly createNamespace?: ClaimPorts['create'] | undefined;
  /** Makes the Report of each namespace. Default: the reconciler keeps no Reports. */
  readonly reports?: NamespaceReports | undefined;
  readonly events: YieldingEvents;
  /** How long the fuse waits for further deletions. Default: 3 s, at most 15 s. */
  readonly times?: FuseOptions['times'];
  /** How many namespaces are reconciled at once. Default: 16. */
  readonly concurrency?: number;
}

export type Assembly = ReturnType<typeof assembleReconciler>;

export function assembleReconciler(options: AssemblyOptions) {
  const context = contextOf(options);
  const announcer = new EventAnnouncer(context, options.events);
  const planning = createPlanning(context, announcer, options);
  const { objects, accounts, watches } = planning;

  const ledger = new ProviderLedger(context);
  // Turns changes of the state above into keys of the queues.
  const initialSync = new InitialSync(context, objects, ledger);
  const dispatcher = new Dispatcher(context, planning, ledger, initialSync);
  const finalizers = new Finalizers(context);
  const conditions = new NamespaceConditions(context, announcer);
  const namespaceWorker = new NamespaceWorker(context, planning, {
    executor: new StepExecutor(context, planning, finalizers, announcer),
    recorder: new CreationRecorder(context),
    repairer: new DefaultsRepairer(context, planning.audits, announcer),
    ledger,
    conditions,
    announcer,
    initialSync,
  });
  const audit = createAudit(context, options.auditReader);
  const access = new TemporaryAccess(context, announcer);
  const parts = { ...audit, ledger, announcer, initialSync, dispatcher, finalizers };
  const providerWorker = createProviderWorker(context, planning, parts, options);
  const { reports, auditReader } = options;
  const reportKeeper = reports && new ReportKeeper(context, planning, { ...parts, reports, auditReader });
  const { createNamespace: create, kinds } = options;
  const claimKeeper = create && new ClaimKeeper(context, { kinds, create });
  const keepers = [reportKeeper, claimKeeper].flatMap((each) => each?.watch ?? []);
  const ownWatches = [accountsWatch(accounts), ...keepers];
  return {
    ...parts,
    context,
    planning,
    watches: [
      ...audit.sweeps.watched(withSink(watches, roleBindingType, labeledSink(temporaryLabel, access.sink))),
      ...ownWatches,
    ],
    namespaceWorker,
    providerWorker,
    conditions,
    access,
    reportKeeper,
    claimKeeper,
  };
}

/** Has the sink share the watch of the type. */
function withSink(
  watches: readonly WantedWatch[],
  type: ObjectType,
  sink: WatchSink,
): readonly WantedWatch[] {
  return watches.map((watch) =>
    isSameObjectType(watch.type, type) ? { ...watch, sink: new SharedSink(watch.sink, sink) } : watch,
  );
}

function contextOf(options: AssemblyOptions): ReconcileContext {
  const { clock, cluster, writer, install, observer, concurrency } = options;
  const failed = (what: string, error: unknown): void => observer.unexpectedError(what, error);
  const queues = createQueues(clock, failed, concurrency);
  options.events.yieldTo(queues.namespaceQueue);
  return { clock, cluster, writer, install, observer, ...queues };
}

function createPlanning(
  context: ReconcileContext,
  announcer: EventAnnouncer,
  { kinds, times }: AssemblyOptions,
): Planning {
  const { observer, providerQueue } = context;
  return assemblePlanning(context, {
    kinds,
    times,
    changed: (provider) => providerQueue.add(provider),
    orphaned: (provider, why, count) => {
      observer.orphaned(provider, why, count);
      announcer.provider(provider, 'Orphaned', orphanedText(why, count, provider));
    },
  });
}

type ProviderParts = ConstructorParameters<typeof ProviderWorker>[2];
type GivenParts = 'ledger' | 'announcer' | 'initialSync' | 'dispatcher' | 'finalizers' | 'objectAudit';

/** Handles the keys of the provider queue. */
function createProviderWorker(
  context: ReconcileContext,
  planning: Planning,
  parts: Pick<ProviderParts, GivenParts>,
  options: AssemblyOptions,
): ProviderWorker {
  const { ledger, announcer, dispatcher } = parts;
  const { selfReviewer, secretsRbacFailurePolicy, auditReader, ownedReader } = options;
  const blockers = new ProviderBlockers(context, {
    sources: planning.sources,
    ledger,
    rightsMonitor: new OwnRightsMonitor(context, selfReviewer, dispatcher),
    announcer,
    secretsRbacFailurePolicy,
  });
  return new ProviderWorker(context, planning, {
    ...parts,
    statuses: new ProviderStatuses(context),
    blockers,
    heldObjects: new HeldObjects(context, planning.fuse, ledger, announcer),
    auditReader,
    ownedReader,
  });
}

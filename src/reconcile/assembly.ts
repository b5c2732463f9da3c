// Builds the parts of the reconciler, in the order in which data flows through them.
import type { Install } from '../policy/compile/install.ts';
import type { HookMode } from '../policy/compile/applicable-rules.ts';
import type { ProviderId } from '../policy/terms/provider-id.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import type { Clock } from '../base/clock.ts';
import { Dispatcher } from './dispatcher.ts';
import { EventAnnouncer } from './events.ts';
import { Finalizers } from './finalizers.ts';
import { Fuse } from './fuse/fuse.ts';
import { UndesiredCounts } from './fuse/undesired-counts.ts';
import { InitialSync } from './initial-sync.ts';
import { ProviderLedger } from './ledger.ts';
import { ObservedObjects } from './live/observed-objects.ts';
import { Sources } from './live/sources.ts';
import { WatchSync } from './live/watch-sync.ts';
import { wantedWatches, type ProvidedScope } from './live/watches.ts';
import { Audits } from './namespace/audits.ts';
import { DesiredCache } from './namespace/desired-cache.ts';
import { NamespaceConditions } from './namespace/namespace-conditions.ts';
import { NamespacePlanner } from './namespace/namespace-planner.ts';
import { NamespaceWorker } from './namespace/namespace-worker.ts';
import { DefaultsRepairer } from './namespace/defaults-repairer.ts';
import { StepExecutor } from './namespace/step-executor.ts';
import type { EventRecorder, KindProbe, ObjectWriter, ReconcileObserver, SelfReviewer } from './ports.ts';
import { ProviderBlockers } from './provider/provider-blockers.ts';
import { ProviderStatuses } from './provider/provider-statuses.ts';
import { ProviderWorker } from './provider/provider-worker.ts';
import { SelfCheck } from './provider/self-check.ts';
import { WorkQueue } from './queue/queue.ts';

export interface AssemblyOptions extends ProvidedScope {
  /** Policies, shares and Namespaces. The caller starts their watches. */
  readonly cluster: LiveCluster;
  readonly writer: ObjectWriter;
  readonly kinds: KindProbe;
  /** Answers which rights our own account has. */
  readonly selfReviewer: SelfReviewer;
  /** Returns the resource name of a kind: `Secret` -> `secrets`. */
  readonly resourceOf: Install['resourceOf'];
  /** How writes of Secrets, Roles and RoleBindings are reviewed. Default: Ignore. */
  readonly secretsRbacFailurePolicy?: HookMode;
  readonly events: EventRecorder;
  readonly observer: ReconcileObserver;
  readonly clock: Clock;
  /** How many namespaces are reconciled at once. Default: 16. */
  readonly concurrency?: number;
}

export type Assembly = ReturnType<typeof assembleReconciler>;

const defaultConcurrency = 16;
const providerConcurrency = 8;
const conditionConcurrency = 8;

export function assembleReconciler(options: AssemblyOptions) {
  // Queues of names and ids. They get their handlers when the reconciler runs.
  const namespaceQueue = queueOf<string>(options, options.concurrency ?? defaultConcurrency, 'namespace ');
  const providerQueue = queueOf<ProviderId>(options, providerConcurrency, '');
  const conditionQueue = queueOf<string>(options, conditionConcurrency, 'condition of namespace ');
  const queues = { namespaceQueue, providerQueue, conditionQueue };

  // Observed state: live objects and sources. Policies, shares and Namespaces come with `cluster`.
  const objects = new ObservedObjects();
  const sources = new Sources(options);
  const watches = wantedWatches(options, objects, sources);
  const watchSync = new WatchSync({ ...options, watches, objects, sources });

  // Derived state: desired objects, undesired objects, and the verdict of the deletion fuse.
  const desiredCache = new DesiredCache(options);
  const undesired = new UndesiredCounts({ ...options, objects, desiredCache });
  const fuse = new Fuse({ ...options, undesired });

  // Reports of the namespaces, and the writers of statuses, finalizers, conditions and events.
  const ledger = new ProviderLedger(options);
  const statuses = new ProviderStatuses(options);
  const finalizers = new Finalizers(options);
  const conditions = new NamespaceConditions({ ...options, ...queues });
  const announcer = new EventAnnouncer(options);
  const known = { ...queues, objects, sources, desiredCache, fuse, ledger, finalizers, announcer };

  // Changes of all state above become keys of the queues.
  const initialSync = new InitialSync({ ...options, ...known });
  const dispatcher = new Dispatcher({ ...options, ...known, initialSync });

  // Handles the keys of the namespace queue.
  const audits = new Audits(options);
  const planner = new NamespacePlanner({ ...options, ...known });
  const repairer = new DefaultsRepairer({ ...options, audits });
  const executor = new StepExecutor({ ...options, ...known });
  const namespaceSteps = { audits, planner, repairer, executor, conditions, initialSync };
  const namespaceWorker = new NamespaceWorker({ ...options, ...known, ...namespaceSteps });

  // Handles the keys of the provider queue.
  const selfCheck = new SelfCheck({ ...options, providerQueue, dispatcher });
  const blockers = new ProviderBlockers({ ...options, ...known, selfCheck });
  const providerWorker = new ProviderWorker({ ...options, ...known, statuses, blockers, initialSync });
  const workers = { namespaceWorker, providerWorker, conditions };
  return { ...queues, objects, watches, watchSync, undesired, ledger, initialSync, dispatcher, ...workers };
}

function queueOf<K extends string>(
  { clock, observer }: AssemblyOptions,
  concurrency: number,
  what: string,
): WorkQueue<K> {
  const onError = (key: K, error: unknown): void => observer.unexpectedError(`${what}${key}`, error);
  return new WorkQueue<K>({ concurrency, clock, onError });
}

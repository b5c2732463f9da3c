// Puts the parts of the reconciler together: what it knows, who judges, who writes, and the queues of its workers.
import { roleBindingType, secretObjectType } from '../policy/compile/compile-contents.ts';
import type { ProviderId, ProviderKind } from '../policy/terms/provider-id.ts';
import type { Install } from '../policy/compile/install.ts';
import { partsWithoutHook, type HookMode } from '../policy/compile/judged-kinds.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import { Audits } from './namespace/audits.ts';
import { Census } from './fuse/census.ts';
import { Contention } from './namespace/contention.ts';
import { Desires } from './namespace/desires.ts';
import { DryRuns } from './namespace/dry-runs.ts';
import { Announcer } from './events.ts';
import { Finalizers } from './finalizers.ts';
import { FuseBox } from './fuse/fuse-box.ts';
import { NamespaceConditions } from './namespace/namespace-conditions.ts';
import { NamespacePlanner } from './namespace/namespace-planner.ts';
import { NamespaceWorker, patience, type NamespaceWorkerOptions } from './namespace/namespace-worker.ts';
import { ObjectWrites } from './namespace/object-writes.ts';
import { ObservedObjects, type ObservedChange } from './live/observed-objects.ts';
import { ProviderBlockers, type ProviderBlockersOptions } from './provider/provider-blockers.ts';
import { ProviderLedger } from './ledger.ts';
import { ProviderStatuses } from './provider/provider-statuses.ts';
import { ProviderWorker } from './provider/provider-worker.ts';
import type { Clock } from '../base/clock.ts';
import type { EventRecorder, KindProbe, ObjectWriter, ReconcileObserver, SelfReviewer } from './ports.ts';
import { WorkQueue } from './queue/queue.ts';
import { Repairer } from './namespace/repairer.ts';
import { Sources, type SourceId } from './live/sources.ts';
import { StepExecutor } from './namespace/step-executor.ts';
import { SelfCheck, type SelfCheckOptions } from './provider/self-check.ts';
import { scopeOf, type ProvidedScope } from './live/watches.ts';

export interface AssemblyOptions extends ProvidedScope {
  /** Policies, shares and Namespaces; its watches are started by whoever made it. */
  readonly cluster: LiveCluster;
  readonly writer: ObjectWriter;
  readonly kinds: KindProbe;
  /** Asked what the account may do that all this is done with. */
  readonly selfReviewer: SelfReviewer;
  /** Under which name the API server keeps the objects of a kind. */
  readonly resourceOf: Install['resourceOf'];
  /** Whether writes of Secrets, Roles and RoleBindings are reviewed at all; they are unless given. */
  readonly secretsRbacFailurePolicy?: HookMode;
  readonly events: EventRecorder;
  readonly observer: ReconcileObserver;
  readonly time: Clock;
  /** How many namespaces are worked on at once; 16 unless given. */
  readonly concurrency?: number;
}

/** What the parts tell whoever put them together. */
export interface Hooks {
  objectChanged(change: ObservedChange): void;
  sourceChanged(source: SourceId): void;
  /** All objects of another kind are known. */
  kindSynced(): void;
  /** A namespace has been looked at, and what was found is reported. */
  concluded(namespace: string): void;
  providerReported(owner: ProviderId): void;
  rightsRegained(owner: ProviderId): void;
}

const usualConcurrency = 16;
const providerConcurrency = 8;

export interface Knowledge {
  readonly objects: ObservedObjects;
  readonly sources: Sources;
  readonly desires: Desires;
  readonly census: Census;
  readonly ledger: ProviderLedger;
}

export interface Assembly extends Knowledge {
  readonly fuse: FuseBox;
  readonly conditions: NamespaceConditions;
  readonly namespaces: WorkQueue<string>;
  readonly owners: WorkQueue<ProviderId>;
  readonly providerWorker: ProviderWorker;
}

export function assemble(options: AssemblyOptions, hooks: Hooks): Assembly {
  const { cluster, writer, observer, time, concurrency = usualConcurrency } = options;
  const snapshot = () => cluster.snapshot();
  const knowledge = know(options, hooks);
  const fuse = new FuseBox({ snapshot, census: knowledge.census, kinds: options.kinds, time });
  const finalizers = new Finalizers({ stateOf: (owner) => cluster.owner(owner)?.state, writer, observer });
  const announcer = new Announcer(options.events, snapshot);
  const conditions = new NamespaceConditions({
    namespaceOf: (name) => snapshot().namespace(name),
    writer,
    observer,
    time,
    isBusy: () => namespaces.queued > 0,
  });
  const tools: Tools = { fuse, finalizers, announcer };
  const namespaceWorker = makeNamespaceWorker(options, knowledge, tools, conditions, {
    again: (name, milliseconds) => namespaces.addAfter(name, milliseconds),
    concluded: (name) => hooks.concluded(name),
  });
  const namespaces = new WorkQueue<string>({
    concurrency,
    time,
    handle: async (name, attempt) => {
      try {
        return await namespaceWorker.reconcile(name, attempt);
      } finally {
        // One that cannot be had to an end must not keep all others waiting for it.
        if (attempt.failures >= patience) hooks.concluded(name);
        if (namespaces.queued === 0) conditions.goOn();
      }
    },
    faulted: (name, error) => observer.faulted(`namespace ${name}`, error),
  });
  const providerWorker = makeProviderWorker(options, knowledge, tools, {
    again: (owner, milliseconds) => owners.addAfter(owner, milliseconds),
    regained: (owner) => hooks.rightsRegained(owner),
  });
  const owners = new WorkQueue<ProviderId>({
    concurrency: providerConcurrency,
    time,
    handle: (owner, attempt) => providerWorker.reconcile(owner, attempt),
    faulted: (owner, error) => observer.faulted(owner, error),
  });
  return { ...knowledge, fuse, conditions, namespaces, owners, providerWorker };
}

function makeProviderWorker(
  options: AssemblyOptions,
  knowledge: Knowledge,
  tools: Tools,
  news: Pick<SelfCheckOptions, 'again' | 'regained'>,
): ProviderWorker {
  const { cluster, writer, observer, time } = options;
  const common = { ...knowledge, ...tools, observer, time, again: news.again };
  return new ProviderWorker({
    ...common,
    cluster,
    statuses: new ProviderStatuses(writer, observer),
    blockers: makeBlockers(options, common, news),
    unknownKinds: (kind) => unknownKinds(kind, options, knowledge),
  });
}

function makeBlockers(
  options: AssemblyOptions,
  common: Pick<ProviderBlockersOptions, 'sources' | 'ledger' | 'announcer' | 'observer' | 'again'>,
  news: Pick<SelfCheckOptions, 'again' | 'regained'>,
): ProviderBlockers {
  const { time, secretsRbacFailurePolicy = 'Ignore' } = options;
  const { selfReviewer: reviewer, allowedKinds: resourceKinds } = options;
  return new ProviderBlockers({
    ...common,
    selfCheck: new SelfCheck({ reviewer, install: { ...options, resourceKinds }, time, ...news }),
    partsWithoutHook: (policy) => partsWithoutHook(policy, secretsRbacFailurePolicy),
  });
}

function unknownKinds(
  owners: ProviderKind,
  { allowedKinds, secretNames = [''] }: AssemblyOptions,
  { objects }: Pick<Knowledge, 'objects'>,
): readonly string[] {
  const provided =
    owners === 'SecretShare'
      ? secretNames.map((name) => ({ type: secretObjectType, name }))
      : [roleBindingType, ...allowedKinds].map((type) => ({ type, name: '' }));
  const unknown = provided.filter((each) => !objects.isKnown(each));
  return [...new Set(unknown.map(({ type }) => type.kind))];
}

interface Tools {
  readonly fuse: FuseBox;
  readonly finalizers: Finalizers;
  readonly announcer: Announcer;
}

function know({ cluster, writer, time, sourceNamespaces }: AssemblyOptions, hooks: Hooks): Knowledge {
  const snapshot = () => cluster.snapshot();
  const objects = new ObservedObjects(
    (change) => hooks.objectChanged(change),
    () => hooks.kindSynced(),
  );
  const sources = new Sources({
    namespaces: sourceNamespaces,
    writer,
    shares: () => snapshot().shares.shares,
    changed: (source) => hooks.sourceChanged(source),
  });
  const desires = new Desires(snapshot, () => time.now());
  const census = new Census({
    snapshot,
    desiredOf: (namespaceObject) => desires.of(namespaceObject),
    oursIn: (namespace) => objects.ours(namespace),
  });
  const ledger = new ProviderLedger(
    () => time.monotonic(),
    (owner) => hooks.providerReported(owner),
  );
  return { objects, sources, desires, census, ledger };
}

function makeNamespaceWorker(
  options: AssemblyOptions,
  knowledge: Knowledge,
  tools: Tools,
  conditions: NamespaceConditions,
  news: Pick<NamespaceWorkerOptions, 'again' | 'concluded'>,
): NamespaceWorker {
  const { cluster, writer, observer, time } = options;
  const snapshot = () => cluster.snapshot();
  const audits = new Audits(cluster, time);
  const scope = { ...knowledge, ...tools, observer, time, snapshot };
  return new NamespaceWorker({
    ...scope,
    namespaceOf: (name) => snapshot().namespace(name),
    planner: new NamespacePlanner({
      ...scope,
      writer,
      scopeOf: (claim) => scopeOf(claim, options, knowledge.objects),
    }),
    executor: new StepExecutor({
      ...scope,
      writes: new ObjectWrites(writer, new DryRuns(), time),
      contention: new Contention(time),
    }),
    repairer: new Repairer({ audits, writer, observer }),
    audits,
    conditions,
    ...news,
  });
}

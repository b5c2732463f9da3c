// Puts the parts of the reconciler together: what it knows, who judges, who writes, and the queues of its workers.
import { roleBindingType, secretObjectType } from '../policy/contents/compile-contents.ts';
import type { OwnerId, OwnerKind } from '../policy/owner.ts';
import type { Install } from '../policy/owners/install.ts';
import { partsWithoutHook, type HookMode } from '../state/judged-kinds.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import { Audits } from './audits.ts';
import { Census } from './census.ts';
import { Contention } from './contention.ts';
import { Desires } from './desires.ts';
import { DryRuns } from './dry-runs.ts';
import { Announcer } from './events.ts';
import { Finalizers } from './finalizers.ts';
import { FuseBox } from './fuse-box.ts';
import { NamespaceConditions } from './namespace-conditions.ts';
import { NamespacePlanner } from './namespace-planner.ts';
import { NamespaceWorker, patience, type NamespaceWorkerOptions } from './namespace-worker.ts';
import { ObjectWrites } from './object-writes.ts';
import { ObservedObjects, type ObservedChange } from './observed-objects.ts';
import { OwnerHindrances, type OwnerHindrancesOptions } from './owner-hindrances.ts';
import { OwnerLedger } from './owner-ledger.ts';
import { OwnerStatuses } from './owner-statuses.ts';
import { OwnerWorker } from './owner-worker.ts';
import type {
  EventRecorder,
  KindProbe,
  ObjectWriter,
  ReconcileObserver,
  SelfReviewer,
  Time,
} from './ports.ts';
import { WorkQueue } from './queue.ts';
import { Repairer } from './repairer.ts';
import { Sources, type SourceId } from './sources.ts';
import { StepExecutor } from './step-executor.ts';
import { SelfCheck, type SelfCheckOptions } from './self-check.ts';
import { scopeOf, type ProvidedScope } from './watches.ts';

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
  readonly time: Time;
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
  ownerReported(owner: OwnerId): void;
  rightsRegained(owner: OwnerId): void;
}

const usualConcurrency = 16;
const ownerConcurrency = 8;

export interface Knowledge {
  readonly objects: ObservedObjects;
  readonly sources: Sources;
  readonly desires: Desires;
  readonly census: Census;
  readonly ledger: OwnerLedger;
}

export interface Assembly extends Knowledge {
  readonly fuse: FuseBox;
  readonly conditions: NamespaceConditions;
  readonly namespaces: WorkQueue<string>;
  readonly owners: WorkQueue<OwnerId>;
  readonly ownerWorker: OwnerWorker;
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
  const ownerWorker = makeOwnerWorker(options, knowledge, tools, {
    again: (owner, milliseconds) => owners.addAfter(owner, milliseconds),
    regained: (owner) => hooks.rightsRegained(owner),
  });
  const owners = new WorkQueue<OwnerId>({
    concurrency: ownerConcurrency,
    time,
    handle: (owner, attempt) => ownerWorker.reconcile(owner, attempt),
    faulted: (owner, error) => observer.faulted(owner, error),
  });
  return { ...knowledge, fuse, conditions, namespaces, owners, ownerWorker };
}

function makeOwnerWorker(
  options: AssemblyOptions,
  knowledge: Knowledge,
  tools: Tools,
  news: Pick<SelfCheckOptions, 'again' | 'regained'>,
): OwnerWorker {
  const { cluster, writer, observer, time } = options;
  const common = { ...knowledge, ...tools, observer, time, again: news.again };
  return new OwnerWorker({
    ...common,
    cluster,
    statuses: new OwnerStatuses(writer, observer),
    hindrances: makeHindrances(options, common, news),
    unknownKinds: (kind) => unknownKinds(kind, options, knowledge),
  });
}

function makeHindrances(
  options: AssemblyOptions,
  common: Pick<OwnerHindrancesOptions, 'sources' | 'ledger' | 'announcer' | 'observer' | 'again'>,
  news: Pick<SelfCheckOptions, 'again' | 'regained'>,
): OwnerHindrances {
  const { time, secretsRbacFailurePolicy = 'Ignore' } = options;
  const { selfReviewer: reviewer, allowedKinds: resourceKinds } = options;
  return new OwnerHindrances({
    ...common,
    selfCheck: new SelfCheck({ reviewer, install: { ...options, resourceKinds }, time, ...news }),
    partsWithoutHook: (policy) => partsWithoutHook(policy, secretsRbacFailurePolicy),
  });
}

function unknownKinds(
  owners: OwnerKind,
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
  const ledger = new OwnerLedger(
    () => time.monotonic(),
    (owner) => hooks.ownerReported(owner),
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

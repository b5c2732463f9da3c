// Feeds a state to the caches of the reconciler, so that the engine sees it as it sees a cluster.
import { isDeepStrictEqual } from 'node:util';
import type { DecidingKind } from '../../api/kinds.ts';
import { apiVersion } from '../../schema/names.ts';
import {
  type KubeObject,
  annotationsOf,
  isTerminating,
  labelsOf,
  nameOf,
  type ObjectRef,
} from '../../base/metadata.ts';
import type { Problem } from '../../base/problem.ts';
import { clipped } from '../../base/text.ts';
import { asStored } from '../../policy/terms/match.ts';
import { providerKinds } from '../../policy/terms/provider-id.ts';
import { intentAdapters } from '../../policy/intents/adapters.ts';
import { problemsText } from '../../state/stored-provider.ts';
import { LiveCluster } from '../../state/live-cluster.ts';
import { loadDefinitions, type Definitions } from '../../state/definitions.ts';
import type { LocatedObject } from '../../state/yaml-files.ts';
import { withObjects, type ClusterState } from './cluster-state.ts';
import { kubeObjectsOf } from './file-state.ts';
import { KubeError } from '../../base/kube-error.ts';
import { isSameObjectType, secretObjectType, serviceAccountType } from '../../base/object-type.ts';
import { assemblePlanning, type Planning } from '../../reconcile/planning.ts';
import type { WantedWatch } from '../../reconcile/live/watches.ts';

export const namespaceType = { apiVersion: 'v1', kind: 'Namespace' } as const;

/** Loads a state as a new process would: an invalid provider has no last good version. */
export function loadState(state: ClusterState): LiveCluster {
  const cluster = new LiveCluster({ install: state.install, adapters: intentAdapters });
  const feed = (kind: DecidingKind['kind']): void =>
    cluster.sinks[kind].replaced(state.objects({ apiVersion, kind }), '1');
  cluster.setServed(cluster.neededKinds.map((type) => [type, state.isServed(type)]));
  // Intents first: otherwise each binding would be loaded twice.
  feed('SecurityIntent');
  for (const kind of providerKinds) feed(kind);
  cluster.namespaces.replaced(state.objects(namespaceType).map(asStored), '1');
  return cluster;
}

/** Loads the definitions of files beside a state. The problems include those of objects of unknown kinds. */
export function definitionsIn(
  located: readonly LocatedObject[],
  state: ClusterState,
  base = loadState(state),
): Definitions {
  const { context } = base.snapshot().intents;
  const definitions = loadDefinitions(located, {
    intents: [...context.intents.values()].filter((intent) => typeof intent === 'object'),
    install: state.install,
    isServed: (type) => state.isServed(type),
  });
  const problems = [...kubeObjectsOf(definitions.rest).problems, ...definitions.problems];
  return { ...definitions, problems };
}

const maxProblems = 500;

/** The problems of a stored provider that does not load, as one line. */
export function shownProblems(problems: readonly Problem[]): string {
  return clipped(problemsText(problems), maxProblems);
}

/** Returns the state after `kubectl apply` of these objects. */
export function applied(base: ClusterState, objects: readonly KubeObject[]): ClusterState {
  return withObjects(
    base,
    objects.map((object) => applyTo(base, object).object),
    isGone,
  );
}

/** Returns true if the API server would remove the object. A Namespace is left out: its finalizers are in its spec. */
function isGone(object: KubeObject): boolean {
  const { finalizers } = object.metadata;
  const isHeld = Array.isArray(finalizers) && finalizers.length > 0;
  return object.apiVersion === apiVersion && isTerminating(object) && !isHeld;
}

/** One object, before and after `kubectl apply`. */
export interface AppliedObject {
  readonly object: KubeObject;
  /** Undefined for a new object. */
  readonly stored: KubeObject | undefined;
}

export function applyTo(base: ClusterState, object: KubeObject): AppliedObject {
  const { apiVersion: version = '', kind = '', metadata } = object;
  const stored = base.find({ apiVersion: version, kind }, metadata.namespace ?? '', nameOf(object));
  return { object: stored === undefined ? object : appliedTo(stored, object), stored };
}

function appliedTo(stored: KubeObject, { metadata: written, ...object }: KubeObject): KubeObject {
  const { metadata } = stored;
  const isSame = isDeepStrictEqual(stored['spec'], object['spec']);
  const generation = typeof metadata['generation'] === 'number' ? metadata['generation'] : 1;
  const { deletionTimestamp } = written;
  return {
    ...stored,
    ...object,
    status: stored['status'],
    metadata: {
      ...metadata,
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      labels: { ...labelsOf(stored), ...written.labels },
      annotations: { ...annotationsOf(stored), ...written.annotations },
      generation: isSame ? generation : generation + 1,
    },
  };
}

// Feeds a state to the parts of the reconciler that plan, as if their watches had just synced.

export interface PlanningState {
  readonly state: ClusterState;
  readonly cluster: LiveCluster;
  readonly planning: Planning;
}

export function planningState(state: ClusterState, now: Date): PlanningState {
  const cluster = loadState(state);
  const context = {
    cluster,
    writer: { read: async (ref: ObjectRef) => await readFrom(state, ref) },
    clock: { now: () => now, monotonic: () => 0 },
    install: state.install,
  };
  const planning = assemblePlanning(context, {
    // A plan never covers the deletion of a whole kind.
    kinds: { isKindTerminating: async () => await Promise.resolve(false) },
    orphaned: () => undefined,
    isPlan: true,
  });
  for (const watch of planning.watches)
    if (isRead(state, watch)) watch.sink.replaced(objectsOf(state, watch), '1');
  if (isRead(state, { type: serviceAccountType }))
    planning.accounts.sink.replaced(state.objects(serviceAccountType), '1');
  return { state, cluster, planning };
}

/** A kind that could not be read must not look as if it had no objects. */
function isRead(state: ClusterState, { type }: Pick<WantedWatch, 'type'>): boolean {
  return state.isServed(type) && !state.unread.some(({ kind }) => kind === type.kind);
}

function objectsOf(state: ClusterState, { type, namespace, name }: WantedWatch): readonly KubeObject[] {
  const objects = state.objects(type);
  if (namespace === undefined && name === undefined) return objects;
  return objects.filter(
    (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) &&
      (name === undefined || nameOf(object) === name),
  );
}

async function readFrom(state: ClusterState, ref: ObjectRef): Promise<KubeObject | undefined> {
  const { namespace = '', name } = ref;
  const found = await Promise.resolve(state.find(ref, namespace, name));
  // An API server gives each Secret a type. Without one, only the metadata was listed.
  const isUnread =
    state.isCluster && isSameObjectType(ref, secretObjectType) && found?.['type'] === undefined;
  if (found !== undefined && isUnread) throw new KubeError({ code: 0, reason: 'NotRead', retryable: true });
  return found;
}

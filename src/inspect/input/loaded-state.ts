// Feeds a state to the caches of the reconciler, so that the engine sees it as it sees a cluster.
import { isDeepStrictEqual } from 'node:util';
import { apiVersion } from '../../schema/names.ts';
import { type KubeObject, annotationsOf, isTerminating, labelsOf, nameOf } from '../../base/metadata.ts';
import type { Problem } from '../../base/problem.ts';
import { clipped } from '../../base/text.ts';
import type { WatchSink } from '../../base/watch-sink.ts';
import { asStored } from '../../policy/terms/match.ts';
import { intentAdapters } from '../../policy/intents/adapters.ts';
import { problemsText } from '../../state/stored-provider.ts';
import { LiveCluster } from '../../state/live-cluster.ts';
import { loadDefinitions, type Definitions } from '../../state/definitions.ts';
import type { LocatedObject } from '../../state/yaml-objects.ts';
import { withObjects, type ClusterState } from './cluster-state.ts';
import { kubeObjectsOf } from './file-state.ts';

export const namespaceType = { apiVersion: 'v1', kind: 'Namespace' } as const;

/** An invalid provider has no last good version, as in a new process. */
export function loadState(state: ClusterState): LiveCluster {
  const cluster = new LiveCluster({ install: state.install, adapters: intentAdapters });
  const feed = (sink: WatchSink, kind: string): void =>
    sink.replaced(state.objects({ apiVersion, kind }), '1');
  cluster.setServed(cluster.neededKinds.map((type) => [type, state.isServed(type)]));
  // Intents first: otherwise each binding would be loaded twice.
  feed(cluster.intents, 'SecurityIntent');
  feed(cluster.policies, 'NamespacePolicy');
  feed(cluster.shares, 'SecretShare');
  feed(cluster.clusterBindings, 'ClusterSecurityIntentBinding');
  feed(cluster.bindings, 'SecurityIntentBinding');
  cluster.namespaces.replaced(state.objects(namespaceType).map(asStored), '1');
  return cluster;
}

/** Loads what files define, beside a state. The problems are also those of objects that no kind of Reeve describes. */
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

/** The API server removes an object of Reeve that is deleted without finalizers. A Namespace has other ones, in its spec. */
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

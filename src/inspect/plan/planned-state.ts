// Feeds a state to the parts of the reconciler that plan. They see it as if their watches had just synced.
import { KubeError } from '../../base/kube-error.ts';
import { type KubeObject, type ObjectRef, nameOf } from '../../base/metadata.ts';
import { isSameObjectType, secretObjectType, serviceAccountType } from '../../policy/terms/provider-id.ts';
import { assemblePlanning, type Planning } from '../../reconcile/planning.ts';
import type { WantedWatch } from '../../reconcile/live/watches.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import { loadState } from '../input/loaded-state.ts';

export interface PlannedState {
  readonly state: ClusterState;
  readonly cluster: LiveCluster;
  readonly planning: Planning;
}

export function plannedState(state: ClusterState, now: Date): PlannedState {
  const cluster = loadState(state);
  const planning = assemblePlanning({
    cluster,
    writer: { read: async (ref) => await readFrom(state, ref) },
    // A plan is about objects, not about the end of a whole kind.
    kinds: { isKindTerminating: async () => await Promise.resolve(false) },
    clock: { now: () => now, monotonic: () => 0 },
    orphaned: () => undefined,
    isPlan: true,
    install: state.install,
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

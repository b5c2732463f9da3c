// Words what the reconciler would not do as rows: conflicts, missing sources, held deletions, skipped contents.
import type { Desired } from '../../policy/desired/desired.ts';
import { heldText } from '../../policy/plan/fuse.ts';
import type { ObjectResult } from '../../policy/plan/object-result.ts';
import { confirmDeletionsAnnotation } from '../../schema/names.ts';
import { nameOf } from '../../base/metadata.ts';
import { kindOfKey, nameOfKey, roleBindingType, type ObjectKey } from '../../policy/terms/object-key.ts';
import type { NamespacePlan } from '../../reconcile/namespace/namespace-planner.ts';
import type { Planning } from '../../reconcile/planning.ts';
import type { ClusterState, InstallFacts } from '../input/cluster-state.ts';
import type { PlanChange } from '../output-schemas/plan-output.ts';
import { plannedObject } from './step-rows.ts';

interface ResultSources {
  readonly planning: Planning;
  readonly state: ClusterState;
}

/** Returns undefined for an object that is as it should be. */
export function resultRow(
  result: ObjectResult,
  { desired, namespaceObject }: Pick<NamespacePlan, 'desired' | 'namespaceObject'>,
  sources: ResultSources,
): PlanChange | undefined {
  if (result.state === 'synced') return undefined;
  const { provider, key, reason } = result;
  const namespace = nameOf(namespaceObject);
  return {
    action: actionOf(result, kindOfKey(key), sources.state),
    object: plannedObject(
      { type: typeOf(key, namespace, desired, sources), name: nameOfKey(key) },
      namespace,
    ),
    provider,
    certain: true,
    reason,
    message: messageOf(result, sources),
  };
}

function actionOf(
  { state, reason }: ObjectResult,
  kind: string,
  { unread }: ClusterState,
): PlanChange['action'] {
  // What this account may not read, Reeve may.
  if (reason === 'ApiError') return 'unknown';
  if (reason === 'KindUnavailable' && unread.some((each) => each.kind === kind)) return 'unknown';
  if (state === 'conflict') return 'conflict';
  if (state === 'failed') return 'blocked';
  return reason === 'TooManyDeletions' ? 'held' : 'kept';
}

function messageOf({ provider, reason, message }: ObjectResult, { planning, state }: ResultSources): string {
  if (reason === 'TooManyDeletions') {
    const verdict = planning.fuse.verdictOf(provider);
    if (verdict.kind !== 'hold') return message;
    return `${heldText(verdict.held)}; the annotation ${confirmDeletionsAnnotation}: "${verdict.held.count}" allows that`;
  }
  const hidden = state.unread.find(({ kind }) => kind.startsWith('Secret '));
  return reason === 'ApiError' && hidden !== undefined
    ? `${hidden.kind} could not be read: ${hidden.reason}`
    : message;
}

function typeOf(key: ObjectKey, namespace: string, desired: Desired, { planning }: ResultSources) {
  const claim = desired.claims.get(key)?.[0] ?? desired.fields.get(key)?.[0];
  const type = claim?.type ?? planning.objects.get(namespace, key)?.type;
  return type ?? { apiVersion: key.split('/', 1)[0] ?? '', kind: kindOfKey(key) };
}

/** Contents without a label that they need, and providers whose objects stay because of an error. */
export function contentRows(
  { desired, namespaceObject }: NamespacePlan,
  { allowedKinds }: InstallFacts,
): readonly PlanChange[] {
  const namespace = nameOf(namespaceObject);
  return [
    ...desired.skipped.map(({ provider, kind, name, message }): PlanChange => ({
      action: 'skipped',
      object: plannedObject(
        { type: allowedKinds.find((type) => type.kind === kind) ?? { ...roleBindingType, kind }, name },
        namespace,
      ),
      provider,
      certain: true,
      message,
    })),
    ...[...desired.frozen].flatMap(([provider, { reason, message }]): readonly PlanChange[] =>
      reason === 'Suspended' ? [] : [{ action: 'kept', provider, certain: true, reason, message }],
    ),
  ];
}

// Plans one namespace: what Reeve would write there, and what it would leave alone for which reason.
import { keyPath, nameOf, withMetadata, type KubeObject } from '../../base/metadata.ts';
import { isManaged, type Desired } from '../../policy/desired/desired.ts';
import type { ObjectResult } from '../../policy/plan/observed.ts';
import { keptReasons, type KeyRepairs } from '../../policy/plan/repair.ts';
import type { NamespacePlan } from '../../reconcile/namespace/namespace-planner.ts';
import { namespaceType, type PlanningState } from '../input/loaded-state.ts';
import type { PlanChange } from '../output-schemas/plan-output.ts';
import { plannedObject, stepRow } from './step-rows.ts';
import { heldText } from '../../policy/plan/fuse.ts';
import { confirmDeletionsAnnotation } from '../../schema/names.ts';
import { kindOfKey, nameOfKey, type ObjectKey } from '../../base/object-type.ts';
import type { Planning } from '../../reconcile/planning.ts';
import type { ClusterState } from '../input/cluster-state.ts';

/** Enforced values can contradict each other for ever. Reeve leaves such a Namespace alone for a while then. */
const maxRounds = 8;

const neverAborted = new AbortController().signal;

/** Adds the missing defaults to the state, one after the other, because a default can make another policy match. */
export function repairRows({ cluster, planning }: PlanningState, name: string): readonly PlanChange[] {
  const rows: PlanChange[] = [];
  for (let round = 0; round < maxRounds; round += 1) {
    const namespaceObject = cluster.snapshot().namespace(name);
    if (namespaceObject === undefined || !isManaged(namespaceObject, cluster.snapshot())) return rows;
    const found = planning.audits.keyRepairs(namespaceObject);
    if (found === undefined) return rows;
    if (found.keys.length === 0) return [...rows, ...found.kept.map((each) => keptRow(name, each))];
    rows.push(...found.keys.map((key) => labelRow(name, key, found)));
    cluster.namespaces.changed(repaired(namespaceObject, found));
  }
  return rows;
}

function labelRow(
  name: string,
  { provider, field, key, before }: KeyRepairs['keys'][number],
  found: KeyRepairs,
): PlanChange {
  const after = JSON.stringify(found[field].get(key));
  const change =
    before === undefined
      ? { change: 'added' as const }
      : { change: 'changed' as const, before: JSON.stringify(before) };
  return {
    action: 'label set',
    object: plannedObject({ type: namespaceType, name }),
    provider,
    certain: true,
    diff: [{ path: keyPath(field, key), ...change, after }],
  };
}

const keptActions = { conflict: 'conflict', 'not-allowed': 'blocked', wave: 'kept' } as const;

function keptRow(name: string, { provider, why, message }: KeyRepairs['kept'][number]): PlanChange {
  const action = keptActions[why];
  const object = plannedObject({ type: namespaceType, name });
  return { action, object, provider, certain: true, reason: keptReasons[why], message };
}

/** Removes the version, so that the object replaces the known one. */
function repaired(namespaceObject: KubeObject, { labels, annotations }: KeyRepairs): KubeObject {
  const added = withMetadata(withMetadata(namespaceObject, 'labels', labels), 'annotations', annotations);
  const { resourceVersion: _version, ...metadata } = added.metadata;
  return { ...added, metadata };
}

/** Returns undefined for a namespace that is excluded or being deleted. */
export async function namespaceRows(
  planned: PlanningState,
  name: string,
): Promise<readonly PlanChange[] | undefined> {
  const plan = await planned.planning.planner.plan(name, neverAborted);
  if (plan === undefined) return undefined;
  const rows = [
    ...plan.steps.map((step) => stepRow(step, planned.state)),
    ...plan.outcomes.map((outcome) => resultRow(outcome, plan, planned)),
    ...contentRows(plan),
  ];
  return rows.filter((row) => row !== undefined);
}

// Turns everything that the reconciler would not do into rows: conflicts, missing sources, held deletions, skipped contents.

interface ResultSources {
  readonly planning: Planning;
  readonly state: ClusterState;
}

/** Returns undefined for an object in sync. */
function resultRow(
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
  // Reeve may be allowed to read what this account may not read.
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

/** Returns rows for contents that lack a label, and for providers whose objects stay because of an error. */
function contentRows({ desired, namespaceObject }: NamespacePlan): readonly PlanChange[] {
  const namespace = nameOf(namespaceObject);
  return [
    ...desired.skipped.map(({ provider, type, name, message }): PlanChange => ({
      action: 'skipped',
      object: plannedObject({ type, name }, namespace),
      provider,
      certain: true,
      message,
    })),
    ...[...desired.frozen].flatMap(([provider, { reason, message }]): readonly PlanChange[] =>
      reason === 'Suspended' ? [] : [{ action: 'kept', provider, certain: true, reason, message }],
    ),
  ];
}

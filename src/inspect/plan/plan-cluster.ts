// Plans a state after files are applied: the reconciler's own parts, fed once, say what they would write.
import { cliApiVersion } from '../../api/names.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { nameOf } from '../../base/metadata.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import { objectKey, serviceAccountType } from '../../policy/terms/object-key.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import { assumedAccount } from '../input/file-state.ts';
import {
  applied,
  applyTo,
  loadState,
  namespaceType,
  shownProblems,
  type AppliedObject,
} from '../input/loaded-state.ts';
import type { PlanChange, PlannedProvider, PlanOutput } from '../output-schemas/plan-output.ts';
import { isProviderOrIntent, previewNamespace, previewProvider } from './admission-preview.ts';
import { namespaceRows, repairRows } from './plan-namespace.ts';
import { countsOf, orderedRows } from './plan-summary.ts';
import { plannedState, type PlannedState } from './planned-state.ts';
import { Refusals } from './refused-if-recreated.ts';
import { plannedObject } from './step-rows.ts';

export interface PlanRequest {
  /** The state without the files. */
  readonly base: ClusterState;
  /** What would be applied. */
  readonly objects: readonly KubeObject[];
  readonly now: Date;
}

type Rows = Map<string, readonly PlanChange[]>;

/** Leaves out what is refused: everything else is planned as if it had not been sent. */
export async function planCluster({ base, objects, now }: PlanRequest): Promise<PlanOutput> {
  const before = loadState(base).snapshot();
  const providers: PlannedProvider[] = [];
  const accepted = objects.filter((object) => {
    if (!isProviderOrIntent(object)) return !isNamespace(object);
    const provider = previewProvider(applyTo(base, object), before, base.install, now);
    providers.push(provider);
    return provider.refused === undefined;
  });
  const planned = plannedState(applied(base, accepted), now);
  const rows: Rows = new Map();
  for (const object of objects.filter(isNamespace))
    rows.set(nameOf(object), admit(planned, applyTo(base, object), now));
  const { leftOut, count } = await planAll(planned, rows);
  const changed = new Set(providers.filter(({ change }) => change !== 'unchanged').map(({ id }) => id));
  addRefusals(planned, rows, new Refusals(before, now), changed);
  const namespaces = orderedRows(rows);
  return {
    apiVersion: cliApiVersion,
    kind: 'Plan',
    documents: objects.length,
    origin: base.origin,
    planned: count,
    state: base.isCluster ? 'cluster' : 'files',
    complete: base.unread.length === 0,
    counts: countsOf(namespaces),
    leftOut,
    unread: base.unread,
    providers,
    invalid: invalidIn(planned),
    namespaces,
  };
}

function invalidIn({ cluster }: PlannedState): PlanOutput['invalid'] {
  return [...cluster.providers()]
    .filter(({ definition }) => definition === undefined)
    .map(({ state, problems }) => ({ id: state.id, message: shownProblems(problems) }));
}

function isNamespace({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === namespaceType.apiVersion && kind === namespaceType.kind;
}

/** Puts the Namespace into the state as the webhook would let it be stored. */
function admit({ cluster, planning }: PlannedState, write: AppliedObject, now: Date): readonly PlanChange[] {
  const name = nameOf(write.object);
  const result = previewNamespace(write, cluster.snapshot(), now);
  const about = { object: plannedObject({ type: namespaceType, name }), certain: true };
  if (result.kind === 'refused') return [{ action: 'refused', ...about, message: result.message }];
  const { resourceVersion: _version, ...metadata } = result.object.metadata;
  cluster.namespaces.changed({ ...result.object, metadata });
  const key = objectKey(serviceAccountType, 'default');
  // Kubernetes creates this account in every new namespace.
  if (planning.accounts.isSynced && planning.accounts.get(name, key) === undefined)
    planning.accounts.sink.changed(assumedAccount(name));
  if (write.stored !== undefined) return [];
  const warnings = result.warnings.map((text) => `the API server would warn: ${text}`);
  return [{ action: 'create', ...about, message: ['one of the files', ...warnings].join('\n') }];
}

/** All repairs come first, because the fuse counts over all namespaces. */
async function planAll(planned: PlannedState, rows: Rows): Promise<{ leftOut: number; count: number }> {
  const { cluster } = planned;
  const names = [...cluster.snapshot().namespaces()].map(nameOf);
  const add = (name: string, more: readonly PlanChange[]): unknown =>
    more.length === 0 ? undefined : rows.set(name, [...(rows.get(name) ?? []), ...more]);
  for (const name of names) add(name, repairRows(planned, name));
  let count = 0;
  for (const name of names) {
    const found = await namespaceRows(planned, name);
    if (found === undefined) continue;
    count += 1;
    add(name, found);
  }
  return { count, leftOut: names.length - count };
}

function addRefusals(
  { cluster }: PlannedState,
  rows: Rows,
  refusals: Refusals,
  changed: ReadonlySet<string>,
): void {
  const snapshot = cluster.snapshot();
  for (const namespaceObject of snapshot.namespaces()) {
    if (!isManaged(namespaceObject, snapshot)) continue;
    const found = refusals.rowsOf(namespaceObject, snapshot, changed);
    const name = nameOf(namespaceObject);
    if (found.length > 0) rows.set(name, [...(rows.get(name) ?? []), ...found]);
  }
}

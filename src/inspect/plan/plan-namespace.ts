// Plans one namespace: what Reeve would write there, what it would not do, and why.
import { keyPath, nameOf, withMetadata, type KubeObject } from '../../base/metadata.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import { isDefaultAccount } from '../../policy/plan/ownership.ts';
import type { MissingDefaults } from '../../policy/plan/repair.ts';
import type { DoneStep } from '../../reconcile/events.ts';
import { unknownAccounts } from '../../reconcile/namespace/account-keeper.ts';
import { AccountsPlanner } from '../../reconcile/namespace/accounts-planner.ts';
import type { NamespacePlan } from '../../reconcile/namespace/namespace-planner.ts';
import { notCreatedYet } from '../../reconcile/namespace/step-executor.ts';
import { namespaceType } from '../input/loaded-state.ts';
import type { PlanChange } from '../output-schemas/plan-output.ts';
import type { PlannedState } from './planned-state.ts';
import { contentRows, resultRow } from './result-rows.ts';
import { accountRow, plannedObject, stepRow } from './step-rows.ts';

const neverAborted = new AbortController().signal;

/** Adds the missing defaults to the state. One of them can make another policy match, so it looks again after each. */
export function repairRows({ cluster, planning }: PlannedState, name: string): readonly PlanChange[] {
  const rows: PlanChange[] = [];
  for (;;) {
    const namespaceObject = cluster.snapshot().namespace(name);
    if (namespaceObject === undefined || !isManaged(namespaceObject, cluster.snapshot())) return rows;
    const missing = planning.audits.missingDefaults(namespaceObject);
    if (missing === undefined) return rows;
    rows.push(...missing.keys.map((key) => labelRow(name, key, missing)));
    cluster.namespaces.changed(repaired(namespaceObject, missing));
  }
}

function labelRow(
  name: string,
  { provider, field, key }: MissingDefaults['keys'][number],
  missing: MissingDefaults,
): PlanChange {
  return {
    action: 'label set',
    object: plannedObject({ type: namespaceType, name }),
    provider,
    certain: true,
    diff: [{ path: keyPath(field, key), change: 'added', after: JSON.stringify(missing[field].get(key)) }],
  };
}

/** An object without a version replaces the known one. */
function repaired(namespaceObject: KubeObject, { labels, annotations }: MissingDefaults): KubeObject {
  const added = withMetadata(withMetadata(namespaceObject, 'labels', labels), 'annotations', annotations);
  const { resourceVersion: _version, ...metadata } = added.metadata;
  return { ...added, metadata };
}

/** Returns undefined for a namespace that is excluded or being deleted. */
export async function namespaceRows(
  planned: PlannedState,
  name: string,
): Promise<readonly PlanChange[] | undefined> {
  const plan = await planned.planning.planner.plan(name, neverAborted);
  if (plan === undefined) return undefined;
  const rows = [
    ...plan.steps.map((step) => rowOf(step, plan, planned)),
    ...plan.outcomes.map((outcome) => resultRow(outcome, plan, planned)),
    ...contentRows(plan, planned.state.install),
    ...(await accountRows(planned, plan)),
  ];
  return rows.filter((row) => row !== undefined);
}

function rowOf(step: DoneStep, plan: NamespacePlan, planned: PlannedState): PlanChange | undefined {
  const isEarly = step.kind === 'create' && isDefaultAccount(step.claim.type, step.claim.name);
  return isEarly ? resultRow(notCreatedYet(step), plan, planned) : stepRow(step, planned.state);
}

async function accountRows(
  planned: PlannedState,
  plan: NamespacePlan,
): Promise<readonly (PlanChange | undefined)[]> {
  const { planning, cluster } = planned;
  const { desired, namespaceObject } = plan;
  const namespace = nameOf(namespaceObject);
  const planner = new AccountsPlanner({ ...planning, cluster });
  const keys = [...planner.keysIn(namespace, desired)];
  if (keys.length > 0 && !planning.accounts.isSynced)
    return unknownAccounts(desired).flatMap(({ outcome }) =>
      outcome === undefined ? [] : resultRow(outcome, plan, planned),
    );
  if (keys.length > 0) await planner.prepare(neverAborted);
  return keys.flatMap((key) => {
    const { step, results } = planner.plan(namespace, key, desired);
    return [
      ...results.map((result) => resultRow(result, plan, planned)),
      ...(step === undefined ? [] : [accountRow(step)]),
    ];
  });
}

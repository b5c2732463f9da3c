// Plans a state with files applied, and compares this plan with the plan of today. The reconciler's own parts do the planning.
import { cliApiVersion } from '../../schema/names.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import { rfc3339 } from '../../base/time.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import type { CompiledPolicy } from '../../policy/compile/compile-policy.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import { differingDefaults } from '../../policy/decide/differing-defaults.ts';
import { unlimitedBudget } from '../../policy/terms/budget.ts';
import { deniesIn } from '../../policy/terms/match.ts';
import {
  objectKey,
  roleBindingType,
  roleType,
  secretObjectType,
  serviceAccountType,
  type ObjectType,
} from '../../base/object-type.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import { assumedAccount } from '../input/file-state.ts';
import {
  applied,
  applyTo,
  namespaceType,
  shownProblems,
  type AppliedObject,
  planningState,
  type PlanningState,
} from '../input/loaded-state.ts';
import type {
  PlanChange,
  PlannedNamespace,
  PlannedProvider,
  PlanOutput,
} from '../output-schemas/plan-output.ts';
import { previewNamespace, previewProvider, resourceOfReeve } from './admission-preview.ts';
import { namespaceRows, repairRows } from './plan-namespace.ts';
import { countsOf, knownIn, orderedRows } from './plan-summary.ts';
import { changedViolations, type JudgedObjects } from './changed-violations.ts';
import { plannedObject } from './step-rows.ts';
import { auditNamespace } from '../../policy/decide/audit.ts';
import { withNamespaceDefaults } from '../../policy/decide/mutate.ts';
import { violationLine } from '../../policy/decide/settle.ts';

export interface PlanRequest {
  /** The state without the files. */
  readonly base: ClusterState;
  /** The objects that would be applied. */
  readonly objects: readonly KubeObject[];
  /** Stored objects that would be deleted. */
  readonly deleted?: readonly KubeObject[];
  /** The objects that rules of policies judge. Default: those of the base. */
  readonly existing?: Partial<JudgedObjects> | undefined;
  readonly now: Date;
}

type Rows = Map<string, readonly PlanChange[]>;

/** An object that is refused is left out. The rest is planned as if that object were not sent. */
export async function planCluster(request: PlanRequest): Promise<PlanOutput> {
  const { base, objects, deleted = [], now } = request;
  const today = planningState(base, now);
  const before = today.cluster.snapshot();
  const { providers, accepted } = await previews(request, before);
  const planned = planningState(applied(base, accepted), now);
  const rows: Rows = new Map();
  for (const object of objects.filter(isNamespace))
    rows.set(nameOf(object), await admit(planned, applyTo(base, object), now));
  const knownRows: Rows = new Map();
  await planAll(today, knownRows);
  const { leftOut, count } = await planAll(planned, rows);
  const changed = new Set(providers.filter(({ change }) => change !== 'unchanged').map(({ id }) => id));
  addRefusals(planned, rows, new Refusals(before, now), changed);
  const namespaces = orderedRows(withKnown(rows, knownRows));
  const found = {
    invalid: invalidIn(planned, today),
    violations: await changedViolations({
      today,
      planned,
      existing: { ...existingIn(base), ...request.existing },
      applied: accepted.map((object) => applyTo(base, object).object),
      isDeleted: deletionsOf(rows),
      now,
    }),
    namespaces,
  };
  return {
    apiVersion: cliApiVersion,
    kind: 'Plan',
    documents: objects.length,
    deletions: deleted.length,
    origin: base.origin,
    planned: count,
    state: base.isCluster ? 'cluster' : 'files',
    complete: base.unread.length === 0,
    counts: countsOf(namespaces),
    known: knownIn(found),
    leftOut,
    unread: base.unread,
    providers: withLaterWarnings(providers, planned.cluster.snapshot()),
    ...found,
  };
}

/** Returns what Reeve would write in the state as it is. */
export async function planToday(base: ClusterState, now: Date): Promise<readonly PlannedNamespace[]> {
  const rows: Rows = new Map();
  await planAll(planningState(base, now), rows);
  return orderedRows(rows);
}

/** Judges each policy, share, binding and intent. Accepts all objects that are not refused, apart from Namespaces. */
async function previews({ base, objects, deleted = [], now }: PlanRequest, before: ClusterSnapshot) {
  const providers: PlannedProvider[] = [];
  const accepted: KubeObject[] = [];
  const setup = { snapshot: before, install: base.install, now };
  for (const object of [...objects, ...deleted.map((each) => terminating(each, now))]) {
    const resource = resourceOfReeve(object);
    const provider = resource && (await previewProvider(resource, applyTo(base, object), setup));
    if (provider !== undefined) providers.push(provider);
    if (provider?.refused === undefined && !isNamespace(object)) accepted.push(object);
  }
  return { providers, accepted };
}

function terminating(object: KubeObject, now: Date): KubeObject {
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: rfc3339(now) } };
}

/** Warns of differences between two policies of the files, as the API server would when it gets the later policy. */
function withLaterWarnings(
  providers: readonly PlannedProvider[],
  snapshot: ClusterSnapshot,
): readonly PlannedProvider[] {
  const policies = new Map<string, CompiledPolicy>(
    snapshot.policies.policies.map((policy) => [policy.id, policy]),
  );
  const earlier = new Set<string>();
  return providers.map((provider) => {
    const { id, change, warnings } = provider;
    const policy = policies.get(id);
    if (policy === undefined || change === 'unchanged' || provider.refused !== undefined) return provider;
    const more = differingDefaults(policy, snapshot, unlimitedBudget)
      .filter(({ others }) => others.some((other) => earlier.has(other)))
      .map(({ message }) => `${id}: ${message}`)
      .filter((text) => !warnings.includes(text));
    earlier.add(id);
    return { ...provider, warnings: [...warnings, ...more] };
  });
}

/** Marks the rows that the plan of today has, too. */
function withKnown(rows: Rows, known: Rows): Rows {
  return new Map(
    [...rows].map(([name, changes]) => {
      const old = new Set(known.get(name)?.map((change) => JSON.stringify(change)));
      return [
        name,
        changes.map((change) => (old.has(JSON.stringify(change)) ? { ...change, known: true } : change)),
      ];
    }),
  );
}

/** A state of a cluster has no Roles, and only the metadata of Secrets, so both count as not read. */
function existingIn(base: ClusterState): JudgedObjects {
  const of = (type: ObjectType): JudgedObjects['roles'] => {
    const unread = base.unread.find(({ kind }) => kind === type.kind);
    return unread === undefined ? { objects: base.objects(type) } : { unread: unread.reason };
  };
  const more = (type: ObjectType) => (base.isCluster ? { unread: 'not read' } : of(type));
  return { roles: more(roleType), rolebindings: of(roleBindingType), secrets: more(secretObjectType) };
}

function deletionsOf(rows: Rows): (object: KubeObject) => boolean {
  const deleted = new Set(
    [...rows.values()]
      .flat()
      .flatMap(({ action, object }) => (action === 'delete' ? [JSON.stringify(object)] : [])),
  );
  return ({ apiVersion = '', kind = '', metadata: { namespace, name = '' } }) =>
    deleted.has(JSON.stringify(plannedObject({ type: { apiVersion, kind }, name }, namespace)));
}

function invalidIn({ cluster }: PlanningState, today: PlanningState): PlanOutput['invalid'] {
  return [...cluster.providers()]
    .filter(({ definition }) => definition === undefined)
    .map(({ state: { id }, problems }) => {
      const stored = today.cluster.provider(id);
      const isKnown = stored !== undefined && stored.definition === undefined;
      return { id, message: shownProblems(problems), ...(isKnown ? { known: true } : {}) };
    });
}

function isNamespace({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === namespaceType.apiVersion && kind === namespaceType.kind;
}

/** Puts the Namespace into the state as the webhook would let it be stored. */
async function admit(
  { state, cluster, planning }: PlanningState,
  write: AppliedObject,
  now: Date,
): Promise<readonly PlanChange[]> {
  const name = nameOf(write.object);
  const setup = { snapshot: cluster.snapshot(), install: state.install, now };
  const result = await previewNamespace(write, setup);
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

/** Repairs all Namespaces before it plans the first one, because the fuse counts over all namespaces. */
async function planAll(planned: PlanningState, rows: Rows): Promise<{ leftOut: number; count: number }> {
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
  { cluster }: PlanningState,
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

// Finds existing Namespaces that the changed policies would refuse, if someone created them again.

class Refusals {
  readonly #before: ClusterSnapshot;
  readonly #policiesBefore: ReadonlyMap<string, CompiledPolicy>;
  readonly #now: Date;

  constructor(before: ClusterSnapshot, now: Date) {
    this.#before = before;
    this.#policiesBefore = new Map(before.policies.policies.map((policy) => [policy.id, policy]));
    this.#now = now;
  }

  /** `changed`: the policies that would be applied. A refusal that exists today is no change. */
  rowsOf(
    namespaceObject: KubeObject,
    snapshot: ClusterSnapshot,
    changed: ReadonlySet<string>,
  ): readonly PlanChange[] {
    if (changed.size === 0) return [];
    // The defaults of a creation are set before it is judged.
    const created = withNamespaceDefaults(namespaceObject, snapshot, this.#now);
    const candidates = snapshot.policies.candidates('namespaces', [created]);
    const policies = candidates.filter(({ id }) => changed.has(id));
    if (policies.length === 0) return [];
    const createdBefore = withNamespaceDefaults(namespaceObject, this.#before, this.#now);
    return policies.flatMap((policy) => {
      const known = new Set(
        this.#refusedBy(this.#policiesBefore.get(policy.id), createdBefore).map(ruleAndPath),
      );
      const found = this.#refusedBy(policy, created).filter((each) => !known.has(ruleAndPath(each)));
      return found.map((violation): PlanChange => ({
        action: 'refused-if-recreated',
        object: plannedObject({ type: namespaceType, name: nameOf(namespaceObject) }),
        provider: policy.id,
        certain: true,
        reason: violation.rule,
        message: violationLine(violation),
      }));
    });
  }

  #refusedBy(policy: CompiledPolicy | undefined, namespaceObject: KubeObject) {
    if (policy === undefined || !deniesIn(policy, namespaceObject, this.#now)) return [];
    return auditNamespace(policy, namespaceObject, { now: this.#now, budget: unlimitedBudget }).violations;
  }
}

function ruleAndPath({ rule, path }: { readonly rule: string; readonly path: string }): string {
  return `${rule} ${path}`;
}

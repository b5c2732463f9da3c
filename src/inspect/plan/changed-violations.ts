// Compares the violations of existing objects before and after files are applied, policy by policy.
import { isDeepStrictEqual } from 'node:util';
import { namespacedName, type KubeObject, nameOf } from '../../base/metadata.ts';
import { KubeError } from '../../base/kube-error.ts';
import { quotaIn } from '../../policy/compile/load-provider.ts';
import type { AuditedResource } from '../../policy/decide/audit.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import { ProviderTally } from '../../policy/status/provider-tally.ts';
import { violationLine } from '../../policy/decide/settle.ts';
import { roleBindingType, roleType, secretObjectType } from '../../base/object-type.ts';
import { compareProviders, shortName, type ProviderId } from '../../policy/terms/provider-id.ts';
import type { Violation } from '../../policy/terms/review.ts';
import { judgingParts } from '../../reconcile/audit/audit-sweeps.ts';
import { auditedResources, violationsByPolicy } from '../../reconcile/audit/object-audit.ts';
import { namespaceType, type PlanningState } from '../input/loaded-state.ts';
import type { PlannedViolation, PolicyViolations } from '../output-schemas/plan-output.ts';
import { plannedObject } from './step-rows.ts';

/** The objects of a kind, each once, or the reason why they are not known. Secrets may come page by page. */
export type JudgedObjects = Readonly<
  Record<
    AuditedResource,
    { readonly objects: Iterable<KubeObject> | AsyncIterable<KubeObject> } | { readonly unread: string }
  >
>;

interface ViolationsRequest {
  readonly today: PlanningState;
  readonly planned: PlanningState;
  readonly existing: JudgedObjects;
  /** The objects of the files. */
  readonly applied: readonly KubeObject[];
  /** Returns true for an object that Reeve would delete. */
  readonly isDeleted: (object: KubeObject) => boolean;
  readonly now: Date;
}

const auditedTypes = { roles: roleType, rolebindings: roleBindingType, secrets: secretObjectType } as const;

/** Leaves out policies without violations. */
export async function changedViolations(request: ViolationsRequest): Promise<readonly PolicyViolations[]> {
  const { today, planned } = request;
  const comparison = new Comparison();
  for (const [object, before, after] of namespaceViolations(today, planned))
    comparison.add(object, before, after);
  const unjudged = new Map<ProviderId, PolicyViolations['unjudged'][number][]>();
  for (const resource of auditedResources) {
    const reason = await unreadOrAdded(resource, request, comparison);
    if (reason === undefined) continue;
    const { kind } = auditedTypes[resource];
    for (const id of newlyJudging(resource, today, planned))
      unjudged.set(id, [...(unjudged.get(id) ?? []), { kind, reason }]);
  }
  return comparison.result(idsByName(today, planned), unjudged);
}

function idsByName(...states: readonly PlanningState[]): ReadonlyMap<string, ProviderId> {
  const policies = states.flatMap(({ cluster }) => cluster.snapshot().policies.policies);
  return new Map(policies.map(({ name, id }) => [name, id]));
}

/** Returns the policies whose violations among objects of this kind can differ after the files are applied. */
function newlyJudging(
  resource: AuditedResource,
  today: PlanningState,
  planned: PlanningState,
): readonly ProviderId[] {
  const { policies } = planned.cluster.snapshot().policies;
  return policies.flatMap(({ id }) => {
    const [before, after] = [today, planned].map(({ cluster }) =>
      judgingParts(cluster.provider(id), resource),
    );
    return after === undefined || isDeepStrictEqual(before, after) ? [] : [id];
  });
}

type ByPolicy = ReadonlyMap<string, readonly Violation[]>;
type Compared = readonly [object: PlannedViolation['object'], before: ByPolicy, after: ByPolicy];

interface Placed {
  readonly namespace: string;
  readonly byPolicy: Map<string, readonly Violation[]>;
}

function namespaceViolations(today: PlanningState, planned: PlanningState): readonly Compared[] {
  const [before, after] = [violationsOfNamespaces(today), violationsOfNamespaces(planned)];
  return [...new Map([...before, ...after])].map(([key, { namespace }]) => [
    plannedObject({ type: namespaceType, name: namespace }),
    before.get(key)?.byPolicy ?? new Map(),
    after.get(key)?.byPolicy ?? new Map(),
  ]);
}

/**
 * Returns the violations by namespace. An exceeded quota is shown at its first namespace, but its key is policy and value. So
 * it stays the same violation when another namespace becomes the first.
 */
function violationsOfNamespaces({ cluster, planning }: PlanningState): ReadonlyMap<string, Placed> {
  const all = new Map<string, Placed>();
  const add = (key: string, namespace: string, id: ProviderId, violations: readonly Violation[]): void => {
    const placed = all.get(key) ?? { namespace, byPolicy: new Map<string, readonly Violation[]>() };
    placed.byPolicy.set(shortName(id), violations);
    all.set(key, placed);
  };
  const tallies = new Map<ProviderId, ProviderTally>();
  const snapshot = cluster.snapshot();
  for (const namespaceObject of snapshot.namespaces()) {
    if (!isManaged(namespaceObject, snapshot)) continue;
    for (const [id, report] of planning.audits.addTo(new Map(), namespaceObject)) {
      const name = nameOf(namespaceObject);
      if (report.violations.length > 0) add(name, name, id, report.violations);
      const tally = tallies.get(id) ?? new ProviderTally();
      tallies.set(id, tally);
      tally.set(name, report);
    }
  }
  for (const [id, tally] of tallies)
    for (const each of tally.overQuota(quotaIn(cluster.provider(id)?.definition)))
      add(`${id} ${each.value}`, each.namespace, id, [{ ...each, policy: shortName(id) }]);
  return all;
}

/** Adds the objects, or returns the reason why they are not known. */
async function unreadOrAdded(
  resource: AuditedResource,
  request: ViolationsRequest,
  comparison: Comparison,
): Promise<string | undefined> {
  const found = request.existing[resource];
  if ('unread' in found) return found.unread;
  try {
    await addObjects(resource, found.objects, request, comparison);
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 403) throw error;
    return 'this account may not read it';
  }
}

async function addObjects(
  resource: AuditedResource,
  objects: Iterable<KubeObject> | AsyncIterable<KubeObject>,
  { today, planned, applied, isDeleted, now }: ViolationsRequest,
  comparison: Comparison,
): Promise<void> {
  const [before, after] = [today.cluster.snapshot(), planned.cluster.snapshot()];
  if (!before.policies.judges(resource) && !after.policies.judges(resource)) return;
  const { apiVersion, kind } = auditedTypes[resource];
  const written = new Map(
    applied
      .filter((each) => each.apiVersion === apiVersion && each.kind === kind)
      .map((each) => [namespacedName(each), each]),
  );
  const add = (old: KubeObject | undefined, next: KubeObject | undefined): void => {
    const { namespace = '', name = '' } = (next ?? old ?? { metadata: {} }).metadata;
    comparison.add(
      plannedObject({ type: auditedTypes[resource], name }, namespace),
      old === undefined ? new Map() : violationsByPolicy(resource, old, before, now),
      next === undefined ? new Map() : violationsByPolicy(resource, next, after, now),
    );
  };
  for await (const object of objects) {
    const next = written.get(namespacedName(object)) ?? object;
    written.delete(namespacedName(object));
    add(object, isDeleted(object) ? undefined : next);
  }
  for (const object of written.values()) add(undefined, object);
}

interface Found {
  readonly byKind: Map<string, number>;
  readonly fresh: PlannedViolation[];
  known: number;
  ended: number;
}

/** Adds up the violations of each policy by its name, object by object. */
class Comparison {
  readonly #found = new Map<string, Found>();

  add(object: PlannedViolation['object'], before: ByPolicy, after: ByPolicy): void {
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      const found = this.#found.get(name) ?? {
        byKind: new Map<string, number>(),
        fresh: [],
        known: 0,
        ended: 0,
      };
      this.#found.set(name, found);
      const [old, now] = [before.get(name) ?? [], after.get(name) ?? []];
      const [oldPlaces, places] = [new Set(old.map(placeOf)), new Set(now.map(placeOf))];
      const fresh = now.filter((each) => !oldPlaces.has(placeOf(each)));
      found.known += now.length - fresh.length;
      found.ended += old.filter((each) => !places.has(placeOf(each))).length;
      found.fresh.push(...fresh.map((each) => violationRow(object, each)));
      if (now.length > 0) found.byKind.set(object.kind, (found.byKind.get(object.kind) ?? 0) + now.length);
    }
  }

  result(
    ids: ReadonlyMap<string, ProviderId>,
    unjudged: ReadonlyMap<ProviderId, PolicyViolations['unjudged']>,
  ): readonly PolicyViolations[] {
    const found = new Map(
      [...this.#found].flatMap(([name, each]) => {
        const id = ids.get(name);
        return id === undefined ? [] : [[id, each] as const];
      }),
    );
    return [...new Set([...found.keys(), ...unjudged.keys()])].sort(compareProviders).map((policy) => {
      const {
        byKind = new Map<string, number>(),
        fresh = [],
        known = 0,
        ended = 0,
      } = found.get(policy) ?? {};
      return {
        policy,
        count: known + fresh.length,
        known,
        ended,
        byKind: Object.fromEntries([...byKind].sort(([a], [b]) => (a < b ? -1 : 1))),
        unjudged: unjudged.get(policy) ?? [],
        new: fresh,
      };
    });
  }
}

function placeOf({ rule, path }: Violation): string {
  return `${rule} ${path}`;
}

function violationRow(object: PlannedViolation['object'], violation: Violation): PlannedViolation {
  return { object, rule: violation.rule, message: violationLine(violation) };
}

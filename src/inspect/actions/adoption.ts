// Finds existing objects that a provider wants and may not take over yet, and what it would do with them once offered.
import { adoptLabel, cliApiVersion, group, managedByLabel } from '../../schema/names.ts';
import { ownMember } from '../../base/json.ts';
import { type KubeObject, type ObjectRef, withMetadata } from '../../base/metadata.ts';
import { clipped } from '../../base/text.ts';
import { ownershipOf } from '../../policy/plan/observed.ts';
import { isSameObjectType, secretObjectType } from '../../base/object-type.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import { withObjects, type ClusterState } from '../input/cluster-state.ts';
import type { AdoptionOutput } from '../output-schemas/confirmation.ts';
import type { PlanChange, PlannedNamespace } from '../output-schemas/plan-output.ts';
import { planToday } from '../plan/plan-cluster.ts';
import { inScope } from '../plan/plan-summary.ts';

interface AdoptionRequest {
  readonly base: ClusterState;
  readonly id: ProviderId;
  /** Names of namespaces. Empty: all. */
  readonly namespaces: readonly string[];
  readonly now: Date;
  /** Reads a whole Secret. Undefined if this account may not, or if the Secret does not exist any more. */
  readonly readSecret: (ref: ObjectRef) => Promise<KubeObject | undefined>;
}

interface FoundAdoption {
  /** The plan before any object is marked. */
  readonly output: AdoptionOutput;
  /** The objects to mark, in the order of the output. */
  readonly offers: readonly KubeObject[];
}

/** Plans the state as it is, and the state in which the objects are offered. */
export async function findAdoption(request: AdoptionRequest): Promise<FoundAdoption> {
  const { base, id } = request;
  const conflicts = (await rowsOf(base, request)).flatMap(({ name, changes }) =>
    changes.filter(isConflict).map((change) => ({ namespace: name, change, live: liveOf(change, base) })),
  );
  const known = conflicts.flatMap(({ live }) => live ?? []);
  const free = known.filter((live) => !ownershipOf(typeOf(live), live).lacksOwner);
  const whole = await Promise.all(free.map((live) => withContent(live, request)));
  const later = await rowsOf(withObjects(base, whole.map(offered)), request);
  const rows = conflicts.map(({ namespace, change, live }) => {
    const next = later
      .find(({ name }) => name === namespace)
      ?.changes.find((each) => isSameObject(each, change));
    const row = next ?? change;
    return { namespace, live, row: isConflict(row) ? withController(row, live) : withoutMarks(row) };
  });
  const adoptable = rows.filter(({ row }) => isAdoptable(row));
  const output: AdoptionOutput = {
    apiVersion: cliApiVersion,
    kind: 'Adoption',
    provider: id,
    dryRun: false,
    complete: base.unread.length === 0,
    unread: base.unread,
    adoptable: adoptable.length,
    namespaces: [...Map.groupBy(rows, ({ namespace }) => namespace)].map(([name, all]) => ({
      name,
      changes: all.map(({ row }) => row),
    })),
    marked: [],
    failed: [],
  };
  return { output, offers: adoptable.flatMap(({ live }) => live ?? []) };
}

async function rowsOf(
  base: ClusterState,
  { id, namespaces, now }: AdoptionRequest,
): Promise<readonly PlannedNamespace[]> {
  const all = await planToday(base, now);
  return inScope(all, { namespaces: new Set(namespaces), providers: new Set([id]) });
}

/** Returns true if an offer helps. It does not help against another provider, or a client that keeps writing. */
function isConflict({ action, reason }: PlanChange): boolean {
  return action === 'conflict' && reason === 'AlreadyExists';
}

/** `unknown`: this account may not read the content, but Reeve may. */
function isAdoptable({ action }: PlanChange): boolean {
  return action === 'update' || action === 're-create' || action === 'unknown';
}

function liveOf({ object }: PlanChange, base: ClusterState): KubeObject | undefined {
  return object && base.find(object, object.namespace ?? '', object.name);
}

function typeOf({ apiVersion = '', kind = '' }: KubeObject) {
  return { apiVersion, kind };
}

/** Lists of Secrets hold only metadata, so the content of each offered Secret is read by itself. */
async function withContent(live: KubeObject, { readSecret }: AdoptionRequest): Promise<KubeObject> {
  const { namespace = '', name = '' } = live.metadata;
  if (!isSameObjectType(typeOf(live), secretObjectType)) return live;
  const found = await readSecret({ ...secretObjectType, namespace, name });
  const isSame = found !== undefined && found.metadata.uid === live.metadata.uid;
  return isSame ? { ...found, ...secretObjectType } : live;
}

function offered(live: KubeObject): KubeObject {
  return withMetadata(live, 'labels', new Map([[adoptLabel, 'true']]));
}

function isSameObject(a: PlanChange, b: PlanChange): boolean {
  return a.object?.kind === b.object?.kind && a.object?.name === b.object?.name;
}

/** Every adopted object gets the labels and annotations of Reeve. */
function withoutMarks(row: PlanChange): PlanChange {
  const diff = row.diff?.filter(
    ({ path, before }) => before !== undefined || !marks.some((mark) => path.includes(mark)),
  );
  if (diff === undefined || diff.length > 0 || row.action !== 'update')
    return { ...row, ...(diff && { diff }) };
  return { ...row, diff, message: row.message ?? 'only the marks of Reeve are added' };
}

const marks = [managedByLabel, `"${group}/`];

/** Adds the controller to the message. The engine knows nothing of the live object's controller. */
function withController(row: PlanChange, live: KubeObject | undefined): PlanChange {
  const owner = live?.metadata.ownerReferences?.find((each) => ownMember(each, 'controller') === true);
  if (owner === undefined) return row;
  const { kind = '', name = '' } = owner;
  const message =
    `${clipped(kind)} ${clipped(name)} controls it, and its controller would write against Reeve: stop that program, ` +
    `then delete the ${clipped(kind)} with --cascade=orphan, which keeps this object`;
  return { ...row, message };
}

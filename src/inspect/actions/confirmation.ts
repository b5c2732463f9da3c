// Finds which objects of a provider wait for a confirmation of their deletion, and the annotation that confirms it.
import { cliApiVersion, confirmDeletionsAnnotation } from '../../schema/names.ts';
import { type KubeObject, annotationsOf } from '../../base/metadata.ts';
import { versionsOf, writeContexts, reportedOn } from '../../policy/authors/provider-write.ts';
import { impactOf, totalOf } from '../../policy/authors/impact.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import { confirmedCount, unusedConfirmation } from '../../policy/plan/fuse.ts';
import { recentIn } from '../../policy/terms/deletion-record.ts';
import { unlimitedBudget, type Steps } from '../../policy/terms/budget.ts';
import {
  kindOfProvider,
  nameOfProvider,
  namespaceOfProvider,
  providerRef,
  type ProviderId,
  type ProviderState,
} from '../../policy/terms/provider-id.ts';
import { withObjects, type ClusterState } from '../input/cluster-state.ts';
import { loadState } from '../input/loaded-state.ts';
import type { ConfirmationOutput, ConfirmedRemoval } from '../output-schemas/confirmation.ts';
import type { PlanChange } from '../output-schemas/plan-output.ts';
import { planToday } from '../plan/plan-cluster.ts';
import { clipped, counted } from '../../base/text.ts';

interface ConfirmationRequest {
  readonly base: ClusterState;
  readonly id: ProviderId;
  /** True for the objects that the deletion of the provider would delete. False for the objects that it no longer wants now. */
  readonly isForDeletion: boolean;
  readonly now: Date;
}

/** Returns undefined if the provider does not exist. */
export async function findConfirmation(
  request: ConfirmationRequest,
): Promise<ConfirmationOutput | undefined> {
  const { base, id, isForDeletion, now } = request;
  const stored = storedProvider(base, id);
  const snapshot = loadState(base).snapshot();
  const state = snapshot.providers.get(id);
  if (stored === undefined || state === undefined) return undefined;
  const { maxDeletions } = state;
  const about = {
    apiVersion: cliApiVersion,
    kind: 'Confirmation',
    provider: id,
    forDeletion: isForDeletion,
    maxDeletions,
  } as const;
  const reason = whyAllStay(state, isForDeletion);
  if (reason !== undefined) return { ...about, outcome: 'nothing to delete', reason, objects: [] };
  const objects = await removalsOf(stored, request);
  const count = Math.max(objects.length, isForDeletion ? countOfWebhook(stored, snapshot, request) : 0);
  if (count === 0) return { ...about, outcome: 'nothing to delete', reason: whyNone(isForDeletion), objects };
  const recent = recentIn(state.deletions, now);
  // The deletion of a provider ends a hold.
  const isHeld = !isForDeletion && state.deletions.held !== undefined;
  if (!isHeld && count + recent <= maxDeletions) return { ...about, outcome: 'not needed', objects };
  const found = recent === 0 ? {} : { recent };
  return { ...about, ...found, ...answerTo(state, count, isForDeletion), objects };
}

function answerTo(
  state: ProviderState,
  count: number,
  isForDeletion: boolean,
): Pick<ConfirmationOutput, 'outcome' | 'annotation'> {
  if (confirmedCount({ ...state, isDeleting: isForDeletion }) >= count)
    return { outcome: 'confirmed before', annotation: state.confirmation ?? '' };
  const annotation = unusedConfirmation(count, isForDeletion ? undefined : state.confirmationUsed);
  return { outcome: 'not confirmed', annotation };
}

export function storedProvider(base: ClusterState, id: ProviderId): KubeObject | undefined {
  return base.find(providerRef(id), namespaceOfProvider(id) ?? '', nameOfProvider(id));
}

function whyAllStay(state: ProviderState, isForDeletion: boolean): string | undefined {
  if (state.isDeleting) return 'it is being deleted already, so a confirmation comes too late';
  if (state.deletionPolicy === 'Orphan') return 'its deletionPolicy is Orphan, so its objects stay';
  if (!state.isValid) return 'its spec does not load, so its objects stay';
  if (!state.isSuspended) return undefined;
  return isForDeletion
    ? 'it is suspended, so its objects stay when it is deleted'
    : 'it is suspended, so its objects stay until it is resumed';
}

function whyNone(isForDeletion: boolean): string {
  return isForDeletion ? 'it has no objects' : 'it wants all objects that it has';
}

/** The highest number that the annotation can hold. With it, the fuse holds nothing. */
const allowsAll = '999999999';

/** Plans the state in which all deletions are confirmed. An expired RoleBinding needs no confirmation. */
async function removalsOf(
  stored: KubeObject,
  { base, id, isForDeletion, now }: ConfirmationRequest,
): Promise<readonly ConfirmedRemoval[]> {
  const { metadata } = stored;
  const annotations = { ...annotationsOf(stored), [confirmDeletionsAnnotation]: allowsAll };
  const end = isForDeletion ? { deletionTimestamp: now.toISOString() } : {};
  const confirmed = { ...stored, status: {}, metadata: { ...metadata, annotations, ...end } };
  const namespaces = await planToday(withObjects(base, [confirmed]), now);
  return namespaces
    .flatMap(({ changes }) => changes)
    .filter((change) => change.provider === id && change.reason !== 'Expired')
    .flatMap(removalIn);
}

function removalIn({ action, object }: PlanChange): readonly ConfirmedRemoval[] {
  if (object === undefined || (action !== 'delete' && action !== 'release')) return [];
  return [{ action, object }];
}

/** Returns the number that the webhook would count. The webhook sees no objects, so it counts what the provider wants. */
function countOfWebhook(
  stored: KubeObject,
  snapshot: ClusterSnapshot,
  { base, id, now }: ConfirmationRequest,
): number {
  const versions = versionsOf(
    kindOfProvider(id),
    { before: stored, after: undefined },
    writeContexts(snapshot.intents.context),
  );
  const write = { id, ...versions, reported: reportedOn(stored) };
  const circumstances = { now, budget: unlimitedBudget, install: base.install };
  return totalOf(ended(impactOf(write, snapshot, circumstances)).dropped);
}

function ended<T>(steps: Steps<T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

// Writes for people what a confirmation would let Reeve delete.

const shownObjects = 20;

export function confirmationText(output: ConfirmationOutput, isWhole: boolean): string {
  const { objects } = output;
  const shown = (isWhole ? objects : objects.slice(0, shownObjects)).map(cellsOf);
  const widths = [0, 1].map((column) => Math.max(0, ...shown.map((cells) => cells[column]?.length ?? 0)));
  const more = objects.length - shown.length;
  return [
    headline(output),
    ...shown.map((cells) =>
      `  ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
    ),
    ...(more === 0 ? [] : [`  and ${more} more (--all lists them)`]),
    '',
  ].join('\n');
}

function headline(output: ConfirmationOutput): string {
  const { provider, objects, forDeletion, maxDeletions, outcome } = output;
  const { reason = '', annotation = '', recent = 0 } = output;
  if (outcome === 'nothing to delete') return `${provider}: nothing would be deleted: ${reason}`;
  const namespaces = counted(new Set(objects.map(({ object }) => object.namespace)).size, 'namespace');
  const isAnyReleased = objects.some(({ action }) => action === 'release');
  const [removes, removed] = isAnyReleased
    ? ['delete or give back', 'deleted or given back']
    : ['delete', 'deleted'];
  const [when, verb] = forDeletion ? [`its deletion would ${removes} `, ''] : ['', ` would be ${removed}`];
  const what = `${provider}: ${when}${counted(objects.length, 'object')} in ${namespaces}${verb}`;
  if (outcome === 'not needed')
    return `${what}; maxDeletions is ${maxDeletions}, so no confirmation is needed`;
  const earlier = recent === 0 ? '' : `, after ${recent} in the ten minutes before`;
  const limit = `${what}${earlier}, and maxDeletions is ${maxDeletions}`;
  if (outcome === 'confirmed before') return `${limit}; the annotation allows ${Number(annotation)} already`;
  // The webhook does not see the objects, so it may count more than there are.
  return Number(annotation) > objects.length
    ? `${limit}; the webhook counts ${Number(annotation)}, so that is the number to confirm`
    : limit;
}

function cellsOf({ action, object }: ConfirmedRemoval): readonly string[] {
  const { namespace = '', kind, name } = object;
  const note = action === 'release' ? 'is given back: another client created it' : '';
  return [clipped(namespace), clipped(`${kind}/${name}`, 300), note];
}

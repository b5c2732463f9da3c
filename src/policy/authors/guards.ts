// Refuses writes of providers that delete too much, leave objects behind, or have an error in a match condition.
import { cleanupFinalizer, confirmDeletionsAnnotation, group } from '../../schema/names.ts';
import { ownMember } from '../../base/json.ts';
import { allowsDeletions, earlierText, parseConfirmation } from '../plan/fuse.ts';
import { annotationsOf, isTerminating, valueOf } from '../../base/metadata.ts';
import { clipped, counted, listed } from '../../base/text.ts';
import { countedWithNext } from '../terms/deletion-record.ts';
import { isBinding, kubectlName, shortName, type ProviderId } from '../terms/provider-id.ts';
import type { ProviderReview, JudgedViolation, Violation } from '../terms/review.ts';
import {
  fateOf,
  leavesObjects,
  objectsPerNamespace,
  reportedOn,
  upTo,
  type ProviderWrite,
} from './provider-write.ts';
import { totalOf, type Impact } from './impact.ts';

/**
 * Refuses a write that deletes more objects than spec.maxDeletions, unless a person has confirmed the number. Deletions of the
 * last ten minutes count, too.
 */
export function fuseViolation(
  review: ProviderReview,
  write: ProviderWrite,
  impact: Impact,
  now: Date,
): JudgedViolation | undefined {
  const limit = write.before?.object.spec.maxDeletions;
  if (limit === undefined || fateOf(write) !== 'deleted') return undefined;
  const { count, objects, where } = deletionsOf(write, impact);
  const earlier = countedWithNext(write.reported.deletions, now);
  if (count === 0 || allowsDeletions({ count, earlier, limit, confirmed: confirmedCount(review, write) }))
    return undefined;
  const { annotation, command } = confirmationOf(review, write, count);
  const when = isConfirmedBefore(write)
    ? 'To confirm, first run'
    : 'To confirm, set the annotation in the same write';
  return denied({
    rule: 'fuse',
    path: 'spec.maxDeletions',
    found: `${objects} to be deleted${earlierText(earlier)}`,
    accepted: `at most ${limit}, or annotation ${annotation}`,
    message: `this write would delete ${objects} in ${where}${earlierText(earlier)}, and spec.maxDeletions is ${limit}. ${when}: ${command}`,
  });
}

/** Refuses a write that changes values in more namespaces than spec.maxDeletions, unless a person has confirmed the number. */
export function changesViolation(
  review: ProviderReview,
  write: ProviderWrite,
  { replaced }: Impact,
): JudgedViolation | undefined {
  const limit = (write.before ?? write.after)?.object.spec.maxDeletions ?? 0;
  const names = [...new Set([...replaced.values()].flat())];
  const count = names.length;
  if (count <= limit || confirmedCount(review, write) >= count) return undefined;
  const { annotation, command } = confirmationOf(review, write, count);
  const what = `${listed([...replaced.keys()])} in ${counted(count, 'namespace')}`;
  return denied({
    rule: 'fuse',
    path: 'spec.maxDeletions',
    found: `${what} to be changed`,
    accepted: `at most ${limit}, or annotation ${annotation}`,
    message: `this write would change ${what} (${listed(names)}), and spec.maxDeletions is ${limit}. To confirm, set the annotation in the same write: ${command}`,
  });
}

/**
 * Refuses a deletion that would leave objects behind, because a user removed the finalizer. Reeve adds the finalizer again
 * within seconds.
 */
export function finalizerViolation(
  write: ProviderWrite,
  { dropped, tooDear, late }: Impact,
): JudgedViolation | undefined {
  const { synced, holdsDeletions } = write.reported;
  const leftOut = [...tooDear, ...late];
  const count = Math.min(synced, leftOut.length > 0 ? Infinity : totalOf(dropped));
  if ((count === 0 && !holdsDeletions) || !leavesObjects(write)) return undefined;
  const held = holdsDeletions ? ['the objects whose deletion waits for a confirmation'] : [];
  const objects = [...(count === 0 ? [] : [counted(count, 'object')]), ...held].join(' and ');
  const names = new Set([...dropped.keys(), ...leftOut]);
  const where = count === 0 ? '' : ` (${listed([...names])})`;
  return denied({
    rule: 'finalizer',
    path: 'metadata.finalizers',
    found: `no ${cleanupFinalizer}, and ${objects}`,
    accepted: cleanupFinalizer,
    message:
      `its finalizer ${cleanupFinalizer} was removed, so Reeve could not delete ${objects} of ` +
      `${shortName(write.id)}${where} with it. Reeve adds the finalizer again: ` +
      'wait until it is there. To keep the objects, set spec.deletionPolicy: Orphan first',
  });
}

/**
 * Refuses `kubectl delete --cascade=orphan` of a provider whose objects would be deleted, because its user wants to keep them.
 * The garbage collector knows only ownerReferences, so it would not keep them.
 * https://kubernetes.io/docs/concepts/architecture/garbage-collection/#orphaned-dependents
 */
export function cascadeViolation(
  { attributes: { options } }: ProviderReview,
  write: ProviderWrite,
  impact: Impact,
): JudgedViolation | undefined {
  const isOrphaning =
    ownMember(options, 'propagationPolicy') === 'Orphan' || ownMember(options, 'orphanDependents') === true;
  const isDeleting = write.after === undefined && fateOf(write) === 'deleted';
  const { count, objects, where } = deletionsOf(write, impact);
  if (!isOrphaning || !isDeleting || count === 0) return undefined;
  return denied({
    rule: 'cascade',
    path: 'spec.deletionPolicy',
    found: `${objects} to be deleted, with --cascade=orphan`,
    accepted: 'Orphan, or a deletion without --cascade=orphan',
    message:
      `--cascade=orphan does not keep the objects of a policy or share, and this would delete ${objects} in ` +
      `${where}. To keep them, set spec.deletionPolicy: Orphan first. ` +
      'To delete them, leave the option out',
  });
}

interface Deletions {
  readonly count: number;
  readonly objects: string;
  readonly where: string;
}

/**
 * Returns the deletions of a write. Nothing can wait after a DELETE, so there the namespaces without a count are included: by
 * the status, or by the contents if the status is about an older version.
 */
function deletionsOf(write: ProviderWrite, { dropped, tooDear, late }: Impact): Deletions {
  const { before, after, reported } = write;
  const leftOut = after === undefined ? [...tooDear, ...late] : [];
  const found = totalOf(dropped);
  const unknown = reported.isCurrent ? 0 : leftOut.length * objectsPerNamespace(before);
  const count = Math.max(found + unknown, leftOut.length === 0 ? 0 : reported.synced);
  const names = [...new Set([...dropped.keys(), ...leftOut])];
  return {
    count,
    objects: `${upTo(write, count)}${counted(count, 'object')}`,
    where: `${counted(names.length, 'namespace')} (${listed(names)})`,
  };
}

/**
 * Returns the number in the annotation, or -1. An annotation from an older version confirmed another write. A write without a
 * new version of the provider needs an annotation from before.
 */
function confirmedCount({ object, oldObject }: ProviderReview, write: ProviderWrite): number {
  const old = valueOf(annotationsOf(oldObject), confirmDeletionsAnnotation);
  if (write.isByIntent === true && ownMember(oldObject?.['status'], 'confirmationUsed') === old) return -1;
  if (isConfirmedBefore(write)) return parseConfirmation(old) ?? -1;
  const now = valueOf(annotationsOf(object), confirmDeletionsAnnotation);
  return now === old ? -1 : (parseConfirmation(now) ?? -1);
}

/** Warns of an annotation that is set while no deletions are held, because it confirms less than its author may think. */
export function confirmationNotices(
  { object, oldObject }: ProviderReview,
  id: ProviderId,
): readonly string[] {
  const [old, now] = [oldObject, object].map((each) =>
    valueOf(annotationsOf(each), confirmDeletionsAnnotation),
  );
  if (oldObject === undefined || isTerminating(oldObject) || now === undefined || now === old) return [];
  const annotation = `${confirmDeletionsAnnotation}=${clipped(now)}`;
  if (parseConfirmation(now) === undefined)
    return [`${id}: ${annotation} confirms nothing, because its value must be a whole number`];
  const { isCurrent, holdsDeletions } = reportedOn(oldObject);
  if (!isCurrent || holdsDeletions) return [];
  return [
    `${id} holds no deletions now, so ${annotation} counts only when ${id} itself is deleted${isBinding(id) ? ' or one of its intents is changed' : ''}; ` +
      'a change that deletes more than maxDeletions needs the annotation in the same write',
  ];
}

/** Returns true for a deletion, which carries no new object, and for an intent, whose binding does not change. */
function isConfirmedBefore({ after, isByIntent }: ProviderWrite): boolean {
  return after === undefined || isByIntent === true;
}

interface Confirmation {
  readonly annotation: string;
  readonly command: string;
}

function confirmationOf(
  { resource, oldObject }: ProviderReview,
  write: ProviderWrite,
  count: number,
): Confirmation {
  if (isConfirmedBefore(write)) {
    const annotation = `${confirmDeletionsAnnotation}=${count}`;
    const object = kubectlName(`${resource}.${group}`, write.id);
    return { annotation, command: `kubectl annotate ${object} --overwrite ${annotation}` };
  }
  const old = valueOf(annotationsOf(oldObject), confirmDeletionsAnnotation);
  // The same number would repeat the old annotation, which confirmed another write.
  const annotation = `${confirmDeletionsAnnotation}=${old === String(count) ? count + 1 : count}`;
  const command = `kubectl annotate --local -f FILE --overwrite ${annotation} -o yaml | kubectl apply -f -`;
  return { annotation, command };
}

/**
 * Refuses a policy with action Deny whose match condition has an error for a namespace, because each write of that namespace
 * would be refused. An error that the older version already had is only a notice.
 */
export function unmatchedViolation({ unmatched }: Impact): JudgedViolation | undefined {
  const found = unmatched.filter(({ isDenied, wasDenied }) => isDenied && !wasDenied);
  const [first] = found;
  if (first === undefined) return undefined;
  const names = found.map(({ name }) => name);
  const where = `${counted(names.length, 'namespace')} (${listed(names)})`;
  return denied({
    rule: 'match',
    path: 'spec.match.matchConditions',
    found: `an error for ${where} (${first.condition}: ${first.message})`,
    accepted: 'conditions that are true or false for every namespace',
    message:
      `match condition ${first.condition} has an error for ${where}: ${first.message}. ` +
      'Every write of these namespaces would be refused. Use has() or .? for fields that may be missing',
  });
}

function denied(violation: Omit<Violation, 'policy' | 'by'>): JudgedViolation {
  return { violation: { policy: '', by: 'reeve', ...violation }, actions: ['Deny'] };
}

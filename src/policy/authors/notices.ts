// Words the warnings to the author of a provider: the namespaces that it reaches, and its deletions.
import { cleanupFinalizer, confirmDeletionsAnnotation } from '../../schema/names.ts';
import { wordOf, type ProviderId } from '../terms/provider-id.ts';
import {
  fateOf,
  hasSame,
  leavesObjects,
  objectsPerNamespace,
  upTo,
  type ProviderWrite,
} from './provider-write.ts';
import { wavesOf } from '../plan/waves.ts';
import { dearText } from '../decide/audit.ts';
import { totalOf, type Impact, type UnmatchedNamespace } from './impact.ts';
import { kindsNotAllowed, nameNotAllowed, policyIn, quotaIn } from '../compile/load-provider.ts';
import type { Install } from '../terms/install.ts';
import type { ContentChange } from './content-changes.ts';
import { intentNotices } from './intent-effects.ts';
import { overQuotaText } from '../../rules/namespace-quota.ts';
import { counted, listed, plural } from '../../base/text.ts';

export function noticesOf(write: ProviderWrite, impact: Impact, install: Install): readonly string[] {
  const { id } = write;
  const { gained, lost, unmatched } = impact;
  return [
    ...incompleteness(write, impact),
    ...costNotice(id, impact),
    ...about(gained, () => `${id} now reaches ${namespaces(gained)}`),
    ...about(lost, () => `${id} no longer reaches ${namespaces(lost)}`),
    ...removals(write, impact),
    ...impact.handOvers.all.map((handOver) => handOverNotice(id, handOver)),
    ...holding(write),
    ...about(unmatched, () => unmatchedNotice(id, unmatched)),
    ...violations(write, impact),
    ...quotaNotice(write, impact),
    ...refusals(id, impact.refused),
    ...suspension(write),
    ...resumption(write),
    ...kinds(write, install),
    ...intentNotices(write, install),
    ...secretName(write, install),
    ...impact.unrendered.all.map((content) => unrenderedNotice(id, content)),
    ...[...impact.replaced].map(([key, names]) => `${id} now changes ${key} in ${namespaces(names)}`),
    ...[...impact.kept].map(([key, names]) => keptNotice(id, key, names)),
    ...[...impact.repaired].map(([key, names]) => repairNotice(id, key, names)),
    ...about([...impact.replaced, ...impact.repaired], () => inWaves(write)).filter(
      (notice) => notice !== '',
    ),
    // These come last, because they can be many, and a warning counts those that are cut.
    ...[...impact.changed].map(([change, names]) => changeNotice(write, change, names)),
  ];
}

/** Returns the notice for a stored version that does not load, so that no comparison is possible. */
export function unknownNotice({ id, after }: ProviderWrite): string {
  const reason = `${id}: the stored version is not valid`;
  return after === undefined
    ? `${reason}, so its objects are released, not deleted`
    : `${reason}, so Reeve cannot foresee what this deletes; more than ${after.object.spec.maxDeletions} deletions wait for a confirmation`;
}

function about(items: readonly unknown[], notice: () => string): readonly string[] {
  return items.length === 0 ? [] : [notice()];
}

function namespaces(names: readonly string[]): string {
  return `${counted(names.length, 'namespace')}: ${listed(names)}`;
}

function incompleteness(write: ProviderWrite, { tooDear, late, canDeny }: Impact): readonly string[] {
  const { id } = write;
  const consequence = `the numbers of this answer leave them out${uncountedDeletions(write)}`;
  const expressions = 'Make its match conditions and other expressions cheaper';
  return [
    ...about(tooDear, () => `evaluating ${id} costs too much for ${namespaces(tooDear)}; ${consequence}`),
    ...(tooDear.length > 0 && canDeny
      ? [`${id} can refuse writes of these namespaces, because it costs too much. ${expressions}`]
      : []),
    ...about(
      late,
      () =>
        `the webhook is short of processor time and did not evaluate ${id} for ${namespaces(late)}; ${consequence}`,
    ),
  ];
}

function costNotice(id: ProviderId, { dearest }: Impact): readonly string[] {
  const text = dearText(dearest);
  return text === undefined ? [] : [`${id} ${text}`];
}

/** The reconciler counts deletions again, by live objects. A deleted provider cannot wait for a confirmation. */
function uncountedDeletions(write: ProviderWrite): string {
  const { before, after, reported } = write;
  const mayDelete = objectsPerNamespace(before) + reported.synced > 0 || reported.holdsDeletions;
  if (before === undefined || !mayDelete || fateOf(write) !== 'deleted') return '';
  const limit = (after ?? before).object.spec.maxDeletions;
  return after === undefined
    ? `, and all objects stay if there are more than ${limit} and ${confirmDeletionsAnnotation} does not confirm them`
    : `, and more than ${limit} deletions still wait for a confirmation`;
}

function removals(write: ProviderWrite, { dropped }: Impact): readonly string[] {
  const names = [...dropped.keys()];
  const count = totalOf(dropped);
  const objects = `${upTo(write, count)}${counted(count, 'object')}`;
  const where = `in ${plural(names.length, 'namespace')}: ${listed(names)}`;
  if (leavesObjects(write))
    return about(
      names,
      () => `${write.id} lacks the finalizer ${cleanupFinalizer}, so it leaves ${objects} behind ${where}`,
    );
  const verb = fateOf(write) === 'released' ? 'releases' : 'deletes';
  return about(names, () => `${write.id} ${verb} ${objects} ${where}`);
}

function handOverNotice(
  id: ProviderId,
  { effect, other, kind, names, namespaces: where }: Impact['handOvers']['all'][number],
): string {
  const objects = `${kind} ${listed([...names])} in ${counted(where.size, 'namespace')}`;
  const texts = {
    taken: `takes ${objects} over from ${other}`,
    handed: `hands ${objects} over to ${other}`,
    'not got': `does not get ${objects}, because ${other} comes first and wants another form`,
  };
  return `${id} ${texts[effect]}: ${listed([...where])}`;
}

/** Warns of held objects, which the webhook cannot count. The reconciler counts them at the deletion. */
function holding(write: ProviderWrite): readonly string[] {
  const { id, after, reported } = write;
  if (after !== undefined || !reported.holdsDeletions || fateOf(write) !== 'deleted') return [];
  return [
    `${id} has deletions that wait for a confirmation, see its condition Stalled: without one, all its objects stay if there are more than maxDeletions`,
  ];
}

function unmatchedNotice(id: ProviderId, unmatched: readonly UnmatchedNamespace[]): string {
  const names = unmatched.map(({ name }) => name);
  return `${id} has match conditions with an error for ${namespaces(names)}`;
}

const kindNames = { rolebindings: 'RoleBindings', roles: 'Roles', secrets: 'Secrets' } as const;

/** Adds the violations of other objects, which the reconciler counts under the rules of the older version. */
function violations(write: ProviderWrite, { violating, violatingObjects }: Impact): readonly string[] {
  const [ofNamespaces, ofObjects] = [totalOf(violating), totalOf(violatingObjects)];
  const count = ofNamespaces + ofObjects;
  if (count === 0) return [];
  const which = count === 1 ? 'violation, which blocks' : 'violations, which block';
  const names = [...violating.keys()];
  const audited = [...violatingObjects]
    .map(([resource, each]) => `${each} of ${kindNames[resource]}`)
    .join(', ');
  const since = hasSameObjectRules(write)
    ? 'at the last audit'
    : 'at the last audit, by the rules before this write';
  const parts = [
    ...about(names, () => `${ofNamespaces} of Namespaces (${listed(names)})`),
    `${audited} (${since})`,
  ];
  const where = ofObjects === 0 ? `, in ${namespaces(names)}` : `: ${parts.join(', ')}`;
  // The audit does not count by namespace, and an override can keep some of them from Deny.
  const isMost = ofObjects > 0 && hasOverrides(write);
  return [
    `${write.id} turns to Deny with ${isMost ? 'up to ' : ''}${count} open ${which} no other write${where}`,
  ];
}

function hasOverrides({ before, after }: ProviderWrite): boolean {
  return [before, after].some((each) => (policyIn(each)?.compiled.overrides.length ?? 0) > 0);
}

function quotaNotice({ id, after }: ProviderWrite, { quotas: { over } }: Impact): readonly string[] {
  const quota = quotaIn(after);
  return quota === undefined ? [] : about(over, () => `${id} ${overQuotaText(quota, over)}`);
}

function hasSameObjectRules(write: ProviderWrite): boolean {
  return hasSame(write, (version) => {
    const { rbac, secrets } = policyIn(version)?.object.spec ?? {};
    return [rbac, secrets];
  });
}

/**
 * Warns of refused objects. They stay as they are, which shows only when their provider or source changes. A RoleBinding that
 * the written policy refuses can still lose subjects.
 */
function refusals(id: ProviderId, { all, unread, isComplete }: Impact['refused']): readonly string[] {
  const inNamespaces = ({ size }: ReadonlySet<string>): string =>
    `in ${isComplete ? '' : 'at least '}${counted(size, 'namespace')}`;
  const later = [...unread.namespaces];
  return [
    ...all.map(
      ({ kind, by, names, provider, namespaces: where }) =>
        `${by} refuses ${kind} ${listed([...names])} of ${provider} ${inNamespaces(where)}, ` +
        `so Reeve cannot create ${kind === 'Secret' || by !== id ? 'or change ' : ''}it there: ${listed([...where])}`,
    ),
    ...about(
      later,
      () =>
        `${id} judges copies of ${listed([...unread.shares])} ${inNamespaces(unread.namespaces)} only when they are written: ` +
        `a copy that it refuses keeps its old data: ${listed(later)}`,
    ),
  ];
}

function unrenderedNotice(
  id: ProviderId,
  { kind, object, message, names }: Impact['unrendered']['all'][number],
): string {
  const verb = kind === 'skipped' ? 'skips' : 'fails to provide';
  return `${id} ${verb} ${object.type.kind} ${object.name} in ${namespaces(names)}; ${message}`;
}

function keptNotice(id: ProviderId, key: string, names: readonly string[]): string {
  const why = 'this installation does not let Reeve change that key (--enforced-key)';
  return `${id} leaves ${key} as it is in ${counted(names.length, 'namespace')}, because ${why}: ${listed(names)}`;
}

function inWaves({ id, after }: ProviderWrite): string {
  const policy = policyIn(after)?.compiled;
  const waves = policy && wavesOf(policy);
  if (waves === undefined) return '';
  const { selector, percent } = waves;
  const first = selector === undefined ? [] : ['the namespaces of its selector'];
  const rest = percent === undefined ? 'all others' : `${percent} percent of the namespaces at a time`;
  return `${id} moves enforced values in waves: ${[...first, rest].join(', then ')}`;
}

function repairNotice(id: ProviderId, key: string, names: readonly string[]): string {
  const where = counted(names.length, 'namespace');
  return `${id} sets ${key} on ${where}; deleting the ${wordOf(id)} does not undo this: ${listed(names)}`;
}

function changeNotice(
  write: ProviderWrite,
  { text, detail, isNew }: ContentChange,
  names: readonly string[],
): string {
  const how = detail === '' ? '' : ` (${detail})`;
  return `${write.id} ${text} in ${isNew ? '' : upTo(write, names.length)}${counted(names.length, 'namespace')}${how}: ${listed(names)}`;
}

function suspension({ id, before, after }: ProviderWrite): readonly string[] {
  const isNew = after?.object.spec.suspend === true && before?.object.spec.suspend !== true;
  const contents = isNew ? (policyIn(after)?.compiled.contents ?? []) : [];
  const ending = contents.filter(({ expiry }) => expiry !== undefined);
  return about(
    ending,
    () => `${id} is suspended: its RoleBindings with an expiry grant access until it is resumed or deleted`,
  );
}

/** Counts no versions that existed only while the provider was suspended. */
function resumption({ id, before, after }: ProviderWrite): readonly string[] {
  if (before?.object.spec.suspend !== true || after === undefined || after.object.spec.suspend) return [];
  const { maxDeletions } = after.object.spec;
  return [
    `${id} is resumed: objects that are no longer wanted are deleted now, more than ${maxDeletions} only after a confirmation`,
  ];
}

function kinds({ id, after }: ProviderWrite, install: Install): readonly string[] {
  const types = after === undefined ? [] : kindsNotAllowed(after, install);
  const names = types.map(({ apiVersion, kind }) => `${apiVersion}/${kind}`);
  return about(
    names,
    () =>
      `${id} provides kinds that this installation does not allow, so Reeve does not create them: ${listed(names)}`,
  );
}

function secretName({ id, after }: ProviderWrite, install: Install): readonly string[] {
  const name = after === undefined ? undefined : nameNotAllowed(after, install);
  if (name === undefined) return [];
  return [
    `${id} provides Secrets named ${name}, which this installation does not allow (--secret-name), so Reeve does not create them`,
  ];
}

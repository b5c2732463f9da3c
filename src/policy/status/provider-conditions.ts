// How a policy or share is doing, as conditions: is all there (Ready), is work under way (Reconciling), who must act (Stalled).
// https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md
import type { CopyState } from '../plan/copy.ts';
import type { OwnRights, InstallRole } from '../authors/own-rights.ts';
import { confirmDeletionsAnnotation } from '../../api/names.ts';
import { clipped } from '../../base/text.ts';
import { kindOfProvider, nameOfProvider, type ProviderState } from '../terms/provider-id.ts';
import type { Condition } from './condition.ts';
import type { UnsyncedObject } from './provider-report.ts';
import type { Counts } from './provider-tally.ts';
import type { RightsRule } from '../authors/needed-rights.ts';

export interface ProviderFacts extends BlockerFacts {
  readonly state: ProviderState;
  /** What is wrong with the stored version, if it does not load. */
  readonly problem: string | undefined;
  readonly counts: Counts;
  readonly failures: readonly UnsyncedObject[];
  /** Namespaces that have still to be looked at since it changed last. */
  readonly waiting: number;
  /** Objects that the fuse keeps from being deleted. */
  readonly held: { readonly count: number; readonly limit: number } | undefined;
  /** Of one that goes: kinds of which it may have objects that nobody knows of yet. */
  readonly unknownKinds?: readonly string[];
}

/** What may keep it from all of its work, whatever becomes of single objects. */
export interface BlockerFacts {
  /** Of a share. */
  readonly source: CopyState | undefined;
  /** What the account of Reeve may not do of what it asks for. */
  readonly missingRights: readonly OwnRights[];
  /** The parts of its spec that nobody judges writes by, because this install has no webhook for them. */
  readonly partsWithoutHook: readonly string[];
}

export interface Blocker {
  readonly reason: string;
  readonly message: string;
}

interface Verdict {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly is?: 'reconciling' | 'stalled';
}

const longestMessage = 1024;

export function providerConditions(facts: ProviderFacts): readonly Condition[] {
  const { status, reason, message, is } = verdictOn(facts);
  const about = { reason, message: clipped(message, longestMessage) };
  const source = facts.source === undefined ? [] : [sourceAvailable(facts.source)];
  return [
    { type: 'Ready', status, ...about },
    ...source,
    is === 'reconciling'
      ? { type: 'Reconciling', status: 'True', ...about }
      : { type: 'Reconciling', status: 'False', reason: 'Done', message: 'no work is under way' },
    is === 'stalled'
      ? { type: 'Stalled', status: 'True', ...about }
      : { type: 'Stalled', status: 'False', reason: 'NotStalled', message: 'nobody has to act first' },
  ];
}

/** The first of these that holds. */
function verdictOn(facts: ProviderFacts): Verdict {
  const { state, problem, held, waiting } = facts;
  if (state.isDeleting) return deleting(facts);
  if (!state.isValid) return stalled('Invalid', problem ?? 'it does not load; what it owns is kept as it is');
  if (held !== undefined) return stalled('TooManyDeletions', heldMessage(state, held));
  if (waiting > 0) return reconciling('Reconciling', `${plural(waiting, 'namespace')} still to be done`);
  const [blocker] = blockersOf(facts);
  return blocker === undefined ? settled(facts) : notReady(blocker.reason, blocker.message);
}

/** The first one is the one to be told of. */
export function blockersOf({ source, missingRights, partsWithoutHook }: BlockerFacts): readonly Blocker[] {
  return [
    ...(missingRights.length === 0
      ? []
      : [{ reason: 'InsufficientPermissions', message: missingRightsMessage(missingRights) }]),
    ...(source?.kind === 'unavailable' ? [{ reason: source.reason, message: source.message }] : []),
    ...(partsWithoutHook.length === 0
      ? []
      : [{ reason: 'HookNotInstalled', message: withoutHookMessage(partsWithoutHook) }]),
  ];
}

function withoutHookMessage(parts: readonly string[]): string {
  const rules = parts.map((part) => `spec.${part}`).join(' and ');
  return (
    `nobody is held to its rules in ${rules}: Reeve runs with --secrets-rbac-failure-policy=Off; ` +
    'set it to Ignore or Fail, for all roles, or remove these rules'
  );
}

function settled({ state, counts, failures }: ProviderFacts): Verdict {
  const first = failureLine(failures);
  if (state.isSuspended) return suspended(counts, first);
  if (counts.failed + counts.stuck > 0)
    return notReady('Failed', `${plural(counts.failed + counts.stuck, 'object')} failed; ${first}`);
  if (counts.conflicts > 0) return notReady('Conflicts', `${plural(counts.conflicts, 'conflict')}; ${first}`);
  return ready(
    'Synced',
    counts.desired === 0
      ? 'there is nothing to provide'
      : `${plural(counts.desired, 'object')} ${counts.desired === 1 ? 'is' : 'are'} there and as they should be`,
  );
}

function suspended({ failed, stuck, conflicts }: Counts, first: string): Verdict {
  const message = 'it is suspended: nothing is made, changed or deleted';
  const unlike = failed + stuck + conflicts;
  return unlike === 0
    ? ready('Suspended', message)
    : notReady('Suspended', `${message}; ${plural(unlike, 'object')} not as it wants them, ${first}`);
}

function deleting({ counts, failures, unknownKinds = [] }: ProviderFacts): Verdict {
  if (counts.stuck > 0) return { ...notReady('Failed', failureLine(failures)), is: 'reconciling' };
  if (unknownKinds.length > 0) {
    const kinds = unknownKinds.join(', ');
    return reconciling('Deleting', `it is being deleted, and it is not known yet which ${kinds} it has`);
  }
  return reconciling(
    'Deleting',
    'it is being deleted, and its objects are deleted, handed over or released first',
  );
}

function heldMessage(
  { id, confirmation }: ProviderState,
  { count, limit }: NonNullable<ProviderFacts['held']>,
): string {
  const resource = kindOfProvider(id) === 'NamespacePolicy' ? 'namespacepolicy' : 'secretshare';
  // One that is spent counts again only when it is changed.
  const number = confirmation === String(count) ? count + 1 : count;
  const command = `kubectl annotate ${resource} ${nameOfProvider(id)} ${confirmDeletionsAnnotation}=${number} --overwrite`;
  return `${plural(count, 'object')} would be deleted, and maxDeletions is ${limit}; to confirm: ${command}`;
}

function failureLine([first]: readonly UnsyncedObject[]): string {
  if (first === undefined) return '';
  const { namespace, kind, name, message } = first;
  const what = kind === undefined ? '' : ` ${kind} ${name ?? ''}`;
  return `first in namespace ${namespace}:${what} ${message}`;
}

function sourceAvailable(source: CopyState): Condition {
  const type = 'SourceAvailable';
  return source.kind === 'unavailable'
    ? { type, status: 'False', reason: source.reason, message: source.message }
    : { type, status: 'True', reason: 'Available', message: 'the source is there and can be copied' };
}

function ready(reason: string, message: string): Verdict {
  return { status: 'True', reason, message };
}

function notReady(reason: string, message: string): Verdict {
  return { status: 'False', reason, message };
}

function reconciling(reason: string, message: string): Verdict {
  return { ...notReady(reason, message), is: 'reconciling' };
}

function stalled(reason: string, message: string): Verdict {
  return { ...notReady(reason, message), is: 'stalled' };
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

const roles: Readonly<Record<InstallRole, string>> = {
  reconciler: 'ClusterRole reeve-reconciler (manifests/install/20-reconciler.yaml)',
  bind: 'ClusterRole reeve-reconciler-bind (manifests/install/21-reconciler-bind.yaml)',
  secrets: 'ClusterRole reeve-reconciler-secrets (manifests/install/22-reconciler-secrets.yaml)',
  'named-secrets':
    'ClusterRole reeve-reconciler-secrets (manifests/named-secrets/22-reconciler-secrets.yaml)',
  'named-sources': 'Role reeve-reconciler-sources (manifests/named-secrets/22-reconciler-secrets.yaml)',
  resources: 'ClusterRole reeve-reconciler-resources (manifests/install/23-reconciler-resources.yaml)',
};

/** What a condition and an Event hold, less what is said of those that do not fit. */
const longest = 1024 - 100;

export function missingRightsMessage(missing: readonly OwnRights[]): string {
  let text = 'the account of Reeve has no right to all that this asks for';
  let role: InstallRole | undefined;
  for (const [index, each] of missing.entries()) {
    const where = each.role === role ? ' and' : `; add to the rules of ${roles[each.role]}:`;
    const next = `${text}${where} ${ruleLine(each)}`;
    if (next.length > longest) return `${text}; and ${missing.length - index} more${jailOf(missing)}`;
    text = next;
    role = each.role;
  }
  return `${text}${jailOf(missing)}`;
}

/** The jail has a list of its own, so that nobody widens both by mistake. */
function jailOf(missing: readonly OwnRights[]): string {
  return missing.some(({ role }) => role === 'bind')
    ? '; a ClusterRole also has to stand in bindableRoles in 41-jail.yaml'
    : '';
}

/** One item of the rules of a role, in YAML. */
function ruleLine({ verbs, group, resource, name }: RightsRule): string {
  const names = name === undefined ? '' : `, resourceNames: ${JSON.stringify([name])}`;
  return `- {apiGroups: ${JSON.stringify([group])}, resources: ${JSON.stringify([resource])}${names}, verbs: [${verbs.join(', ')}]}`;
}

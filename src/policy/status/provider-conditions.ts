// Derives the conditions of a provider: Ready, SourceAvailable, IntentsResolved, Reconciling, Stalled and Expensive.
// https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md
import type { CopyState } from '../plan/copy.ts';
import { wavesText, type KeptWaves } from '../plan/waves.ts';
import { heldText, unusedConfirmation, type HeldDeletions } from '../plan/fuse.ts';
import { isConflict, type Agreement } from '../plan/observed.ts';
import type { MissingRights, RightsPurpose, RightsRule } from '../authors/needed-rights.ts';
import { confirmDeletionsAnnotation, group as ownGroup } from '../../schema/names.ts';
import { clipped } from '../../base/text.ts';
import { isBinding, kindOfProvider, wordOf, kubectlName, type ProviderState } from '../terms/provider-id.ts';
import type { Condition } from '../../base/condition.ts';
import { intentsResolved, type IntentFacts } from './intents.ts';
import type { SkippedObject, UnsyncedObject } from './namespace-ready.ts';
import { type Counts, secretsMessage, violationsMessage, type Violations } from './provider-tally.ts';

export interface ProviderFacts extends BlockerFacts {
  readonly state: ProviderState;
  /** The problems of the stored version, if it does not load. */
  readonly problem: string | undefined;
  /** Namespaces that match. */
  readonly matched: number;
  readonly counts: Counts;
  readonly failures: readonly UnsyncedObject[];
  /** The first contents that namespaces lack, because a label or annotation is missing. */
  readonly skipped: readonly SkippedObject[];
  /** Objects that another provider wants in the same form: their number, and the first pair of providers. */
  readonly agreements?: (Agreement & { readonly count: number }) | undefined;
  /** Rules that existing objects violate. */
  readonly violations: Violations;
  /** Parts of the spec that have no effect, each as a sentence. */
  readonly withoutEffect: readonly string[];
  /** The cost of the policy, if it is too high. */
  readonly cost: string | undefined;
  /** The number of namespaces that wait to be reconciled after the provider's last change. */
  readonly waiting: number;
  /** Objects whose deletion the fuse holds back. */
  readonly held: HeldDeletions | undefined;
  /** Kinds whose watch has not synced, while a provider that is being deleted may still own objects of them. */
  readonly unknownKinds?: readonly string[];
  /** Missing for a binding that has never loaded. */
  readonly intents?: IntentFacts | undefined;
  /** Missing for a policy that moves no values in waves. */
  readonly waves?: KeptWaves | undefined;
}

/** The facts that can keep a provider from all of its work. */
export interface BlockerFacts {
  /** The source of a share. */
  readonly source: CopyState | undefined;
  /** Rules that Reeve's account lacks. */
  readonly missingRights: readonly MissingRights[];
  /** Parts of the spec that are not enforced, because this install has no webhook for them. */
  readonly partsWithoutHook: readonly string[];
}

/** A reason why a provider is not ready. */
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

const maxMessageLength = 1024;

export const expensiveCondition = 'Expensive';

/** Reconciling, Stalled and Expensive are there only while they are true, as kstatus expects. */
export function providerConditions(facts: ProviderFacts): readonly Condition[] {
  const { status, reason, message, is } = verdictOn(facts);
  const about = { reason, message: clipped(message, maxMessageLength) };
  const source = facts.source === undefined ? [] : [sourceAvailable(facts.source)];
  return [
    { type: 'Ready', status, ...about },
    ...source,
    ...(isBinding(facts.state.id) ? [resolutionOf(facts)] : []),
    ...(is === 'reconciling' ? [{ type: 'Reconciling', status: 'True', ...about } as const] : []),
    ...(is === 'stalled' ? [{ type: 'Stalled', status: 'True', ...about } as const] : []),
    ...(facts.cost === undefined ? [] : [expensive(facts.state, facts.cost)]),
  ];
}

/** Returns the first verdict that applies. */
function verdictOn(facts: ProviderFacts): Verdict {
  const { state, problem, held, waiting } = facts;
  if (state.isDeleting) return deleting(facts);
  if (!state.isValid)
    return stalled('Invalid', problem ?? 'the stored version is not valid; its objects stay as they are');
  if (held !== undefined) return stalled('TooManyDeletions', heldMessage(state, held));
  if (waiting > 0) return reconciling('Reconciling', `${plural(waiting, 'namespace')} left to reconcile`);
  const [blocker] = blockersOf(facts);
  return blocker === undefined ? settled(facts) : notReady(blocker.reason, blocker.message);
}

/** Returns the blockers, the most important first. */
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
    `the rules in ${rules} are not enforced, because Reeve runs with --secrets-rbac-failure-policy=Off; ` +
    'set it to Ignore or Fail for all roles, or remove these rules'
  );
}

function resolutionOf({ state, intents }: ProviderFacts): Condition {
  return intentsResolved(state.isValid ? intents : undefined);
}

/** Judges the objects. Resolved intents are provided meanwhile, but a binding is ready only when all its intents are resolved. */
function settled(facts: ProviderFacts): Verdict {
  const kept = settledObjects(facts);
  if (!isBinding(facts.state.id) || kept.status === 'False') return kept;
  const { status, reason, message } = resolutionOf(facts);
  return status === 'True' ? kept : notReady(reason, `${message}; ${kept.message}`);
}

function settledObjects(facts: ProviderFacts): Verdict {
  const { state, counts, failures } = facts;
  const failed = failures.filter((each) => !isConflict(each));
  const first = firstFailure(failed.length > 0 ? failed : failures);
  // Rules of a suspended policy still apply.
  if (isUnmatched(facts, failed)) return notReady('MatchFailed', matchFailedMessage(counts, first));
  if (state.isSuspended) return suspended(counts, first);
  if (counts.failed + counts.stuck > 0)
    return notReady('Failed', `${plural(counts.failed + counts.stuck, 'object')} failed; ${first}`);
  if (counts.conflicts > 0) return notReady('Conflicts', `${plural(counts.conflicts, 'conflict')}; ${first}`);
  const { violations } = facts;
  const waves = wavesPart(facts);
  if (facts.waves?.record.isStopped === true) return notReady('WavesStopped', waves);
  const parts = [waves, syncedMessage(facts), ...facts.withoutEffect]
    .filter((part) => part !== '')
    .join('; ');
  const synced = `${parts}${skippedMessage(facts)}${secretsMessage(violations)}`;
  // A provider without effect does no harm, so it is ready, and its reason says that it does nothing.
  const reason = facts.matched === 0 && facts.counts.desired === 0 ? 'MatchesNothing' : 'Synced';
  return ready(reason, `${violationsMessage(violations)}${synced}`);
}

/** A policy without contents fails where its match has an error, or on the Namespace itself, whose values it enforces. */
function isUnmatched({ counts, state }: ProviderFacts, failed: readonly UnsyncedObject[]): boolean {
  return counts.failed > 0 && !state.provides && failed.some(({ kind }) => kind === undefined);
}

function wavesPart({ waves: kept }: ProviderFacts): string {
  return kept === undefined ? '' : wavesText(kept.record, kept.waves);
}

function matchFailedMessage({ failed }: Counts, first: string): string {
  return `the match has an error for ${plural(failed, 'namespace')}, so the rules cannot be judged there; ${first}`;
}

function skippedMessage({ counts, skipped: [first] }: ProviderFacts): string {
  if (first === undefined) return '';
  const { namespace, kind, name, message } = first;
  return `; ${counts.skipped} skipped, first ${kind} ${name} in namespace ${namespace}: ${message}`;
}

function syncedMessage({ state, matched, counts, agreements }: ProviderFacts): string {
  if (counts.desired > 0)
    return `${plural(counts.desired, 'object')} ${counts.desired === 1 ? 'is' : 'are'} in sync${agreementText(agreements)}`;
  // `withoutEffect` names the term of the match that excludes all namespaces.
  if (matched === 0) return '';
  if (counts.skipped > 0) return 'no object is provided';
  return state.provides
    ? 'the matching namespaces need no object'
    : `this ${isBinding(state.id) ? 'binding' : 'policy has rules only and'} provides no objects`;
}

/** Both providers have the same text, so each status names the two. */
function agreementText(agreements: ProviderFacts['agreements']): string {
  if (agreements === undefined) return '';
  const { count, owner, other } = agreements;
  return `; ${owner} owns ${count} that ${other} wants with the same content`;
}

function suspended({ failed, stuck, conflicts }: Counts, first: string): Verdict {
  const message = 'suspended: nothing is created, changed or deleted, not even at its expiry';
  const unsynced = failed + stuck + conflicts;
  return unsynced === 0
    ? ready('Suspended', message)
    : notReady('Suspended', `${message}; ${plural(unsynced, 'object')} not in sync, ${first}`);
}

function deleting({ counts, failures, unknownKinds = [] }: ProviderFacts): Verdict {
  if (counts.stuck > 0) return { ...notReady('Failed', firstFailure(failures)), is: 'reconciling' };
  if (unknownKinds.length > 0) {
    const kinds = unknownKinds.join(', ');
    return reconciling('Deleting', `being deleted, once the watches of these kinds have synced: ${kinds}`);
  }
  return reconciling('Deleting', 'being deleted, after its objects are deleted, handed over or released');
}

function heldMessage({ id, confirmation }: ProviderState, held: HeldDeletions): string {
  const number = unusedConfirmation(held.count, confirmation);
  // Another tool may serve kinds of the same names.
  const resource = `${kindOfProvider(id).toLowerCase()}${isBinding(id) ? `.${ownGroup}` : ''}`;
  const command = `kubectl annotate ${kubectlName(resource, id)} ${confirmDeletionsAnnotation}=${number} --overwrite`;
  return `${heldText(held)}; to confirm: ${command}`;
}

function firstFailure([first]: readonly UnsyncedObject[]): string {
  if (first === undefined) return '';
  const { namespace, kind, name, message } = first;
  const object = kind === undefined ? '' : `${kind} ${name ?? ''} `;
  return `first ${object}in namespace ${namespace}: ${message}`;
}

function sourceAvailable(source: CopyState): Condition {
  const type = 'SourceAvailable';
  return source.kind === 'unavailable'
    ? { type, status: 'False', reason: source.reason, message: source.message }
    : { type, status: 'True', reason: 'Available', message: 'the source can be copied' };
}

function expensive({ id }: ProviderState, cost: string): Condition {
  const message = `this ${wordOf(id)} ${cost}`;
  return { type: expensiveCondition, status: 'True', reason: 'CostsTooMuch', message };
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

// Words the rights that Reeve's own account lacks, and where an administrator adds them.

/** Where the install holds the rules of one purpose. */
interface ShippedRole {
  readonly role: string;
  /** The file of the install, and the value of the chart. */
  readonly file: string;
  /** What a second list must contain as well: `the ClusterRole to bindableRoles in 41-jail.yaml`. */
  readonly alsoListIn?: string;
}

const secretsRole = 'ClusterRole reeve-reconciler-secrets';
const namedSecretsFile = 'manifests/named-secrets/22-reconciler-secrets.yaml; with Helm: secretNames';

const shippedRoles: Readonly<Record<RightsPurpose, ShippedRole>> = {
  reconciler: { role: 'ClusterRole reeve-reconciler', file: 'manifests/install/20-reconciler.yaml' },
  bind: {
    role: 'ClusterRole reeve-reconciler-bind',
    file: 'manifests/install/21-reconciler-bind.yaml; with Helm: bindableClusterRoles',
    // The jail has its own lists, so that no change widens both by mistake.
    alsoListIn: 'the ClusterRole to bindableRoles in 41-jail.yaml (with Helm, the value does both)',
  },
  secrets: { role: secretsRole, file: 'manifests/install/22-reconciler-secrets.yaml' },
  'named-secrets': { role: secretsRole, file: namedSecretsFile },
  'named-sources': { role: 'Role reeve-reconciler-sources', file: namedSecretsFile },
  'audit-secrets': {
    role: 'ClusterRole reeve-reconciler-audit-secrets',
    file: 'manifests/audit-secrets/26-reconciler-audit-secrets.yaml; with Helm: auditSecrets',
  },
  resources: {
    role: 'ClusterRole reeve-reconciler-resources',
    file: 'manifests/install/23-reconciler-resources.yaml; with Helm: resourceKinds or intentAdapters',
    alsoListIn: 'the resource to providedResources in 41-jail.yaml (with Helm, the value does both)',
  },
};

/** The room for the rules in a condition or Event, before the text that counts the other rules. */
const maxRulesLength = 924;

export function missingRightsMessage(missing: readonly MissingRights[]): string {
  let text = `${doubtfulRoles(missing)}Reeve's own account lacks rights that this needs`;
  let before = '';
  for (const [index, each] of missing.entries()) {
    const { role, file } = shippedRoles[each.purpose];
    const place = `${role} (${file})`;
    const where = place === before ? ' and' : `; add to the rules of ${place}:`;
    const next = `${text}${where} ${ruleLine(each)}`;
    if (next.length > maxRulesLength)
      return `${text}; and ${missing.length - index} more${listHint(missing)}`;
    text = next;
    before = place;
  }
  return `${text}${listHint(missing)}`;
}

const maxRoles = 3;

/** Warns that these roles may not exist. Reeve has no right to read ClusterRoles, and RBAC accepts missing ones. */
function doubtfulRoles(missing: readonly MissingRights[]): string {
  const names = missing.flatMap(({ verbs, name, meant }) => {
    if (name === undefined || !verbs.includes('bind')) return [];
    return [meant === undefined ? name : `${name} (did you mean ${meant}?)`];
  });
  if (names.length === 0) return '';
  const more = names.length > maxRoles ? ` and ${names.length - maxRoles} more` : '';
  const roles = `${names.length === 1 ? 'ClusterRole' : 'ClusterRoles'} ${names.slice(0, maxRoles).join(', ')}${more}`;
  return `${roles} may not exist, so check the name first; `;
}

function listHint(missing: readonly MissingRights[]): string {
  const lists = new Set(missing.flatMap(({ purpose }) => shippedRoles[purpose].alsoListIn ?? []));
  return lists.size === 0 ? '' : `; also add ${[...lists].join(' and ')}`;
}

/** Returns the rule as one item of YAML. */
function ruleLine({ verbs, group, resource, name }: RightsRule): string {
  const names = name === undefined ? '' : `, resourceNames: ${JSON.stringify([name])}`;
  return `- {apiGroups: ${JSON.stringify([group])}, resources: ${JSON.stringify([resource])}${names}, verbs: [${verbs.join(', ')}]}`;
}

// Explains a policy, share or binding: its namespaces and objects, the rights it needs, and what of it has no effect.
import { cliApiVersion } from '../../schema/names.ts';
import { nameOf } from '../../base/metadata.ts';
import { nearestWord } from '../../base/nearest.ts';
import { partsWithoutEffect, uncountedNamespaces, unreachedIntents } from '../../policy/authors/no-effect.ts';
import { notKeptText } from '../../policy/authors/intent-effects.ts';
import { dearTextIn } from '../../policy/decide/audit.ts';
import { managedBy, reachableBy } from '../../policy/authors/provider-write.ts';
import { policyIn, type ProviderDefinition } from '../../policy/compile/load-provider.ts';
import { waveRecordOf, wavesOf, wavesText } from '../../policy/plan/waves.ts';
import { desiredByProvider, providerOf } from '../../policy/desired/desired.ts';
import { unlimitedBudget } from '../../policy/terms/budget.ts';
import { matchNamespace } from '../../policy/terms/match.ts';
import {
  kindOfProvider,
  nameOfProvider,
  providerRef,
  type ProviderId,
} from '../../policy/terms/provider-id.ts';
import { counted } from '../../base/text.ts';
import { namespaceQuota } from '../../rules/namespace-quota.ts';
import { problemsText } from '../../state/stored-provider.ts';
import { namespaceType } from '../input/loaded-state.ts';
import type { ExplainedObject, ExplainedRule, ExplainOutput } from '../output-schemas/explanation.ts';
import { type LookedAt, standingsIn } from './looked-at.ts';
import { explainedPolicy } from './namespace-rules.ts';
import { rightsOf, usersOf } from './rights.ts';

export async function explainProvider(id: ProviderId, at: LookedAt): Promise<ExplainOutput> {
  const { state, cluster, now } = at;
  const about = {
    apiVersion: cliApiVersion,
    kind: 'Explanation',
    about: 'provider',
    target: providerRef(id),
    unread: state.unread,
  } as const;
  const loaded = cluster.provider(id);
  if (loaded === undefined) return { ...about, found: false, summary: noProvider(id, at) };
  const { definition, problems } = loaded;
  const objects = await objectsOf(id, at);
  if (definition === undefined) {
    const summary = `${id} does not load, so all its objects stay as they are: ${problemsText(problems)}`;
    return { ...about, found: true, summary, providers: [{ id, matches: 'error', objects }] };
  }
  const reach = reachOf(id, definition, at);
  const snapshot = cluster.snapshot();
  const notes = [
    ...(loaded.state.isDeleting ? ['it is being deleted'] : []),
    ...(loaded.state.isSuspended ? ['it is suspended: nothing is created, changed or deleted'] : []),
    ...reach.freezes.slice(0, maxErrors),
    ...(reach.isKnown
      ? partsWithoutEffect(
          definition,
          { matched: reach.matched.length, errors: reach.errors },
          snapshot,
          now,
        ).map(({ message }) => message)
      : []),
    ...uncountedNamespaces(definition, snapshot).map(({ message }) => message),
    ...unsupported(definition, at),
    ...costs(id, definition, at),
    ...wavesNote(id, definition, at),
  ];
  const { rights, missing } = await rightsOf(definition, at);
  const rules = violationsOf(definition, reach.matched, at);
  const unsynced = objects.filter(({ outcome }) => outcome !== 'in sync');
  return {
    ...about,
    found: true,
    summary: `${id} matches ${counted(reach.matched.length, 'namespace')}${violationCount(rules)}${objectCounts(objects)}`,
    notes: [...notes, ...missing],
    providers: [{ id, matches: 'yes', objects: unsynced, users: usersOf(definition, at) }],
    rules,
    rights,
    namespaces: reach.matched,
  };
}

const maxErrors = 20;

function noProvider(id: ProviderId, { cluster, state }: LookedAt): string {
  const kind = kindOfProvider(id);
  const unread = state.unread.find((each) => each.kind === kind);
  if (unread !== undefined) return `${kind} could not be read: ${unread.reason}`;
  const names = [...cluster.providers()]
    .map(({ state: each }) => each.id)
    .filter((each) => kindOfProvider(each) === kind);
  const near = nearestWord(nameOfProvider(id), names.map(nameOfProvider));
  return `there is no ${id}${near === undefined ? '' : `; did you mean ${near}?`}`;
}

interface Reached {
  readonly matched: readonly string[];
  /** The number of namespaces for which the match has an error. */
  readonly errors: number;
  /** Errors of the match or of templates. In such a namespace, the objects stay as they are. */
  readonly freezes: readonly string[];
  /** False if no namespace is known. Then a match of none is no surprise. */
  readonly isKnown: boolean;
}

function reachOf(id: ProviderId, definition: ProviderDefinition, { cluster, state, now }: LookedAt): Reached {
  const snapshot = cluster.snapshot();
  const results = managedBy(id, snapshot).map((namespace) => ({
    name: nameOf(namespace),
    match: matchNamespace(definition.compiled.match, namespace).kind,
    freeze: desiredByProvider(providerOf(definition), namespace, now, unlimitedBudget).frozen.get(id),
  }));
  return {
    matched: results.flatMap(({ name, match }) => (match === 'yes' ? [name] : [])).toSorted(),
    errors: results.filter(({ match }) => match === 'error').length,
    freezes: results.flatMap(({ name, freeze }) =>
      freeze === undefined || freeze.reason === 'Suspended' ? [] : [`namespace ${name}: ${freeze.message}`],
    ),
    isKnown: state.objects(namespaceType).length > 0,
  };
}

/** Also covers namespaces that the provider no longer matches, because objects may remain there. */
async function objectsOf(id: ProviderId, at: LookedAt): Promise<readonly ExplainedObject[]> {
  const found: ExplainedObject[] = [];
  for (const namespace of reachableBy(id, at.cluster.snapshot())) {
    const standings = await standingsIn(namespace, at);
    found.push(...standings.flatMap(({ provider, ...object }) => (provider === id ? [object] : [])));
  }
  return found;
}

function costs(
  id: ProviderId,
  definition: ProviderDefinition,
  { cluster, now }: LookedAt,
): readonly string[] {
  const text = dearTextIn(definition, managedBy(id, cluster.snapshot()), now);
  return text === undefined ? [] : [`it ${text}`];
}

/** Says how far the waves of enforced values are, by the stored status. */
function wavesNote(id: ProviderId, definition: ProviderDefinition, { state }: LookedAt): readonly string[] {
  const policy = policyIn(definition)?.compiled;
  const waves = policy && wavesOf(policy);
  if (waves === undefined) return [];
  const { name, ...type } = providerRef(id);
  const record = waveRecordOf(state.find(type, '', name)?.['status']);
  const text = record && wavesText(record, waves);
  return text === undefined
    ? ['no wave of its enforced values has begun']
    : [text].filter((each) => each !== '');
}

function unsupported(definition: ProviderDefinition, { cluster }: LookedAt): readonly string[] {
  const facts = definition.intents;
  if (facts === undefined) return [];
  return [
    ...facts.missing.map((intent) => `SecurityIntent ${intent} does not exist; the binding waits for it`),
    ...[...facts.unsupported, ...unreachedIntents(definition, cluster.snapshot())].map(notKeptText),
  ];
}

/** Returns the violations of today: first quotas, then those of each namespace that the policy matches. */
function violationsOf(
  definition: ProviderDefinition,
  matched: readonly string[],
  at: LookedAt,
): readonly ExplainedRule[] {
  const policy = policyIn(definition);
  if (policy === undefined) return [];
  const { exceeded, rulesIn } = explainedPolicy(policy, at);
  const violated = matched.flatMap((namespace) => {
    const namespaceObject = at.cluster.snapshot().namespace(namespace);
    if (namespaceObject === undefined) return [];
    return rulesIn(namespaceObject)
      .filter(({ rule, outcome }) => outcome === 'violated' && rule !== namespaceQuota.id)
      .map((rule) => ({ ...rule, namespace }));
  });
  return [...exceeded, ...violated];
}

function violationCount(rules: readonly ExplainedRule[]): string {
  return rules.length === 0 ? '' : `; ${rules.length} ${rules.length === 1 ? 'violation' : 'violations'}`;
}

/** Example: `; objects: 40 in sync, 2 conflict`. */
function objectCounts(objects: readonly ExplainedObject[]): string {
  const outcomes = Map.groupBy(objects, ({ outcome }) => outcome);
  const counts = [...outcomes].map(([outcome, { length }]) => `${length} ${outcome}`).toSorted();
  return counts.length === 0 ? '' : `; objects: ${counts.join(', ')}`;
}

// Finds what in a provider has no effect: a match of no namespace, times in the past, names that are probably misspelled.
import type { LabelSelector } from '../../schema/selector.ts';
import type { MatchSpec } from '../../api/namespace-policy/namespace-policy.ts';
import { type KubeObject, labelsOf, nameOf } from '../../base/metadata.ts';
import { renderPath, type Path } from '../../base/problem.ts';
import { clipped, listed } from '../../base/text.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import { type ProviderDefinition, policyIn, quotaIn } from '../compile/load-provider.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { bareNamespace, matchNamespace, type MatchTerms } from '../terms/match.ts';
import { isManaged } from '../desired/desired.ts';
import type { UnsupportedIntent } from '../intents/compile-binding.ts';
import { namespaceOfProvider, type ProviderId } from '../terms/provider-id.ts';
import { nearest, nearestWord } from '../../base/nearest.ts';

/** The numbers of namespaces that a provider matches, and for which its match has an error. */
export interface Reach {
  readonly matched: number;
  readonly errors: number;
}

/** A part of a provider, and why it has no effect. */
export interface PartWithoutEffect {
  readonly path: Path;
  readonly message: string;
}

/** An error of the match is reported elsewhere, with its namespaces. */
export function partsWithoutEffect(
  definition: ProviderDefinition,
  { matched, errors }: Reach,
  snapshot: ClusterSnapshot,
  now: Date,
): readonly PartWithoutEffect[] {
  return [
    ...(matched + errors === 0 ? [noMatch(definition, snapshot)] : []),
    ...(errors === 0 ? bareNamespaceProblem(definition) : []),
    ...pastTimes(definition, now),
  ];
}

/** Names the term of the match that keeps all namespaces away, if one does, and the word that was probably meant. */
function noMatch(definition: ProviderDefinition, snapshot: ClusterSnapshot): PartWithoutEffect {
  const { path, match } = matchOf(definition);
  const start = path.split('.');
  const never = neverMatched(definition, match, path, snapshot);
  const why = never === undefined ? unknownWord(match, snapshot) : { path: [], message: never };
  if (why === undefined) return { path: start, message: 'no namespace matches now' };
  const message = `no namespace matches now, because ${why.message}`;
  return { path: path === 'metadata.namespace' ? start : [...start, ...why.path], message };
}

/** Returns the intents whose only namespace the binding does not match now: nothing keeps them. An error is reported elsewhere. */
export function unreachedIntents(
  definition: ProviderDefinition,
  snapshot: ClusterSnapshot,
): readonly UnsupportedIntent[] {
  const { compiled, intents } = definition;
  return (intents?.confined ?? []).flatMap(({ intent, id, namespace }) => {
    const found = snapshot.namespace(namespace);
    const isReached =
      found !== undefined &&
      isManaged(found, snapshot) &&
      matchNamespace(compiled.match, found).kind !== 'no';
    const why =
      found === undefined
        ? `there is no namespace ${namespace}`
        : `the binding does not match namespace ${namespace}`;
    const message = `params.namespace names the only place for its objects, and ${why}`;
    return isReached ? [] : [{ intent, id, adapters: [], message }];
  });
}

interface WrittenMatch {
  readonly path: 'spec.match' | 'spec.targets' | 'metadata.namespace';
  readonly match: MatchTerms;
}

/** Returns the match as it is written, with its path. */
export function matchOf(definition: ProviderDefinition): WrittenMatch {
  switch (definition.kind) {
    case 'NamespacePolicy': {
      const isTenants = namespaceOfProvider(definition.compiled.id) !== undefined;
      const path = isTenants ? 'metadata.namespace' : 'spec.match';
      return { path, match: definition.object.spec.match ?? {} };
    }
    case 'SecretShare':
    case 'ConfigMapShare':
      return { path: 'spec.targets', match: definition.object.spec.targets };
    default:
      return definition satisfies never;
  }
}

function neverMatched(
  { compiled }: ProviderDefinition,
  { names = [] }: MatchSpec,
  path: string,
  { policies }: ClusterSnapshot,
): string | undefined {
  const { excludeNames } = compiled.match;
  if (names.length === 0 || names.some((name) => name.includes('*'))) return undefined;
  if (names.every((name) => policies.isExcluded(name)))
    return path === 'metadata.namespace'
      ? `Reeve never touches namespace ${listed(names)}`
      : `${path}.names lists only namespaces that Reeve never matches (${listed(names)})`;
  if (names.every((name) => excludeNames.some((glob) => glob.matches(name))))
    return `${path}.excludeNames excludes all of ${path}.names (${listed(names)})`;
  return undefined;
}

/** A new namespace has neither labels nor annotations, apart from those that the selector requires. */
function bareNamespaceProblem(definition: ProviderDefinition): readonly PartWithoutEffect[] {
  const { path, match } = matchOf(definition);
  const name = match.names?.find((each) => !each.includes('*')) ?? 'new';
  const bare = bareNamespace(name, { metadata: {} });
  const labels = Object.fromEntries(
    neededLabels(match.namespaceSelector).map(({ key, values: [value = 'x'] }) => [key, value]),
  );
  const namespaceObject: KubeObject = {
    ...bare,
    metadata: { ...bare.metadata, labels: { ...bare.metadata.labels, ...labels } },
  };
  const result = matchNamespace({ ...definition.compiled.match, names: undefined }, namespaceObject);
  if (result.kind !== 'error') return [];
  const message =
    `${path}.matchConditions: condition ${result.condition} has an error for a namespace without other labels and annotations ` +
    `(${result.message}); use has() or .? for what may be missing`;
  return [{ path: [...path.split('.'), 'matchConditions'], message }];
}

/** Returns when the next part of the policy loses its effect, in milliseconds since the epoch. */
export function nextPastTime(definition: ProviderDefinition, now: Date): number | undefined {
  const { object, compiled } = policyIn(definition) ?? {};
  const { exceptions = [], validationActionOverrides = [] } = object?.spec ?? {};
  const expiries = (compiled?.contents ?? []).map(({ expiry }) => expiry ?? {});
  const ending = [...expiries, ...exceptions, ...validationActionOverrides];
  const times = ending.flatMap(({ expiresAt }) => (expiresAt === undefined ? [] : [Date.parse(expiresAt)]));
  const coming = times.filter((time) => time > now.getTime());
  return coming.length === 0 ? undefined : Math.min(...coming);
}

/** Names the label of a quota if namespaces can leave it out, because such a namespace does not count. */
export function uncountedNamespaces(
  definition: ProviderDefinition,
  { policies }: ClusterSnapshot,
): readonly PartWithoutEffect[] {
  const policy = policyIn(definition);
  const label = quotaIn(definition)?.label;
  if (policy === undefined || label === undefined) return [];
  const { compiled, object } = policy;
  const demands = ({ requirements, namespaceDefaults }: CompiledPolicy): boolean =>
    [...requirements, ...namespaceDefaults].some(({ field, key }) => field === 'labels' && key === label);
  const isNeeded = neededLabels(object.spec.match?.namespaceSelector).some(({ key }) => key === label);
  const others = policies.policies.filter(({ id }) => id !== compiled.id);
  if (isNeeded || demands(compiled) || others.some(demands)) return [];
  const message =
    `spec.namespaces.quota counts by the label ${label}, and no policy requires that label: a namespace without it is not ` +
    'counted; add the label to spec.namespaces.required.labels';
  return [{ path: ['spec', 'namespaces', 'quota', 'label'], message }];
}

function pastTimes(definition: ProviderDefinition, now: Date): readonly PartWithoutEffect[] {
  const { object, compiled } = policyIn(definition) ?? {};
  const { exceptions = [], validationActionOverrides = [] } = object?.spec ?? {};
  const isPast = (time: string | undefined): time is string =>
    time !== undefined && Date.parse(time) <= now.getTime();
  return [
    ...(compiled?.contents ?? []).flatMap((content) => {
      const { type, name, path, expiry } = content;
      const expiresAt = expiry?.expiresAt;
      if (!isPast(expiresAt)) return [];
      const message = `${renderPath(path)} expired at ${expiresAt}, so ${type.kind} ${clipped(name)} is not provided`;
      return [{ path: [...path, 'expiresAt'], message }];
    }),
    ...exceptions.flatMap(({ expiresAt }, index) =>
      isPast(expiresAt)
        ? [
            {
              path: ['spec', 'exceptions', index, 'expiresAt'],
              message: `spec.exceptions[${index}] expired at ${expiresAt}, so its namespaces are no longer excepted`,
            },
          ]
        : [],
    ),
    ...validationActionOverrides.flatMap(({ expiresAt }, index) =>
      isPast(expiresAt)
        ? [
            {
              path: ['spec', 'validationActionOverrides', index, 'expiresAt'],
              message: `spec.validationActionOverrides[${index}] expired at ${expiresAt}, so it changes no action`,
            },
          ]
        : [],
    ),
  ];
}

// Finds the first label or name of a match that no namespace has, and the word that was probably meant.

interface UnknownWord {
  /** From the match. */
  readonly path: Path;
  readonly message: string;
}

/** Returns the first label or name that no namespace has. */
function unknownWord(
  { namespaceSelector, names = [] }: MatchSpec,
  snapshot: ClusterSnapshot,
): UnknownWord | undefined {
  const known = knownWords(snapshot);
  for (const { key, values, at } of neededLabels(namespaceSelector)) {
    const path = ['namespaceSelector', ...at];
    const knownValues = known.labels.get(key);
    if (knownValues === undefined)
      return { path, message: `no namespace has the label ${key}${suggestion(key, known.labels.keys())}` };
    const [value] = values;
    if (value !== undefined && !values.some((each) => knownValues.has(each))) {
      const near = suggestion(value, knownValues, `${key}=`);
      return { path, message: `no namespace has the label ${key}=${value}${near}` };
    }
  }
  const [name] = names;
  const isNamed = name !== undefined && !names.some((each) => each.includes('*') || known.names.has(each));
  if (!isNamed) return undefined;
  return { path: ['names', 0], message: `there is no namespace ${name}${suggestion(name, known.names)}` };
}

interface NeededLabel {
  readonly key: string;
  /** One of these. Empty: any value. */
  readonly values: readonly string[];
  /** Where the selector says so. */
  readonly at: Path;
}

function neededLabels({
  matchLabels = {},
  matchExpressions = [],
}: LabelSelector = {}): readonly NeededLabel[] {
  return [
    ...Object.entries(matchLabels).map(([key, value]) => ({
      key,
      values: [value],
      at: ['matchLabels', key],
    })),
    ...matchExpressions
      .map((each, index) => ({ ...each, at: ['matchExpressions', index] }))
      .filter(({ operator }) => operator === 'In' || operator === 'Exists')
      .map(({ key, values = [], at }) => ({ key, values, at })),
  ];
}

interface KnownWords {
  readonly names: ReadonlySet<string>;
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
}

function knownWords(snapshot: ClusterSnapshot): KnownWords {
  const names = new Set<string>();
  const labels = new Map<string, Set<string>>();
  for (const namespaceObject of snapshot.namespaces()) {
    if (!isManaged(namespaceObject, snapshot)) continue;
    names.add(nameOf(namespaceObject));
    for (const [key, value] of Object.entries(labelsOf(namespaceObject))) {
      const values = labels.get(key);
      if (values === undefined) labels.set(key, new Set([value]));
      else values.add(value);
    }
  }
  return { names, labels };
}

function suggestion(word: string, known: Iterable<string>, prefix = ''): string {
  const near = nearestWord(word, known);
  return near === undefined ? '' : ` (did you mean ${prefix}${clipped(near)}?)`;
}

// Guesses which ClusterRole an author meant by a name that may not exist. Reeve has no right to read ClusterRoles.

/** https://kubernetes.io/docs/reference/access-authn-authz/rbac/#user-facing-roles */
export const userFacingRoles: readonly string[] = ['view', 'edit', 'admin', 'cluster-admin'];
/** Comparing two words takes microseconds. */
const maxCompared = 1000;
/** In shorter names, a second letter makes another word. */
const minLength = 6;

/** A ClusterRole that another one resembles. */
export interface MisspelledRole {
  readonly name: string;
  readonly message: string;
}

/** Warns of ClusterRoles that the write newly binds, and that another name resembles. */
export function misspelledRoles(
  id: ProviderId,
  before: ProviderDefinition | undefined,
  after: ProviderDefinition | undefined,
  snapshot: ClusterSnapshot,
): readonly MisspelledRole[] {
  const known = new Set(roleNames(before));
  return roleNames(after).flatMap((name) => {
    const meant = known.has(name) ? undefined : meantRole(name, id, snapshot);
    if (meant === undefined) return [];
    const message = `${id} binds ClusterRole ${clipped(name)}, which no other policy binds; did you mean ${clipped(meant)}?`;
    return [{ name, message }];
  });
}

/** Returns undefined for a name of Kubernetes, and for one that another policy binds too. */
export function meantRole(
  name: string,
  provider: ProviderId,
  { policies }: ClusterSnapshot,
): string | undefined {
  const others = policies.policies.filter(({ id }) => id !== provider);
  const bound = new Set(others.flatMap((policy) => policy.roleNames));
  if (userFacingRoles.includes(name) || bound.has(name)) return undefined;
  const known = [...userFacingRoles, ...[...bound].filter((each) => !isSibling(name, each))];
  return nearest(
    name,
    known.slice(0, maxCompared).filter((each) => resembles(name, each)),
    2,
  );
}

function resembles(name: string, known: string): boolean {
  const letters = known.length < minLength && lettersOf(name) !== lettersOf(known) ? 1 : 2;
  return nearest(name, [known], letters) !== undefined;
}

function lettersOf(name: string): string {
  return Array.from(name).toSorted().join('');
}

/** `team-a` and `team-b`, `reader1` and `reader2` are two roles, not one that is misspelled. */
function isSibling(name: string, known: string): boolean {
  return name.length === known.length && name.slice(0, -2) === known.slice(0, -2);
}

function roleNames(definition: ProviderDefinition | undefined): readonly string[] {
  return policyIn(definition)?.compiled.roleNames ?? [];
}

// Lists the rights that an author needs for a policy or share, so that Reeve does nothing that its author could not do.
import { isDeepStrictEqual } from 'node:util';
import type { NamespacePolicySpec } from '../../api/namespace-policy/namespace-policy.ts';
import { clipped, listed } from '../../base/text.ts';
import type { WrittenContent } from '../../contents/content.ts';
import { renderPath, type Path } from '../../base/problem.ts';
import { policyIn, type PolicyDefinition, type ProviderDefinition } from '../compile/load-provider.ts';
import { type Install } from '../terms/install.ts';
import { possibleLabels, presentAdapters } from '../intents/intent-context.ts';
import { matchOf } from './no-effect.ts';
import { neededRights, rightsOfAdapters } from './needed-rights.ts';
import { matchNamespace, withAlternatives, type CompiledMatch, type MatchTerms } from '../terms/match.ts';
import {
  isBinding,
  namespaceOfProvider,
  shownProvider,
  useOf,
  type ProviderId,
} from '../terms/provider-id.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { rightKey, type OwnRight, type Right } from '../terms/review.ts';
import { fateOf, type ProviderCircumstances, type ProviderWrite } from './provider-write.ts';
import { policyTarget, shareTarget, steeringEffect } from '../decide/steering.ts';
import { labelsOf, withMetadata, type KubeObject, type MetadataField } from '../../base/metadata.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { CompiledShare } from '../compile/compile-share.ts';

/**
 * Returns each RBAC right that the author must have. A write that only removes needs none, like a deletion. Objects of a
 * suspended provider outlast its deletion. So a suspension needs the rights to hand them out, but not those to write them. A
 * tenant can write bindings, so a binding also needs the rights to delete or weaken its objects.
 */
export function authorRights(
  write: ProviderWrite,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): readonly Right[] {
  const versions = { ...write, ...write.allServed };
  const gained = gainedRights(versions, snapshot, circumstances);
  if (!isBinding(write.id)) return gained;
  const { install } = circumstances;
  const rights = [...gained, ...earlyRights(versions, snapshot, install)];
  const known = new Set(rights.map(rightKey));
  return [...rights, ...lostRights(versions, snapshot, install).filter((each) => !known.has(rightKey(each)))];
}

function gainedRights(
  versions: ProviderWrite,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): readonly Right[] {
  const { id, after } = versions;
  const reduction = reductionIn(versions);
  if (after === undefined || reduction === 'removes') return [];
  const provided = neededRights(after, circumstances.install).flatMap(
    ({ verbs, own: _own, handsOut, isAllowed: _isAllowed, ...right }) =>
      reduction === 'none' || handsOut === true
        ? verbs.map((verb): Right => ({ ...right, verb, rule: 'authors' }))
        : [],
  );
  const policy = policyIn(after);
  if (policy === undefined || reduction !== 'none') return provided;
  const steered = steeredNamespace(policy, snapshot, circumstances);
  if (steered !== undefined) return [...provided, ...steered];
  const sourceOf = policy.intents?.sourceOf ?? ((path: Path) => path);
  const { namespaces } = policy.object.spec;
  const steering = (['defaults', 'enforced'] as const).flatMap((field) => {
    const labels = Object.keys(namespaces?.[field]?.labels ?? {});
    const annotations = Object.keys(namespaces?.[field]?.annotations ?? {});
    return steeredByKeys(id, { field, labels, annotations }, snapshot, sourceOf);
  });
  return [...provided, ...steering];
}

/** Returns the rights to delete the objects of a binding: on these objects, or to use the binding. */
function lostRights(write: ProviderWrite, { intents }: ClusterSnapshot, install: Install): readonly Right[] {
  const { id, before, reported } = write;
  if (!reported.isStored) return [];
  const lost =
    before === undefined
      ? // Its objects are kept, and nothing says which these are.
        rightsOfAdapters(presentAdapters(intents.context.adapters), namespaceOfProvider(id), install)
      : neededRights(lostPart(write, before), install);
  const isDeleting = fateOf(write) === 'deleted';
  const effect = `${isDeleting ? 'delete' : 'end the keeping of'} what ${shownProvider(id)} provides`;
  const instead: Right = { ...useOf(id), effect, rule: 'authors', path: 'spec.intents' };
  return lost.map(({ verbs, group, resource, name, namespace }) => ({
    verb: isDeleting && verbs.includes('delete') ? 'delete' : 'patch',
    group,
    resource,
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    effect,
    rule: 'authors',
    path: 'spec.intents',
    instead,
  }));
}

function rulesOf({ namespaces, validationActions, validationActionOverrides }: NamespacePolicySpec): unknown {
  return [namespaces, validationActions, validationActionOverrides];
}

/** Returns the part of the older version that the newer version changes or drops. */
function lostPart(write: ProviderWrite, before: ProviderDefinition): ProviderDefinition {
  const [older, after] = [policyIn(before), policyIn(write.after)];
  if (older === undefined || after === undefined) return before;
  const { spec } = older.object;
  const isKept =
    after.object.spec.suspend === spec.suspend && isDeepStrictEqual(matchOf(after), matchOf(before));
  if (!isKept) return before;
  const [placed, kept] = [placedContents(before), placedContents(after)];
  const contents = older.compiled.contents.filter((_, index) => !isSubset([placed[index]], kept));
  const hasSameRules = isDeepStrictEqual(rulesOf(spec), rulesOf(after.object.spec));
  const { namespaces: _namespaces, ...others } = spec;
  const rules = hasSameRules ? ({ ...others, existing: 'Report' } as const) : spec;
  return { ...older, object: { ...older.object, spec: rules }, compiled: { ...older.compiled, contents } };
}

/**
 * Returns the rights for intents that do not exist yet, as if they brought all possible objects. Once they exist, nothing names
 * the author of the binding.
 */
function earlyRights(write: ProviderWrite, snapshot: ClusterSnapshot, install: Install): readonly Right[] {
  const { id, before, after, isByIntent } = write;
  const facts = after?.intents;
  const known = before?.intents;
  if (facts === undefined || facts.missing.length === 0 || isByIntent === true) return [];
  const isOld =
    known !== undefined &&
    isSubset(facts.missing, known.named) &&
    isDeepStrictEqual(facts.workloads, known.workloads) &&
    reductionIn(write) !== 'none';
  if (isOld) return [];
  const { context } = snapshot.intents;
  const adapters = presentAdapters(context.adapters);
  const which = `${facts.missing.length === 1 ? 'SecurityIntent' : 'SecurityIntents'} ${listed(facts.missing)}`;
  const effect = (brings: string): string => `bind ${which} before it exists, because it could ${brings}`;
  const path = 'spec.intents';
  const rights = rightsOfAdapters(adapters, namespaceOfProvider(id), install).flatMap(({ verbs, ...right }) =>
    verbs.map((verb): Right => ({ ...right, verb, effect: effect(right.effect), rule: 'authors', path })),
  );
  const labels = possibleLabels(adapters, context.settings);
  const steered = steeredByKeys(id, { field: 'defaults', labels, annotations: [] }, snapshot, () => [
    'spec',
    'intents',
  ]);
  return [...rights, ...steered.map((right) => ({ ...right, effect: effect(right.effect) }))];
}

/** Returns the roles that this write newly binds. An author may be able to bind roles that Reeve cannot. */
export function rolesToBind({ id, before }: ProviderWrite, rights: readonly Right[]): readonly OwnRight[] {
  const known = policyIn(before)?.compiled.roleNames ?? [];
  return rights.flatMap((right) => {
    const { verb, name = '' } = right;
    if (verb !== 'bind' || known.includes(name)) return [];
    const notice =
      `${id} binds ClusterRole ${clipped(name)}, which this installation does not let Reeve bind, ` +
      'so Reeve does not create these RoleBindings until an administrator adds the role to the install';
    return [{ ...right, notice }];
  });
}

// Finds the providers that labels of a tenant's binding, or defaults of a policy, bring a namespace under.

/**
 * Compares the namespace with and without these labels, because the binding sets them again whenever they are missing. Returns
 * undefined for a provider of the cluster, an unknown namespace, and at the end of the time. Then each provider that could read
 * the labels counts.
 */
function steeredNamespace(
  { compiled, intents }: PolicyDefinition,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): readonly Right[] | undefined {
  const { budget } = circumstances;
  const name = namespaceOfProvider(compiled.id);
  const namespaceObject = name === undefined ? undefined : snapshot.namespace(name);
  if (intents === undefined || namespaceObject === undefined) return undefined;
  const values = literalLabels(compiled);
  if (values.size === 0) return [];
  const before = withoutLabels(namespaceObject, [...values.keys()]);
  const after = withMetadata(before, 'labels', values);
  const sides = { before, contained: before, after };
  const policies = snapshot.policies.candidates('namespaces', [before, after]);
  const targets = [
    ...policies.map(policyTarget),
    ...snapshot.shares.candidates([before, after]).map(shareTarget),
  ];
  const rights = targets.flatMap((target): readonly Right[] => {
    const { id, match } = target.provider;
    if (id === compiled.id || snapshot.providers.get(id)?.isDeleting === true) return [];
    const isMatched = matchNamespace(match, after, budget).kind === 'yes';
    if (steeringEffect(target, isMatched, sides, circumstances) === undefined) return [];
    const effect = `set a label that brings namespace ${name} under ${shownProvider(id)} or changes what it gets from it`;
    const contact = target.contact === undefined ? {} : { contact: target.contact };
    return [{ ...useOf(id), effect, rule: 'authors', path: 'spec.intents', ...contact }];
  });
  return budget.isSpent() ? undefined : rights;
}

/** Needs no request, because the defaults of a binding hold no templates. */
function literalLabels({ namespaceDefaults }: CompiledPolicy): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const { field, key, template } of namespaceDefaults) {
    const rendered = field === 'labels' ? template.render({}) : undefined;
    if (rendered?.ok === true) values.set(key, rendered.value);
  }
  return values;
}

function withoutLabels(namespaceObject: KubeObject, keys: readonly string[]): KubeObject {
  const labels = Object.fromEntries(
    Object.entries(labelsOf(namespaceObject)).filter(([key]) => !keys.includes(key)),
  );
  return { ...namespaceObject, metadata: { ...namespaceObject.metadata, labels } };
}

/**
 * A default or an enforced value chooses for other users which providers a new namespace comes under. So its author needs the right to use each
 * provider that reads the key. Conditions and templates count as reading all keys.
 */
function steeredByKeys(
  id: ProviderId,
  keys: Readonly<Record<MetadataField, readonly string[]>> & { readonly field: 'defaults' | 'enforced' },
  snapshot: ClusterSnapshot,
  sourceOf: (path: Path) => Path,
): readonly Right[] {
  if (keys.labels.length + keys.annotations.length === 0) return [];
  const readers: readonly Reader[] = [...snapshot.policies.policies, ...snapshot.shares.shares];
  const others = new Set([...readers.map((each) => each.id), ...snapshot.providers.keys()]);
  others.delete(id);
  // A tenant's binding only reads the name of its own namespace, even if its stored version does not load.
  for (const other of others) if (namespaceOfProvider(other) !== undefined) others.delete(other);
  const byId = new Map(readers.map((each) => [each.id, each]));
  return [...others].flatMap((other) => {
    const reader = byId.get(other);
    const key = keys.labels.find(
      (each) =>
        reader !== undefined && matchesOf(reader).some(({ selector }) => selector?.keys.has(each) === true),
    );
    if (key === undefined && reader !== undefined && !readsOtherFields(reader)) return [];
    const at = sourceOf(['spec', 'namespaces', keys.field, ...(key === undefined ? [] : ['labels', key])]);
    const provider = shownProvider(other);
    const what = keys.field === 'defaults' ? 'set a default' : 'enforce a value';
    const effect = `${what} that ${provider} ${reader === undefined ? 'may read' : 'reads'}`;
    const contact = reader?.contact === undefined ? {} : { contact: reader.contact };
    return [{ ...useOf(other), effect, rule: 'authors', path: renderPath(at), ...contact } as const];
  });
}

/** A policy or share in the version that is in force. A provider whose stored version does not load is missing here. */
type Reader = CompiledPolicy | CompiledShare;

/** Returns the match of the provider and of its overrides. */
function matchesOf(reader: Reader): readonly CompiledMatch[] {
  const overrides = 'overrides' in reader ? reader.overrides : [];
  return [reader, ...overrides].flatMap(({ match }) => withAlternatives(match));
}

/** Returns whether the provider reads more of a Namespace than its name and the labels of its selector. */
function readsOtherFields(reader: Reader): boolean {
  return reader.match.conditions.length > 0 || reader.readsNamespace;
}

// Recognizes writes that only remove: fewer namespaces, contents or subjects, or a suspension.

/** `suspends`: the write adds nothing, but existing objects outlast their expiry and the deletion of their provider. */
type Reduction = 'none' | 'removes' | 'suspends';

function reductionIn({ before, after }: ProviderWrite): Reduction {
  if (before === undefined || after === undefined) return 'none';
  const isLess =
    isDeepStrictEqual(fixedPart(before), fixedPart(after)) &&
    isNarrower(matchOf(before).match, matchOf(after).match) &&
    isSubset(placedContents(after), placedContents(before)) &&
    hasFewerContents(before, after);
  const [was, is] = [before.compiled.isSuspended, after.compiled.isSuspended];
  if (!isLess || (was && !is)) return 'none';
  return is && !was ? 'suspends' : 'removes';
}

interface PlacedContent {
  readonly list: string;
  readonly value: unknown;
  /** Undefined: each matched namespace gets the object. */
  readonly onlyIn: string | undefined;
}

/** The contents of a binding, with the only namespace that gets each of them. */
function placedContents(definition: ProviderDefinition): readonly PlacedContent[] {
  if (definition.intents === undefined) return [];
  const { onlyIn } = definition.intents;
  return contentsOf(definition).map(({ contentKind, value }, index) => ({
    list: contentKind.name,
    value,
    onlyIn: onlyIn[index],
  }));
}

/** The fields of all kinds that such a write can change. */
const reducible = ['match', 'targets', 'contents', 'suspend'];

/** Returns the fields that such a write must leave alone. */
function fixedPart({ object }: ProviderDefinition): unknown {
  return Object.fromEntries(Object.entries(object.spec).filter(([field]) => !reducible.includes(field)));
}

/** Conditions must be equal, because an error of an added condition would keep the objects where they are. */
function isNarrower(before: MatchTerms, after: MatchTerms): boolean {
  const [old = {}, now = {}] = [before.namespaceSelector, after.namespaceSelector];
  const [oldLabels, labels] = [old, now].map(({ matchLabels = {} }) => Object.entries(matchLabels));
  return (
    isDeepStrictEqual(before.matchConditions ?? [], after.matchConditions ?? []) &&
    isNarrowerList(before.names, after.names) &&
    isNarrowerList(before.anyOf, after.anyOf) &&
    isSubset(before.excludeNames, after.excludeNames) &&
    isSubset(oldLabels, labels) &&
    isSubset(old.matchExpressions, now.matchExpressions)
  );
}

function hasFewerContents(before: ProviderDefinition, after: ProviderDefinition): boolean {
  const known = contentsOf(before);
  return contentsOf(after).every((content) => known.some((each) => isReduced(each, content)));
}

function isReduced(before: WrittenContent, after: WrittenContent): boolean {
  const { name, compare } = after.contentKind;
  if (before.contentKind.name !== name) return false;
  return compare === 'by-field'
    ? isDeepStrictEqual(before.value, after.value)
    : compare.isReduced(before.value, after.value);
}

function contentsOf(definition: ProviderDefinition): readonly WrittenContent[] {
  return policyIn(definition)?.compiled.contents ?? [];
}

/** Without a list, every namespace matches. */
function isNarrowerList(
  before: readonly unknown[] | undefined,
  after: readonly unknown[] | undefined,
): boolean {
  return before === undefined || (after !== undefined && isSubset(after, before));
}

function isSubset(items: readonly unknown[] = [], of: readonly unknown[] = []): boolean {
  return items.every((item) => of.some((each) => isDeepStrictEqual(each, item)));
}

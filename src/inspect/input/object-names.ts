// Reads the names of policies, shares and bindings as people write them: policy/team, sib/no-egress, NamespacePolicy/team.
import { nearest, nearestWord } from '../../base/nearest.ts';
import { describeValue, clipped, quoted } from '../../base/text.ts';
import { contentKinds } from '../../contents/contents.ts';
import { kinds, type Kind, type ProviderKind } from '../../api/kinds.ts';
import { roleType, secretObjectType, type ObjectType } from '../../base/object-type.ts';
import {
  namespaceOfProvider,
  parseProviderId,
  providerId,
  providerKinds,
  type ProviderId,
} from '../../policy/terms/provider-id.ts';
import { isNamespaceName } from '../../base/kubernetes-names.ts';
import { namespaceType } from './loaded-state.ts';

export type ReadProviderName =
  { readonly ok: true; readonly id: ProviderId } | { readonly ok: false; readonly problem: string };

const providers = providerKinds.map((kind) => kinds[kind]);

/**
 * The words for a kind in lower case: `policy`, `namespacepolicy`, `namespacepolicies`, `nspol`. The word `share` stands for the
 * first kind that has it. The word `binding` is missing, because it stands for two kinds: with a namespace for the namespaced one.
 */
export const providerWords: ReadonlyMap<string, ProviderKind> = new Map([
  ...providers.flatMap(({ word, kind }) => (word === 'binding' ? [] : [[word, kind] as const])).toReversed(),
  ...providers.flatMap((each) => namesOf(each).map((name) => [name, each.kind] as const)),
]);

/** The words that stand for an intent, in lower case. */
export const intentWords: ReadonlySet<string> = new Set([
  kinds.SecurityIntent.word,
  ...namesOf(kinds.SecurityIntent),
]);

function namesOf({ kind, plural, shortName }: (typeof kinds)[Kind]): readonly string[] {
  return [kind.toLowerCase(), plural, shortName];
}

/** A SecurityIntentBinding is in `namespace`, unless the text names another one: `SecurityIntentBinding/shop/no-egress`. */
export function providerNamed(text: string, namespace: string | undefined): ReadProviderName {
  const [word = '', ...rest] = text.split('/');
  const place = rest.length > 1 ? rest[0] : namespace;
  const kind = kindOfWord(word.toLowerCase(), place);
  if (kind === undefined) return { ok: false, problem: unknownKind(text, word) };
  const name = rest.length > 1 ? rest.slice(1).join('/') : (rest[0] ?? '');
  if (kinds[kind].scope === 'Namespaced' && place === undefined)
    return { ok: false, problem: `${describeValue(text)} is in a namespace: add -n NAMESPACE` };
  const id = parseProviderId(providerId(kind, name, place));
  const isPlaced = id === undefined || namespaceOfProvider(id) !== undefined || rest.length < 2;
  return id === undefined || !isPlaced ? { ok: false, problem: notAName(text) } : { ok: true, id };
}

function kindOfWord(word: string, namespace: string | undefined): ProviderKind | undefined {
  if (word !== 'binding' && word !== 'bindings') return providerWords.get(word);
  return namespace === undefined ? 'ClusterSecurityIntentBinding' : 'SecurityIntentBinding';
}

const accepted = 'KIND/NAME, such as policy/team, share/regcred or binding/no-egress';

function notAName(text: string): string {
  return `${describeValue(text)} is not valid; accepted: ${accepted}`;
}

function unknownKind(text: string, word: string): string {
  const near = nearest(word.toLowerCase(), [...providerWords.keys(), 'binding'], 2);
  return `${notAName(text)}${near === undefined ? '' : `; did you mean ${near}?`}`;
}

// Reads what is to be explained, as people name objects for kubectl: `namespace/x`, `policy/p`, `secret/regcred`.

export interface ObjectTarget {
  readonly kind: 'object';
  readonly type: ObjectType;
  readonly namespace: string;
  readonly name: string;
}

export type ExplainTarget =
  | { readonly kind: 'namespace'; readonly name: string }
  | { readonly kind: 'provider'; readonly id: ProviderId }
  | ObjectTarget;

type TargetReading =
  { readonly ok: true; readonly target: ExplainTarget } | { readonly ok: false; readonly problem: string };

/**
 * Reads `KIND/NAME` or the words `KIND NAME`. A name alone names a namespace. `namespace` holds the object, or is the target if
 * there are no words. `provided`: the kinds that the install or a policy provides.
 */
export function readTarget(
  words: readonly string[],
  namespace: string | undefined,
  provided: readonly ObjectType[],
): TargetReading {
  const text = words.length === 0 ? `namespace/${namespace ?? ''}` : words.join('/');
  const [word = ''] = text.split('/');
  const types = wordsOfTypes(provided);
  if (words.length === 1 && !text.includes('/')) return aloneTarget(text, namespace, types);
  if (isProviderWord(word)) {
    const named = providerNamed(text, namespace);
    return named.ok ? { ok: true, target: { kind: 'provider', id: named.id } } : named;
  }
  return ofWord(text, namespace, types);
}

/** Reads a target that is no provider. */
function ofWord(
  text: string,
  namespace: string | undefined,
  types: ReadonlyMap<string, ObjectType>,
): TargetReading {
  const [word = '', name = '', ...rest] = text.split('/');
  if (intentWords.has(word.toLowerCase()))
    return wrong('an intent has no objects of its own: explain its bindings, with binding/NAME');
  if (name === '' || rest.length > 0) return wrong(noTarget(text));
  const type = types.get(word.toLowerCase());
  if (type === undefined)
    return wrong(unknownWord(word, [...types.keys(), ...providerWords.keys(), 'binding']));
  if (type === namespaceType) return { ok: true, target: { kind: 'namespace', name } };
  return namespace === undefined
    ? wrong(`${clipped(text)} is in a namespace: add -n NAMESPACE`)
    : { ok: true, target: { kind: 'object', type, namespace, name } };
}

/** Reads a single word as a namespace. A namespace that is named like a kind needs `namespace/` before its name. */
function aloneTarget(
  text: string,
  namespace: string | undefined,
  types: ReadonlyMap<string, ObjectType>,
): TargetReading {
  const word = text.toLowerCase();
  if (types.has(word) || isProviderWord(word) || intentWords.has(word))
    return wrong(`a name is missing: ${clipped(text)}/NAME`);
  if (!isNamespaceName(text)) return wrong(noTarget(text));
  if (namespace === undefined) return { ok: true, target: { kind: 'namespace', name: text } };
  return wrong(`the kind is missing: KIND/${clipped(text)} -n ${namespace}`);
}

function noTarget(text: string): string {
  return `${quoted(text)} is neither a file nor KIND/NAME, such as namespace/team-a`;
}

function isProviderWord(word: string): boolean {
  const lower = word.toLowerCase();
  return providerWords.has(lower) || lower === 'binding' || lower === 'bindings';
}

function wrong(problem: string): TargetReading {
  return { ok: false, problem };
}

function unknownWord(word: string, known: readonly string[]): string {
  const near = nearestWord(word, known);
  return `Reeve provides no kind ${quoted(word)}${near === undefined ? '' : `; did you mean ${near}?`}`;
}

/** https://kubernetes.io/docs/reference/kubectl/#resource-types */
const shortNames: ReadonlyMap<string, string> = new Map([
  ['Namespace', 'ns'],
  ['ServiceAccount', 'sa'],
  ['ConfigMap', 'cm'],
  ['ResourceQuota', 'quota'],
  ['LimitRange', 'limits'],
  ['NetworkPolicy', 'netpol'],
]);

function wordsOfTypes(provided: readonly ObjectType[]): ReadonlyMap<string, ObjectType> {
  const own = contentKinds.flatMap(({ type }) => type ?? []);
  const types = [...provided, secretObjectType, roleType, ...own, namespaceType];
  return new Map(types.flatMap((type) => wordsOf(type).map((word) => [word, type] as const)));
}

function wordsOf({ kind }: ObjectType): readonly string[] {
  const word = kind.toLowerCase();
  const plural = word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`;
  const short = shortNames.get(kind);
  return [word, plural, ...(short === undefined ? [] : [short])];
}

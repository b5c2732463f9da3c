// Reads the names of policies, shares and bindings as people write them: policy/team, sib/no-egress, NamespacePolicy/team.
import { nearest } from '../../base/nearest.ts';
import { describeValue } from '../../base/text.ts';
import { kinds, type Kind, type ProviderKind } from '../../api/kinds.ts';
import {
  namespaceOfProvider,
  parseProviderId,
  providerId,
  providerKinds,
  type ProviderId,
} from '../../policy/terms/provider-id.ts';

export type ReadProviderName =
  { readonly ok: true; readonly id: ProviderId } | { readonly ok: false; readonly problem: string };

const providers = providerKinds.map((kind) => kinds[kind]);

/**
 * The words that stand for a kind, in lower case: `policy`, `namespacepolicy`, `namespacepolicies`, `nspol`. The word `binding` is
 * not here: whether a namespace is given decides which of the two kinds is meant.
 */
export const providerWords: ReadonlyMap<string, ProviderKind> = new Map([
  ...providers.flatMap(({ word, kind }) => (word === 'binding' ? [] : [[word, kind] as const])),
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

/** `namespace`: that of a SecurityIntentBinding, unless the text names it: `SecurityIntentBinding/shop/no-egress`. */
export function providerNamed(text: string, namespace: string | undefined): ReadProviderName {
  const [word = '', ...rest] = text.split('/');
  const place = rest.length > 1 ? rest[0] : namespace;
  const kind = kindOfWord(word.toLowerCase(), place);
  if (kind === undefined) return { ok: false, problem: unknownKind(text, word) };
  const name = rest.length > 1 ? rest.slice(1).join('/') : (rest[0] ?? '');
  if (kind === 'SecurityIntentBinding' && place === undefined)
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

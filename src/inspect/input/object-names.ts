// Reads the names of policies, shares and bindings as people write them: policy/team, sib/no-egress, NamespacePolicy/team.
import { kindDefinitions } from '../../api/crd.ts';
import { securityIntentKind } from '../../api/intents/security-intent.ts';
import { nearest } from '../../base/nearest.ts';
import { describeValue } from '../../base/text.ts';
import {
  namespaceOfProvider,
  parseProviderId,
  providerId,
  providerKinds,
  type ProviderId,
  type ProviderKind,
} from '../../policy/terms/provider-id.ts';

export type ReadProviderName =
  { readonly ok: true; readonly id: ProviderId } | { readonly ok: false; readonly problem: string };

/** `binding` is not here: whether a namespace is given decides which of the two kinds is meant. */
const plainWords: ReadonlyMap<string, ProviderKind> = new Map([
  ['policy', 'NamespacePolicy'],
  ['share', 'SecretShare'],
]);

/** The words that stand for a kind, in lower case: `policy`, `namespacepolicy`, `namespacepolicies`, `nspol`. */
export const providerWords: ReadonlyMap<string, ProviderKind> = new Map([
  ...plainWords,
  ...kindDefinitions.flatMap(({ kind, plural, shortName }) =>
    [kind.toLowerCase(), plural, shortName].flatMap((word) => {
      const known = providerKinds.find((each) => each === kind);
      return known === undefined ? [] : [[word, known] as const];
    }),
  ),
]);

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

const intentDefinition = kindDefinitions.find(({ kind }) => kind === securityIntentKind);
/** The words that stand for an intent, in lower case. */
export const intentWords: ReadonlySet<string> = new Set([
  'intent',
  securityIntentKind.toLowerCase(),
  ...(intentDefinition === undefined ? [] : [intentDefinition.plural, intentDefinition.shortName]),
]);

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

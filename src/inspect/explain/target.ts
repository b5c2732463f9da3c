// Reads what is to be explained, as people name objects for kubectl: `namespace/x`, `policy/p`, `secret/regcred`.
import { isNamespaceName } from '../../schema/kubernetes-names.ts';
import { nearestWord } from '../../base/nearest.ts';
import { clipped, quoted } from '../../base/text.ts';
import {
  roleBindingType,
  roleType,
  secretObjectType,
  serviceAccountType,
  type ObjectType,
  type ProviderId,
} from '../../policy/terms/provider-id.ts';
import { namespaceType } from '../input/loaded-state.ts';
import { intentWords, providerNamed, providerWords } from '../input/object-names.ts';

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
 * Reads `KIND/NAME` or the words `KIND NAME`; a name alone is that of a namespace. `namespace` is that of the object, and
 * the target itself without words. `provided`: the kinds that the install or a policy provides.
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

/** A target that is no provider. */
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

/** A word without a name. A namespace that has the name of a kind needs `namespace/` before it. */
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
  const types = [...provided, secretObjectType, serviceAccountType, roleType, roleBindingType, namespaceType];
  return new Map(types.flatMap((type) => wordsOf(type).map((word) => [word, type] as const)));
}

function wordsOf({ kind }: ObjectType): readonly string[] {
  const word = kind.toLowerCase();
  const plural = word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`;
  const short = shortNames.get(kind);
  return [word, plural, ...(short === undefined ? [] : [short])];
}

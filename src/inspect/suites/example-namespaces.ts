// Finds Namespaces that a policy or share matches and that satisfy what the policies require of them, as far as that is easy.
import { isLabelKey, isLabelValue, isNamespaceName } from '../../schema/kubernetes-names.ts';
import type { MatchSpec } from '../../api/namespace-policy/namespace-policy.ts';
import {
  type KubeObject,
  metadataMap,
  nameOf,
  withMetadata,
  type MetadataField,
} from '../../base/metadata.ts';
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import type { Requirement } from '../../rules/rule.ts';
import { matchNamespace } from '../../policy/terms/match.ts';
import { compileRegex } from '../../cel/regex.ts';

export type ExamplePolicy = Extract<ProviderDefinition, { readonly kind: 'NamespacePolicy' }>;

/** A Namespace with a name. */
export type ExampleNamespace = KubeObject & { readonly apiVersion: string; readonly kind: string };

/** More are seldom better, and each is judged. */
const maxExamples = 40;

/** Returns Namespaces that the provider matches. The caller asks the engine which of them violates the fewest rules. */
export function matchedNamespaces(
  provider: ProviderDefinition,
  all: readonly ProviderDefinition[],
): readonly ExampleNamespace[] {
  const match = matchOf(provider);
  const texts = textsIn(provider);
  const extras = [new Map<string, string>(), ...labelPairs(texts).map((pair) => new Map([pair]))];
  const names = namesFor(match, texts, all);
  const found: ExampleNamespace[] = [];
  for (const extra of extras)
    for (const name of names) {
      if (found.length === maxExamples) return found;
      const labels = new Map([...selectedLabels(match), ...extra]);
      const object = completed(withLabels(exampleNamespace(name), labels), all);
      if (matchNamespace(provider.compiled.match, object).kind === 'yes') found.push(object);
    }
  return found;
}

function exampleNamespace(name: string): ExampleNamespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

export function withLabels(
  object: ExampleNamespace,
  additions: ReadonlyMap<string, string>,
  field: MetadataField = 'labels',
): ExampleNamespace {
  return { ...object, ...withMetadata(object, field, additions) };
}

function matchOf(provider: ProviderDefinition): MatchSpec {
  return (provider.kind === 'SecretShare' ? provider.object.spec.targets : provider.object.spec.match) ?? {};
}

/** Returns the literal texts of the expressions: a value that an expression compares with is one to try. */
export function textsIn(provider: ProviderDefinition): readonly string[] {
  const { validations = [] } = provider.kind === 'NamespacePolicy' ? provider.object.spec : {};
  const expressions = [...(matchOf(provider).matchConditions ?? []), ...validations];
  const literal = /'([^'\\]*)'|"([^"\\]*)"/g;
  return [
    ...new Set(
      expressions.flatMap(({ expression }) =>
        [...expression.matchAll(literal)].map(([, single, double]) => single ?? double ?? ''),
      ),
    ),
  ];
}

/** Returns each pair of texts that can be a label and its value. */
export function labelPairs(texts: readonly string[]): readonly (readonly [key: string, value: string])[] {
  const few = texts.slice(0, 6);
  return few
    .filter(isLabelKey)
    .flatMap((key) =>
      few.filter((value) => value !== key && isLabelValue(value)).map((value) => [key, value] as const),
    );
}

function namesFor(
  { names = [] }: MatchSpec,
  texts: readonly string[],
  all: readonly ProviderDefinition[],
): readonly string[] {
  const patterns = all.flatMap((each) =>
    each.kind === 'NamespacePolicy' ? (each.object.spec.namespaces?.name?.pattern ?? []) : [],
  );
  const found = [
    ...names.flatMap((glob) => [glob.replaceAll('*', 'example'), glob.replaceAll('*', 'a')]),
    ...patterns.map((pattern) => textMatching(pattern) ?? ''),
    'example',
  ];
  // Each provider gets a name of its own where that is possible.
  const more = found.map((name) => `${name}-b`);
  const literal = texts.flatMap((text) => [text, `${text}example`]);
  return [...new Set([...found, ...more, ...literal])].filter(isNamespaceName);
}

function selectedLabels({ namespaceSelector = {} }: MatchSpec): ReadonlyMap<string, string> {
  const { matchLabels = {}, matchExpressions = [] } = namespaceSelector;
  return new Map([
    ...Object.entries(matchLabels),
    ...matchExpressions.flatMap(({ key, operator, values = [] }) => {
      if (operator === 'Exists') return [[key, 'example'] as const];
      return operator === 'In' ? [[key, values[0] ?? ''] as const] : [];
    }),
  ]);
}

/** Adds what policies require. A new label may bring the Namespace under another policy, which may require more. */
function completed(start: ExampleNamespace, all: readonly ProviderDefinition[]): ExampleNamespace {
  let object = start;
  for (let round = 0; round <= all.length; round += 1) {
    const before = object;
    for (const each of matchingPolicies(object, all)) object = withRequired(object, each);
    if (object === before) break;
  }
  return object;
}

export function matchingPolicies(
  object: KubeObject,
  all: readonly ProviderDefinition[],
): readonly ExamplePolicy[] {
  return all
    .filter((each) => each.kind === 'NamespacePolicy')
    .filter((each) => matchNamespace(each.compiled.match, object).kind === 'yes');
}

function withRequired(object: ExampleNamespace, policy: ExamplePolicy): ExampleNamespace {
  return policy.compiled.requirements.reduce((given, requirement) => {
    const { field, key } = requirement;
    if (Object.hasOwn(metadataMap(given, field), key)) return given;
    const [value] = acceptedValues(policy, requirement);
    return value === undefined ? given : withLabels(given, new Map([[key, value]]), field);
  }, object);
}

/** Returns values that the requirement accepts. */
function acceptedValues({ object }: ExamplePolicy, requirement: Requirement): readonly string[] {
  const { field, key } = requirement;
  const { values = [], pattern = '' } = object.spec.namespaces?.required?.[field]?.[key] ?? {};
  const found = [...values, textMatching(pattern), textMatching(pattern, 'b1'), 'example', 'other'];
  return found
    .filter((each) => each !== undefined)
    .filter((each) => requirement.accepts(each) && isPossible(field, each));
}

function isPossible(field: MetadataField, value: string): boolean {
  return field === 'annotations' || isLabelValue(value);
}

/** Returns the Namespaces that fill the quota of the policy for one value of its label, and that value. */
export function quotaFillers(
  policy: ExamplePolicy,
  namespace: ExampleNamespace,
): { readonly value: string; readonly namespaces: readonly ExampleNamespace[] } | undefined {
  const { label, max } = policy.object.spec.namespaces?.quota ?? { label: '', max: Infinity };
  if (max > maxFillers) return undefined;
  const used = metadataMap(namespace, 'labels')[label];
  const requirement = policy.compiled.requirements.find(
    ({ field, key }) => field === 'labels' && key === label,
  );
  const values = requirement === undefined ? ['other'] : acceptedValues(policy, requirement);
  const value = values.find((each) => each !== used);
  if (value === undefined) return undefined;
  const namespaces = Array.from({ length: max }, (_, index) =>
    withLabels(exampleNamespace(`${nameOf(namespace)}-${index + 1}`), new Map([[label, value]])),
  ).map((each) => withLabels(each, new Map(Object.entries(otherLabels(namespace, label)))));
  return namespaces.every((each) => matchNamespace(policy.compiled.match, each).kind === 'yes')
    ? { value, namespaces }
    : undefined;
}

const maxFillers = 10;

function otherLabels(namespace: KubeObject, label: string): Readonly<Record<string, string>> {
  const { [label]: _left, ...others } = metadataMap(namespace, 'labels');
  return others;
}

// Finds a short text that matches a regular expression, for the examples of a first suite.

/** An escape, a class, the start of a group, or one character. */
const part =
  /\\[pP](?:\{\^?\w+\}|\w)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\((?:\?(?:P?<\w+>|[\w-]*[:)]))?|[^]/y;
const quantifier = /(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/y;
const anchors = ['^', '$', '\\A', '\\z', '\\b', '\\B'];

/**
 * Takes the first alternative, each part as seldom as allowed, and of each class a character of `preferred` if it has one.
 * Returns undefined if that text does not match, which is rare.
 */
export function textMatching(pattern: string, preferred = 'a0'): string | undefined {
  const text = new PatternReader(pattern, `${preferred}A-_.@/ `).alternatives();
  const compiled = compileRegex(pattern);
  return compiled.ok && compiled.regex.search(text) ? text : undefined;
}

class PatternReader {
  readonly #pattern: string;
  readonly #characters: string;
  #at = 0;

  constructor(pattern: string, characters: string) {
    this.#pattern = pattern;
    this.#characters = characters;
  }

  alternatives(): string {
    const first = this.#sequence();
    while (this.#pattern[this.#at] === '|') {
      this.#at += 1;
      this.#sequence();
    }
    return first;
  }

  #sequence(): string {
    let text = '';
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#pattern.charAt(this.#at))) {
      const once = this.#part(this.#take(part)?.[0] ?? '');
      const times = this.#take(quantifier);
      text += once.repeat(times === undefined ? 1 : lowestCount(times));
    }
    return text;
  }

  #part(source: string): string {
    if (anchors.includes(source)) return '';
    if (!source.startsWith('(')) return this.#character(source);
    // Flags, as in (?i), are no group.
    if (source.endsWith(')')) return '';
    const inner = this.alternatives();
    this.#at += 1;
    return inner;
  }

  #character(source: string): string {
    const compiled = compileRegex(`^(?:${source})$`);
    const candidates = Array.from(this.#characters + source);
    return candidates.find((each) => compiled.ok && compiled.regex.search(each)) ?? '';
  }

  #take(expression: RegExp): RegExpExecArray | undefined {
    const sticky = new RegExp(expression);
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#pattern) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}

/** RE2 allows at most 1000. */
function lowestCount([source, count]: RegExpExecArray): number {
  if (count !== undefined) return Number(count);
  return source.startsWith('+') ? 1 : 0;
}

// Loads policies, shares, intents and bindings from files: each one whole or not at all, and every problem with its place.
import { isJsonObject, ownMember } from '../base/json.ts';
import { apiVersion } from '../api/names.ts';
import { parseSecurityIntent, securityIntentKind } from '../api/intents/security-intent.ts';
import { alternatives, describeValue } from '../base/text.ts';
import { providerKinds, type BindingKind, type ProviderKind } from '../policy/terms/provider-id.ts';
import { compiled, type CompileResult } from '../policy/terms/compile-result.ts';
import type { FileProblem } from './file-problem.ts';
import type { Intent } from '../policy/intents/adapter.ts';
import { intentAdapters } from '../policy/intents/adapters.ts';
import { adapterStates, noIntents, type IntentContext } from '../policy/intents/intent-context.ts';
import { loadProvider, type ProviderDefinition, type ProviderForm } from '../policy/compile/load-provider.ts';
import type { IntentSnapshot, StoredBinding } from '../policy/compile/snapshot.ts';
import { firstOfEach, inOrder } from './located.ts';
import { readYamlFiles } from './yaml-files.ts';
import { readObjects, type LocatedObject } from './yaml-objects.ts';

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

type Loaded<T> = Place & { readonly value: T };
type DefinitionOf<K extends ProviderForm> = Extract<ProviderDefinition, { readonly kind: K }>;

/** A policy, or a binding in the form of a policy. */
interface LoadedPolicy extends Place {
  readonly policy: DefinitionOf<'NamespacePolicy'>['object'];
  readonly compiled: DefinitionOf<'NamespacePolicy'>['compiled'];
}

interface LoadedShare extends Place {
  readonly share: DefinitionOf<'SecretShare'>['object'];
  readonly compiled: DefinitionOf<'SecretShare'>['compiled'];
}

interface LoadedPolicies {
  readonly policies: readonly LoadedPolicy[];
  readonly shares: readonly LoadedShare[];
  readonly bindings: readonly LoadedPolicy[];
  /** By what a write of an intent is judged. */
  readonly intents: IntentSnapshot;
  readonly problems: readonly FileProblem[];
}

/** Throws UnreadablePathError when the path itself cannot be read; everything else is a problem in the result. */
export async function loadPolicyFiles(path: string): Promise<LoadedPolicies> {
  const { files, problems } = await readYamlFiles(path);
  const read = files.map(readObjects);
  const objects = Map.groupBy(
    read.flatMap((file) => file.objects),
    ({ value }) => kindOf(value),
  );
  const intents = loadAll(securityIntentKind, objects, intentOf);
  const context = contextOf(intents.loaded.map(({ value }) => value));
  const providersOf = (kind: ProviderKind) =>
    loadAll(kind, objects, (value) => loadProvider(kind, value, context));
  const policies = providersOf('NamespacePolicy');
  const shares = providersOf('SecretShare');
  const clusterBindings = providersOf('ClusterSecurityIntentBinding');
  const bindings = providersOf('SecurityIntentBinding');
  return {
    policies: policies.loaded.flatMap(asPolicy),
    shares: shares.loaded.flatMap(asShare),
    bindings: [...clusterBindings.loaded, ...bindings.loaded].flatMap(asPolicy),
    intents: { context, bindings: () => bindingKinds.flatMap((kind) => storedBindings(kind, objects)) },
    problems: inOrder([
      ...problems,
      ...read.flatMap((file) => file.problems),
      ...(objects.get(undefined) ?? []).map(anotherKind),
      ...[intents, policies, shares, clusterBindings, bindings].flatMap((each) => each.problems),
    ]),
  };
}

function intentOf(value: unknown): CompileResult<Intent> {
  const parsed = parseSecurityIntent(value);
  return parsed.ok ? compiled({ name: parsed.intent.metadata.name, ...parsed.intent.spec }) : parsed;
}

/** Files do not say which engines a cluster has, so all adapters count as present. */
function contextOf(intents: readonly Intent[]): IntentContext {
  const { settings } = noIntents;
  return {
    intents: new Map(intents.map((intent) => [intent.name, intent])),
    adapters: adapterStates(intentAdapters, { offered: undefined, isServed: () => true, settings }),
    settings,
  };
}

const bindingKinds = ['ClusterSecurityIntentBinding', 'SecurityIntentBinding'] as const;

function storedBindings(kind: BindingKind, objects: ObjectsByKind): readonly StoredBinding[] {
  return (objects.get(kind) ?? []).flatMap(({ value }) => {
    const metadata = ownMember(value, 'metadata');
    return isJsonObject(value) && isJsonObject(metadata) ? [{ kind, object: { ...value, metadata } }] : [];
  });
}

function asPolicy({ value, ...place }: Loaded<ProviderDefinition>): readonly LoadedPolicy[] {
  if (value.kind !== 'NamespacePolicy') return [];
  return [{ policy: value.object, compiled: value.compiled, ...place }];
}

function asShare({ value, ...place }: Loaded<ProviderDefinition>): readonly LoadedShare[] {
  if (value.kind !== 'SecretShare') return [];
  return [{ share: value.object, compiled: value.compiled, ...place }];
}

/** The word for each kind that a file may hold. */
const words = {
  NamespacePolicy: 'policy',
  SecretShare: 'share',
  ClusterSecurityIntentBinding: 'binding',
  SecurityIntentBinding: 'binding',
  SecurityIntent: 'intent',
} as const;
type LoadedKind = keyof typeof words;
const loadedKinds: readonly LoadedKind[] = [...providerKinds, securityIntentKind];

/** Undefined for other kinds. The apiVersion is checked with the other fields. */
function kindOf(value: unknown): LoadedKind | undefined {
  const kind = ownMember(value, 'kind');
  return loadedKinds.find((each) => each === kind);
}

/** All that is wrong with an object of one of our kinds; nothing is wrong with other kinds. */
export function ownProblems(object: LocatedObject): readonly FileProblem[] {
  const kind = kindOf(object.value);
  if (kind === undefined) return [];
  const load = (value: unknown): CompileResult<unknown> =>
    kind === securityIntentKind ? intentOf(value) : loadProvider(kind, value);
  return loadAll(kind, new Map([[kind, [object]]]), load).problems;
}

type ObjectsByKind = ReadonlyMap<LoadedKind | undefined, readonly LocatedObject[]>;

/** Loads the objects of this kind. A second object of a name is refused. */
function loadAll<T>(
  kind: LoadedKind,
  objects: ObjectsByKind,
  load: (value: unknown) => CompileResult<T>,
): { readonly loaded: readonly Loaded<T>[]; readonly problems: readonly FileProblem[] } {
  const loaded: (Loaded<T> & { readonly name: string })[] = [];
  const problems: FileProblem[] = [];
  for (const object of objects.get(kind) ?? []) {
    const { value, file, line, column } = object;
    const name = nameIn(value);
    const about = name === '' ? {} : { about: `${words[kind]} ${name}` };
    const result = load(value);
    if (result.ok) loaded.push({ value: result.value, name, file, line, column });
    else problems.push(...result.problems.map((problem) => ({ ...object.locate(problem), ...about })));
  }
  const { first, repeated } = firstOfEach(loaded, ({ name }) => name);
  return {
    loaded: first.map(({ name: _name, ...each }) => each),
    problems: [
      ...problems,
      ...repeated.map(({ name, ...each }) => ({ ...each, about: `${words[kind]} ${name}` })),
    ],
  };
}

/** `<namespace>/<name>` in a namespace; empty without a name. */
function nameIn(value: unknown): string {
  const metadata = ownMember(value, 'metadata');
  const [name, namespace] = [ownMember(metadata, 'name'), ownMember(metadata, 'namespace')];
  if (typeof name !== 'string' || name === '') return '';
  return typeof namespace === 'string' ? `${namespace}/${name}` : name;
}

function anotherKind(object: LocatedObject): FileProblem {
  const { value } = object;
  const accepted = `${alternatives(loadedKinds)} of ${apiVersion}, or a List of them`;
  if (!isJsonObject(value)) return object.locate({ path: [], found: describeValue(value), accepted });
  return object.locate({ path: ['kind'], found: describeValue(value['kind']), accepted });
}

// Loads our own kinds from located objects: each one whole or not at all, and every problem with its place.
import { isJsonObject, ownMember, withSortedMembers } from '../base/json.ts';
import { cliApiVersion } from '../schema/names.ts';
import { kinds, type BindingKind, type Kind } from '../api/kinds.ts';
import { type ObjectType, groupOf } from '../base/object-type.ts';
import { isBindingKind, providerId, providerKinds, type ProviderId } from '../policy/terms/provider-id.ts';
import { anyInstall, type Install } from '../policy/terms/install.ts';
import type { CompileResult, Path, Problem } from '../base/problem.ts';
import { type FileProblem, firstOfEach, inOrder, type LocatedObject } from './yaml-files.ts';
import type { Intent } from '../policy/intents/adapter.ts';
import { intentAdapters } from '../policy/intents/adapters.ts';
import {
  adapterSettings,
  adapterStates,
  noIntents,
  type IntentContext,
} from '../policy/intents/intent-context.ts';
import {
  loadObject,
  loadProvider,
  readIntent,
  type ProviderDefinition,
} from '../policy/compile/load-provider.ts';
import type { IntentSnapshot, StoredBinding } from '../policy/compile/snapshot.ts';

/** A policy, share or binding that loads, and where it stands. */
export interface LocatedDefinition {
  readonly id: ProviderId;
  readonly definition: ProviderDefinition;
  readonly source: LocatedObject;
}

export interface Definitions {
  /** Sorted by kind, then in the order of the files. */
  readonly providers: readonly LocatedDefinition[];
  /** Providers with problems, without the parts that are wrong, to find what else is wrong. */
  readonly partial: readonly LocatedDefinition[];
  /** The intents that a write of an intent is judged with. */
  readonly intents: IntentSnapshot;
  /** Objects of other kinds, and documents that are no objects. */
  readonly rest: readonly LocatedObject[];
  readonly problems: readonly FileProblem[];
}

interface DefinitionSetup {
  readonly install: Install;
  readonly isServed: (type: ObjectType) => boolean;
  /** Intents that exist, apart from those of the files. */
  readonly intents: readonly Intent[];
}

/** Files do not say which engines a cluster has, so all adapters count as present. */
const withoutCluster: DefinitionSetup = { install: anyInstall, isServed: () => true, intents: [] };

export function loadDefinitions(
  located: readonly LocatedObject[],
  given: Partial<DefinitionSetup> = {},
): Definitions {
  const setup = { ...withoutCluster, ...given };
  const objects = Map.groupBy(
    located.filter(({ value }) => !isForTools(value)),
    ({ value }) => kindIn(value),
  );
  const intents = loadAll('SecurityIntent', objects, readIntent);
  const plain = { ...noIntents, cluster: setup.install.clusterVariables };
  const claims = loadAll('NamespaceClaim', objects, (value) => loadObject('NamespaceClaim', value));
  // Most files have no bindings, so nothing asks for the context.
  let known: IntentContext | undefined;
  const contextOfFiles = (): IntentContext =>
    (known ??= contextOf([...setup.intents, ...intents.loaded.map(({ value }) => value)], setup));
  const providers = providerKinds.map((kind) => {
    const context = isBindingKind(kind) ? contextOfFiles : () => plain;
    const all = loadAll(kind, objects, (value) => loadProvider(kind, asStored(value), context()));
    const definitionOf = (each: Loaded<ProviderDefinition>): LocatedDefinition => ({
      id: providerId(kind, each.name, each.namespace),
      definition: each.value,
      source: each.source,
    });
    return { ...all, loaded: all.loaded.map(definitionOf), partial: all.partial.map(definitionOf) };
  });
  return {
    providers: providers.flatMap(({ loaded }) => loaded),
    partial: providers.flatMap(({ partial }) => partial),
    intents: {
      get context() {
        return contextOfFiles();
      },
      bindings: () => providerKinds.filter(isBindingKind).flatMap((kind) => storedBindings(kind, objects)),
    },
    rest: objects.get(undefined) ?? [],
    problems: inOrder([intents, ...providers, claims].flatMap(({ problems }) => problems)),
  };
}

/** A refusal names several problems in the order of the fields, so it reads the same as on a cluster. */
function asStored(value: unknown): unknown {
  const spec = ownMember(value, 'spec');
  return isJsonObject(value) && isJsonObject(spec) ? { ...value, spec: withSortedMembers(spec) } : value;
}

const groupsOfTools = [groupOf(cliApiVersion), 'kustomize.config.k8s.io', 'admission.k8s.io'];

/** Suites of `reeve test`, kustomizations and requests stand beside policies, and no API server stores them. */
export function isForTools(value: unknown): boolean {
  const apiVersion = ownMember(value, 'apiVersion');
  return typeof apiVersion === 'string' && groupsOfTools.includes(groupOf(apiVersion));
}

function contextOf(intents: readonly Intent[], { install, isServed }: DefinitionSetup): IntentContext {
  return {
    intents: new Map(intents.map((intent) => [intent.name, intent])),
    adapters: adapterStates(intentAdapters, install, isServed),
    settings: adapterSettings(install),
    cluster: install.clusterVariables,
  };
}

function storedBindings(kind: BindingKind, objects: ObjectsByKind): readonly StoredBinding[] {
  return (objects.get(kind) ?? []).flatMap(({ value }) => {
    const metadata = ownMember(value, 'metadata');
    return isJsonObject(value) && isJsonObject(metadata) ? [{ kind, object: { ...value, metadata } }] : [];
  });
}

export const loadedKinds: readonly Kind[] = [...providerKinds, 'SecurityIntent', 'NamespaceClaim'];

/** Undefined for other kinds. The apiVersion is checked with the other fields. */
function kindIn(value: unknown): Kind | undefined {
  const kind = ownMember(value, 'kind');
  return loadedKinds.find((each) => each === kind);
}

/** Returns the problems of an object of one of our kinds, and none for other kinds. */
export function ownProblems(object: LocatedObject): readonly FileProblem[] {
  const kind = kindIn(object.value);
  if (kind === undefined) return [];
  return loadAll(kind, new Map([[kind, [object]]]), (value) => loadObject(kind, value)).problems;
}

type ObjectsByKind = ReadonlyMap<Kind | undefined, readonly LocatedObject[]>;

interface Loaded<T> extends NameInFile {
  readonly value: T;
  readonly source: LocatedObject;
}

interface AllLoaded<T> {
  readonly loaded: readonly Loaded<T>[];
  readonly partial: readonly Loaded<T>[];
  readonly problems: readonly FileProblem[];
}

/** Loads the objects of this kind. A second object with the same name is refused. */
function loadAll<T>(
  kind: Kind,
  objects: ObjectsByKind,
  load: (value: unknown) => CompileResult<T>,
): AllLoaded<T> {
  const loaded: Loaded<T>[] = [];
  const partial: Loaded<T>[] = [];
  const problems: FileProblem[] = [];
  for (const source of objects.get(kind) ?? []) {
    const about = aboutOf(source);
    const result = load(source.value);
    if (result.ok) loaded.push({ value: result.value, source, ...nameIn(source.value) });
    else {
      const all = allProblems(source.value, result.problems, load);
      problems.push(
        ...all.problems.map((problem) => ({ ...source.locate(problem), ...(about && { about }) })),
      );
      if (all.rest !== undefined) partial.push({ value: all.rest, source, ...nameIn(source.value) });
    }
  }
  const placed = loaded.map((each) => ({ ...each, ...placeOf(each.source) }));
  const { first, repeated } = firstOfEach(placed, shownNameOf);
  return {
    loaded: first,
    partial,
    problems: [
      ...problems,
      ...repeated.map(({ name, ...each }) => ({ ...each, about: `${kinds[kind].word} ${name}` })),
    ],
  };
}

function placeOf({ file, line, column }: LocatedObject) {
  return { file, line, column };
}

interface NameInFile {
  readonly name: string;
  readonly namespace?: string;
}

function nameIn(value: unknown): NameInFile {
  const metadata = ownMember(value, 'metadata');
  const [name, namespace] = [ownMember(metadata, 'name'), ownMember(metadata, 'namespace')];
  return { name: typeof name === 'string' ? name : '', ...(typeof namespace === 'string' && { namespace }) };
}

function shownNameOf({ name, namespace }: NameInFile): string {
  return namespace === undefined || name === '' ? name : `${namespace}/${name}`;
}

/** Names the object as people do: `policy team`. Undefined for other kinds, and for an object without a name. */
export function aboutOf({ value }: LocatedObject): string | undefined {
  const kind = kindIn(value);
  const name = shownNameOf(nameIn(value));
  return kind === undefined || name === '' ? undefined : `${kinds[kind].word} ${name}`;
}

// Finds all problems of an object at once, because the rest is also loaded without the parts that are wrong.

interface AllProblems<T> {
  readonly problems: readonly Problem[];
  /** The object without the parts that are wrong. Undefined if too little is left. */
  readonly rest: T | undefined;
}

/** A part can need another part that is wrong, and so on. */
const maxRounds = 5;

/** `first`: the problems of the whole object. The schema hides problems of expressions, and these hide contradictions. */
export function allProblems<T>(
  value: unknown,
  first: readonly Problem[],
  load: (value: unknown) => CompileResult<T>,
): AllProblems<T> {
  const all = [...first];
  let [left, found] = [value, first];
  for (let round = 0; round < maxRounds; round += 1) {
    const removed = all.map(({ path }) => path);
    const whole = left;
    for (const { path } of found) {
      // Several problems can concern one part.
      const isRemoved = [path, path.slice(0, -1)].some(
        (each) => at(whole, each) !== undefined && at(left, each) === undefined,
      );
      if (!isRemoved) left = without(left, path);
    }
    if (left === undefined) break;
    const result = load(left);
    if (result.ok) return { problems: all, rest: result.value };
    found = result.problems;
    all.push(...found.filter(({ path }) => !removed.some((each) => needs(path, each))));
  }
  return { problems: all, rest: undefined };
}

/** A rule or an exception can name another part of the same policy. */
const references = [
  [['spec'], ['spec', 'variables']],
  [
    ['spec', 'exceptions'],
    ['spec', 'validations'],
  ],
  [
    ['spec', 'namespaces', 'defaults'],
    ['spec', 'namespaces', 'required'],
  ],
] as const;

/** True if a problem at this path may come only from the removal of the other. */
function needs(path: Path, removed: Path): boolean {
  return (
    startsWith(removed, path) ||
    // The templates beside a `forEach` read its item.
    (removed.at(-1) === 'forEach' && startsWith(path, removed.slice(0, -1))) ||
    references.some(([from, to]) => startsWith(path, from) && startsWith(removed, to))
  );
}

function startsWith(path: Path, start: Path): boolean {
  return start.every((step, index) => path[index] === step);
}

function at(value: unknown, path: Path): unknown {
  return path.reduce((found, step) => {
    const items: readonly unknown[] | undefined = Array.isArray(found) ? found : undefined;
    return items === undefined ? ownMember(found, String(step)) : items[Number(step)];
  }, value);
}

/** Removes the innermost part on the path. With an item of a list, the later items are removed too, because they would move. */
function without(value: unknown, [step, ...rest]: Path): unknown {
  if (step === undefined) return undefined;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const item = without(items[Number(step)], rest);
    return item === undefined ? items.slice(0, Number(step)) : items.with(Number(step), item);
  }
  if (!isJsonObject(value) || !Object.hasOwn(value, step)) return undefined;
  const inner = without(value[step], rest);
  const entries = Object.entries(value).filter(([key]) => key !== step);
  return Object.fromEntries(inner === undefined ? entries : [...entries, [step, inner]]);
}

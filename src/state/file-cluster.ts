// Loads policies, shares, bindings and namespaces from files into one snapshot, with all problems of the files.
import type { NamespacePolicy } from '../api/namespace-policy/namespace-policy.ts';
import type { CompiledPolicy } from '../policy/compile/compile-policy.ts';
import type { CompiledShare } from '../policy/compile/compile-share.ts';
import { apiVersion } from '../schema/names.ts';
import {
  type ClusterSnapshot,
  PolicySet,
  ShareSet,
  withoutIntents,
  type IntentSnapshot,
} from '../policy/compile/snapshot.ts';
import {
  type FileProblem,
  inOrder,
  firstOfEach,
  readYamlFiles,
  readObjects,
  type LocatedObject,
} from './yaml-files.ts';
import type { KubeObject } from '../base/metadata.ts';
import { isJsonObject } from '../base/json.ts';
import { alternatives, describeValue } from '../base/text.ts';
import { anyInstall, type Install } from '../policy/terms/install.ts';
import { policyIn, shareIn, type ShareDefinition } from '../policy/compile/load-provider.ts';
import { loadDefinitions, loadedKinds, type LocatedDefinition } from './definitions.ts';
import { namespaceName } from '../schema/common-fields.ts';
import { openObject, text, type Infer } from '../schema/schema.ts';
import { validate } from '../schema/validate.ts';
import { objectMetadata } from '../api/provider-fields.ts';

export interface ClusterSettings {
  readonly policies: string;
  readonly clusterState: string | undefined;
}

export interface LoadedCluster {
  readonly snapshot: ClusterSnapshot;
  /** The number of policies. */
  readonly loaded: number;
  readonly shares: number;
  readonly refused: number;
  readonly namespaces: number;
  readonly problems: readonly FileProblem[];
}

/** Rejects with an UnreadablePathError when a path cannot be read at all. */
export async function loadCluster(settings: ClusterSettings, install: Install): Promise<LoadedCluster> {
  const { policies, shares, bindings, intents, problems } = await loadPolicyFiles(
    settings.policies,
    install.clusterVariables,
  );
  const known =
    settings.clusterState === undefined
      ? { namespaces: [], problems: [] }
      : await loadNamespaceFiles(settings.clusterState);
  const set = new PolicySet(
    [...policies, ...bindings].map(({ compiled }) => compiled),
    install,
  );
  return {
    snapshot: {
      ...clusterSnapshot(set, new ShareSet(shares.map(({ compiled }) => compiled)), known.namespaces),
      intents,
    },
    loaded: policies.length,
    shares: shares.length,
    refused: refusedDocuments(problems),
    namespaces: known.namespaces.length,
    problems: [...problems, ...known.problems],
  };
}

/** An object can have many problems; a file that is not YAML counts for one. */
function refusedDocuments(problems: readonly FileProblem[]): number {
  return new Set(problems.map(({ file, document }) => `${file}#${document ?? 0}`)).size;
}

export function clusterSnapshot(
  policies: PolicySet,
  shares: ShareSet,
  namespaces: Iterable<KubeObject>,
): ClusterSnapshot {
  // A Map, because the name of a namespace may be `constructor`.
  const byName = new Map<string, KubeObject>();
  for (const namespace of namespaces) byName.set(namespace.metadata.name ?? '', namespace);
  return {
    policies,
    shares,
    providers: new Map(),
    intents: withoutIntents,
    isServed: () => true,
    namespace: (name) => byName.get(name),
    namespaces: () => byName.values(),
  };
}

// Loads policies, shares, intents and bindings from the files of one path, which may hold nothing else.

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A policy, or a binding in the form of a policy. */
interface LoadedPolicy extends Place {
  readonly policy: NamespacePolicy;
  readonly compiled: CompiledPolicy;
}

interface LoadedShare extends Place {
  readonly share: ShareDefinition['object'];
  readonly compiled: CompiledShare;
}

interface LoadedPolicies {
  readonly policies: readonly LoadedPolicy[];
  readonly shares: readonly LoadedShare[];
  readonly bindings: readonly LoadedPolicy[];
  /** The intents that a write of an intent is judged with. */
  readonly intents: IntentSnapshot;
  readonly problems: readonly FileProblem[];
}

/** Throws UnreadablePathError when the path itself cannot be read; everything else is a problem in the result. */
export async function loadPolicyFiles(
  path: string,
  clusterVariables?: Install['clusterVariables'],
): Promise<LoadedPolicies> {
  const { files, problems } = await readYamlFiles(path);
  const read = files.map(readObjects);
  const install = { ...anyInstall, clusterVariables };
  const definitions = loadDefinitions(
    read.flatMap(({ objects }) => objects),
    { install },
  );
  const { providers, intents, rest } = definitions;
  return {
    policies: providers.filter(({ definition }) => definition.intents === undefined).flatMap(asPolicy),
    shares: providers.flatMap(asShare),
    bindings: providers.filter(({ definition }) => definition.intents !== undefined).flatMap(asPolicy),
    intents,
    problems: inOrder([
      ...problems,
      ...read.flatMap((file) => file.problems),
      ...rest.map(anotherKind),
      ...definitions.problems,
    ]),
  };
}

function asPolicy({ definition, source }: LocatedDefinition): readonly LoadedPolicy[] {
  const policy = policyIn(definition);
  const { file, line, column } = source;
  return policy === undefined
    ? []
    : [{ policy: policy.object, compiled: policy.compiled, file, line, column }];
}

function asShare({ definition, source }: LocatedDefinition): readonly LoadedShare[] {
  const share = shareIn(definition);
  const { file, line, column } = source;
  return share === undefined ? [] : [{ share: share.object, compiled: share.compiled, file, line, column }];
}

function anotherKind(object: LocatedObject): FileProblem {
  const { value } = object;
  const accepted = `${alternatives(loadedKinds)} of ${apiVersion}, or a List of them`;
  if (!isJsonObject(value)) return object.locate({ path: [], found: describeValue(value), accepted });
  return object.locate({ path: ['kind'], found: describeValue(value['kind']), accepted });
}

// Loads Namespaces from files: the content of a cluster, for running without one.

const namespaceSchema = openObject({
  description: 'A Namespace.',
  fields: {
    apiVersion: text({ description: 'Always v1.', maxLength: 2, pattern: '^v1$', accepted: 'v1' }),
    kind: text({
      description: 'Always Namespace.',
      maxLength: 9,
      pattern: '^Namespace$',
      accepted: 'Namespace',
    }),
    metadata: objectMetadata(namespaceName('The name of the namespace.')),
  },
  required: ['apiVersion', 'kind', 'metadata'],
});

/** A Namespace whose metadata has been checked. Everything else is as the file has it. */
type NamespaceObject = Infer<typeof namespaceSchema>;

interface LoadedNamespaces {
  readonly namespaces: readonly NamespaceObject[];
  readonly problems: readonly FileProblem[];
}

/** Objects of other kinds are passed over. Throws UnreadablePathError when the path itself cannot be read. */
export async function loadNamespaceFiles(path: string): Promise<LoadedNamespaces> {
  const { files, problems } = await readYamlFiles(path);
  const read = files.map(readObjects);
  const outcomes = read.flatMap(({ objects }) => objects.filter(isNamespace).map(loadNamespace));
  const { first, repeated } = firstOfEach(
    outcomes.flatMap((outcome) => (outcome.ok ? [outcome.loaded] : [])),
    ({ namespace }) => namespace.metadata.name,
  );
  return {
    namespaces: first.map(({ namespace }) => namespace),
    problems: inOrder([
      ...problems,
      ...read.flatMap((file) => file.problems),
      ...outcomes.flatMap((outcome) => (outcome.ok ? [] : outcome.problems)),
      ...repeated.map(({ name: _name, ...problem }) => problem),
    ]),
  };
}

function isNamespace({ value }: LocatedObject): boolean {
  return isJsonObject(value) && value['kind'] === 'Namespace' && value['apiVersion'] === 'v1';
}

type Outcome =
  | { readonly ok: true; readonly loaded: LoadedNamespace }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

interface LoadedNamespace {
  readonly namespace: NamespaceObject;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

function loadNamespace(object: LocatedObject): Outcome {
  const outcome = validate(namespaceSchema, object.value);
  if (!outcome.ok) return { ok: false, problems: outcome.problems.map((problem) => object.locate(problem)) };
  const { file, line, column } = object;
  return { ok: true, loaded: { namespace: outcome.value, file, line, column } };
}

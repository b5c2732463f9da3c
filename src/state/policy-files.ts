// Loads policies, shares, intents and bindings from the files of one path, which may hold nothing else.
import { isJsonObject } from '../base/json.ts';
import { apiVersion } from '../schema/names.ts';
import { alternatives, describeValue } from '../base/text.ts';
import { isBinding } from '../policy/terms/provider-id.ts';
import type { FileProblem } from './file-problem.ts';
import type { ProviderDefinition, ProviderForm } from '../policy/compile/load-provider.ts';
import type { IntentSnapshot } from '../policy/compile/snapshot.ts';
import { loadDefinitions, loadedKinds, type LocatedDefinition } from './definitions.ts';
import { inOrder } from './located.ts';
import { readYamlFiles } from './yaml-files.ts';
import { readObjects, type LocatedObject } from './yaml-objects.ts';

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

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
  const definitions = loadDefinitions(read.flatMap(({ objects }) => objects));
  const { providers, intents, rest } = definitions;
  return {
    policies: providers.filter(({ id }) => !isBinding(id)).flatMap(asPolicy),
    shares: providers.flatMap(asShare),
    bindings: providers.filter(({ id }) => isBinding(id)).flatMap(asPolicy),
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
  if (definition.kind !== 'NamespacePolicy') return [];
  const { file, line, column } = source;
  return [{ policy: definition.object, compiled: definition.compiled, file, line, column }];
}

function asShare({ definition, source }: LocatedDefinition): readonly LoadedShare[] {
  if (definition.kind !== 'SecretShare') return [];
  const { file, line, column } = source;
  return [{ share: definition.object, compiled: definition.compiled, file, line, column }];
}

function anotherKind(object: LocatedObject): FileProblem {
  const { value } = object;
  const accepted = `${alternatives(loadedKinds)} of ${apiVersion}, or a List of them`;
  if (!isJsonObject(value)) return object.locate({ path: [], found: describeValue(value), accepted });
  return object.locate({ path: ['kind'], found: describeValue(value['kind']), accepted });
}

// Loads policies and shares from files: each one whole or not at all, and every problem with file, line and column.
import { isJsonObject, ownMember } from '../base/json.ts';
import { apiVersion } from '../api/names.ts';
import type { Problem } from '../base/problem.ts';
import { describeValue } from '../base/text.ts';
import type { FileProblem } from './file-problem.ts';
import {
  loadProvider,
  providerForms,
  providerKindOf,
  type ProviderDefinition,
  type ProviderForm,
} from '../policy/compile/load-provider.ts';
import { firstOfEach, inOrder } from './located.ts';
import { readYamlFiles } from './yaml-files.ts';
import { readObjects, type LocatedObject } from './yaml-objects.ts';

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

type Loaded = Place & { readonly definition: ProviderDefinition };
type DefinitionOf<K extends ProviderForm> = Extract<ProviderDefinition, { readonly kind: K }>;

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
  readonly problems: readonly FileProblem[];
}

/** Throws UnreadablePathError when the path itself cannot be read; everything else is a problem in the result. */
export async function loadPolicyFiles(path: string): Promise<LoadedPolicies> {
  const { files, problems } = await readYamlFiles(path);
  const read = files.map(readObjects);
  const outcomes = read.flatMap(({ objects }) => objects.map(loadObject));
  const loaded = outcomes.flatMap((outcome) => (outcome.ok ? [outcome.loaded] : []));
  const policies = firstOfEach(loaded.flatMap(asPolicy), ({ policy }) => policy.metadata.name);
  const shares = firstOfEach(loaded.flatMap(asShare), ({ share }) => share.metadata.name);
  return {
    policies: policies.first,
    shares: shares.first,
    problems: inOrder([
      ...problems,
      ...read.flatMap((file) => file.problems),
      ...outcomes.flatMap((outcome) => (outcome.ok ? [] : outcome.problems)),
      ...policies.repeated.map(({ name, ...problem }) => ({ ...problem, policy: name })),
      ...shares.repeated.map(({ name, ...problem }) => ({ ...problem, share: name })),
    ]),
  };
}

function asPolicy({ definition, ...place }: Loaded): readonly LoadedPolicy[] {
  if (definition.kind !== 'NamespacePolicy') return [];
  return [{ policy: definition.object, compiled: definition.compiled, ...place }];
}

function asShare({ definition, ...place }: Loaded): readonly LoadedShare[] {
  if (definition.kind !== 'SecretShare') return [];
  return [{ share: definition.object, compiled: definition.compiled, ...place }];
}

type Outcome =
  | { readonly ok: true; readonly loaded: Loaded }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

/** All that is wrong with a policy or share; nothing is wrong with other kinds. */
export function providerProblems(object: LocatedObject): readonly FileProblem[] {
  const outcome = providerKindOf(object.value) === undefined ? undefined : loadObject(object);
  return outcome?.ok === false ? outcome.problems : [];
}

function loadObject(object: LocatedObject): Outcome {
  const { value, file, line, column } = object;
  const kind = providerKindOf(value);
  if (kind === undefined) return { ok: false, problems: [object.locate(anotherKind(value))] };
  const load = loadProvider(kind, value);
  if (load.ok) return { ok: true, loaded: { definition: load.value, file, line, column } };
  const name = ownMember(ownMember(value, 'metadata'), 'name');
  const about = kind === 'NamespacePolicy' ? 'policy' : 'share';
  const named = typeof name === 'string' && name !== '' ? { [about]: name } : {};
  return { ok: false, problems: load.problems.map((problem) => ({ ...object.locate(problem), ...named })) };
}

function anotherKind(value: unknown): Problem {
  const accepted = `${providerForms.join(' or ')} of ${apiVersion}, or a List of them`;
  if (!isJsonObject(value)) return { path: [], found: describeValue(value), accepted };
  return { path: ['kind'], found: describeValue(value['kind']), accepted };
}

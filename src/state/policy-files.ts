// Loads policies from files: each one whole or not at all, and every problem with file, line and column.
import { isJsonObject } from '../api/json.ts';
import { apiVersion } from '../api/names.ts';
import { namespacePolicyKind, parseNamespacePolicy, type NamespacePolicy } from '../api/namespace-policy.ts';
import type { Problem } from '../api/problem.ts';
import { describeValue } from '../api/text.ts';
import { compilePolicy } from '../policy/compile-policy.ts';
import type { CompiledPolicy } from '../policy/compiled-policy.ts';
import type { FileProblem } from './file-problem.ts';
import { firstOfEach, inOrder } from './located.ts';
import { readYamlFiles } from './yaml-files.ts';
import { readObjects, type LocatedObject } from './yaml-objects.ts';

interface LoadedPolicy {
  readonly policy: NamespacePolicy;
  readonly compiled: CompiledPolicy;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

interface LoadedPolicies {
  readonly policies: readonly LoadedPolicy[];
  readonly problems: readonly FileProblem[];
}

/** Throws UnreadablePathError when the path itself cannot be read; everything else is a problem in the result. */
export async function loadPolicyFiles(path: string): Promise<LoadedPolicies> {
  const { files, problems } = await readYamlFiles(path);
  const read = files.map(readObjects);
  const outcomes = read.flatMap(({ objects }) => objects.map(loadPolicy));
  const { first, repeated } = firstOfEach(
    outcomes.flatMap((outcome) => (outcome.ok ? [outcome.loaded] : [])),
    ({ policy }) => policy.metadata.name,
  );
  return {
    policies: first,
    problems: inOrder([
      ...problems,
      ...read.flatMap((file) => file.problems),
      ...outcomes.flatMap((outcome) => (outcome.ok ? [] : outcome.problems)),
      ...repeated.map(({ name, ...problem }) => ({ ...problem, policy: name })),
    ]),
  };
}

type Outcome =
  | { readonly ok: true; readonly loaded: LoadedPolicy }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

function loadPolicy(object: LocatedObject): Outcome {
  const { value, file, line, column } = object;
  if (!isPolicy(value)) return refused(object, [anotherKind(value)]);
  const parsed = parseNamespacePolicy(value);
  if (!parsed.ok) return refused(object, parsed.problems);
  const compilation = compilePolicy(parsed.policy);
  if (!compilation.ok) return refused(object, compilation.problems);
  return { ok: true, loaded: { policy: parsed.policy, compiled: compilation.compiled, file, line, column } };
}

function isPolicy(value: unknown): boolean {
  return isJsonObject(value) && value['kind'] === namespacePolicyKind;
}

function anotherKind(value: unknown): Problem {
  const accepted = `${namespacePolicyKind} of ${apiVersion}, or a List of them`;
  if (!isJsonObject(value)) return { path: [], found: describeValue(value), accepted };
  return { path: ['kind'], found: describeValue(value['kind']), accepted };
}

function refused(object: LocatedObject, problems: readonly Problem[]): Outcome {
  const policy = nameOf(object.value);
  const located = problems.map((problem) => object.locate(problem));
  return { ok: false, problems: policy === undefined ? located : located.map((one) => ({ ...one, policy })) };
}

function nameOf(value: unknown): string | undefined {
  if (!isPolicy(value) || !isJsonObject(value) || !isJsonObject(value['metadata'])) return undefined;
  const { name } = value['metadata'];
  return typeof name === 'string' && name !== '' ? name : undefined;
}

// Loads policies from files: each one whole or not at all, and every problem with file, line and column.
import { apiVersion } from '../api/names.ts';
import { namespacePolicyKind, parseNamespacePolicy, type NamespacePolicy } from '../api/namespace-policy.ts';
import type { Problem } from '../api/problem.ts';
import { isPlainObject } from '../api/schema/reporting.ts';
import { describeValue } from '../api/text.ts';
import type { FileProblem } from './file-problem.ts';
import { firstOfEach, inOrder } from './located.ts';
import { readYamlFiles } from './yaml-files.ts';
import { readObjects, type LocatedObject } from './yaml-objects.ts';

export interface LoadedPolicy<T> {
  readonly policy: NamespacePolicy;
  readonly compiled: T;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface LoadedPolicies<T> {
  readonly policies: readonly LoadedPolicy<T>[];
  readonly problems: readonly FileProblem[];
}

/** The step after the schema: expressions, patterns, and what contradicts itself. */
export type CompilePolicy<T> = (
  policy: NamespacePolicy,
) =>
  { readonly ok: true; readonly compiled: T } | { readonly ok: false; readonly problems: readonly Problem[] };

/** Throws UnreadablePathError when the path itself cannot be read; everything else is a problem in the result. */
export async function loadPolicyFiles<T>(
  path: string,
  compile: CompilePolicy<T>,
): Promise<LoadedPolicies<T>> {
  const { files, problems } = await readYamlFiles(path);
  const read = files.map(readObjects);
  const outcomes = read.flatMap(({ objects }) => objects.map((object) => loadPolicy(object, compile)));
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

type Outcome<T> =
  | { readonly ok: true; readonly loaded: LoadedPolicy<T> }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

function loadPolicy<T>(object: LocatedObject, compile: CompilePolicy<T>): Outcome<T> {
  const { value, file, line, column } = object;
  if (!isPolicy(value)) return refused(object, [anotherKind(value)]);
  const parsed = parseNamespacePolicy(value);
  if (!parsed.ok) return refused(object, parsed.problems);
  const compilation = compile(parsed.policy);
  if (!compilation.ok) return refused(object, compilation.problems);
  return { ok: true, loaded: { policy: parsed.policy, compiled: compilation.compiled, file, line, column } };
}

function isPolicy(value: unknown): boolean {
  return isPlainObject(value) && value['kind'] === namespacePolicyKind;
}

function anotherKind(value: unknown): Problem {
  const accepted = `${namespacePolicyKind} of ${apiVersion}, or a List of them`;
  if (!isPlainObject(value)) return { path: [], found: describeValue(value), accepted };
  return { path: ['kind'], found: describeValue(value['kind']), accepted };
}

function refused<T>(object: LocatedObject, problems: readonly Problem[]): Outcome<T> {
  const policy = nameOf(object.value);
  const located = problems.map((problem) => object.locate(problem));
  return { ok: false, problems: policy === undefined ? located : located.map((one) => ({ ...one, policy })) };
}

function nameOf(value: unknown): string | undefined {
  if (!isPolicy(value) || !isPlainObject(value) || !isPlainObject(value['metadata'])) return undefined;
  const { name } = value['metadata'];
  return typeof name === 'string' && name !== '' ? name : undefined;
}

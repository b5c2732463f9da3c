// Loads Namespaces from files: what a cluster holds, for running without one.
import { namespaceName } from '../schema/common-fields.ts';
import { openObject, text } from '../schema/build.ts';
import { isJsonObject } from '../base/json.ts';
import type { Infer } from '../schema/schema.ts';
import { validate } from '../schema/validate.ts';
import type { FileProblem } from './file-problem.ts';
import { firstOfEach, inOrder } from './located.ts';
import { readYamlFiles } from './yaml-files.ts';
import { readObjects, type LocatedObject } from './yaml-objects.ts';
import { objectMetadata } from '../api/provider-fields.ts';

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

/** Its metadata has been checked; everything else is as it was written. */
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

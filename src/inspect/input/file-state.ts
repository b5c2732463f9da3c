// Builds a state from the objects of files, with the metadata that an API server would give them.
import { openObject, text, type ObjectSchema } from '../../schema/schema.ts';
import { kindDefinitions } from '../../api/kinds.ts';
import { group } from '../../schema/names.ts';
import { namespacedMetadata } from '../../api/provider-fields.ts';
import { validate } from '../../schema/validate.ts';
import { isJsonObject, ownMember, withSortedMembers } from '../../base/json.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import { nearest } from '../../base/nearest.ts';
import { type Problem, renderProblem } from '../../base/problem.ts';
import { alternatives, clipped, describeValue } from '../../base/text.ts';
import { groupOf, secretObjectType, serviceAccountType } from '../../base/object-type.ts';
import {
  type FileProblem,
  UnreadablePathError,
  inOrder,
  readYamlFiles,
  type TextFile,
  type LocatedObject,
  readObjects,
} from '../../state/yaml-files.ts';
import type { Install } from '../../policy/terms/install.ts';
import { clusterState, type ClusterState } from './cluster-state.ts';
import { isForTools } from '../../state/definitions.ts';
import { objectsOf } from '../../base/yaml-tree.ts';

const metadata: ObjectSchema<KubeObject['metadata']> = {
  ...namespacedMetadata(
    text({
      description: 'The name of the object.',
      minLength: 1,
      maxLength: 253,
      pattern: '^[^\\p{Cc}\\p{Zl}\\p{Zp}]+$',
      accepted: 'a text without line breaks and control characters',
    }),
  ),
  required: ['name'],
};

/** Every field but these stays as it was written. */
const anyObject = openObject({
  description: 'An object of Kubernetes.',
  fields: {
    apiVersion: text({ description: 'The group and version.', minLength: 1, maxLength: 253 }),
    kind: text({ description: 'The kind.', minLength: 1, maxLength: 63 }),
    metadata,
  },
  required: ['apiVersion', 'kind', 'metadata'],
});

interface FileObjects {
  readonly objects: readonly KubeObject[];
  /** For documents that are no objects of Kubernetes. */
  readonly problems: readonly FileProblem[];
}

export function kubeObjectsOf(located: readonly LocatedObject[]): FileObjects {
  const objects: KubeObject[] = [];
  const problems: FileProblem[] = [];
  for (const [index, each] of located.entries()) {
    const outcome = validate(anyObject, each.value);
    if (isUnknownKind(each.value)) problems.push(each.locate(unknownKind(each.value)));
    else if (outcome.ok) objects.push(storedForm(outcome.value, index + 1));
    // A bare text may be a line of a Secret that was not indented.
    else if (!isJsonObject(each.value)) problems.push(each.locate(noObject));
    else problems.push(...outcome.problems.map((problem) => each.locate(problem)));
  }
  return { objects, problems };
}

/** Finds misspelled kinds. Without this check, such an object would be ignored without a message. */
function isUnknownKind(value: unknown): boolean {
  const [apiVersion, kind] = [ownMember(value, 'apiVersion'), ownMember(value, 'kind')];
  return (
    typeof apiVersion === 'string' &&
    groupOf(apiVersion) === group &&
    !kindsOfReeve.some((each) => each === kind)
  );
}

const kindsOfReeve: readonly string[] = kindDefinitions.map(({ kind }) => kind);

function unknownKind(value: unknown): Problem {
  const kind = ownMember(value, 'kind');
  const near = typeof kind === 'string' ? nearest(clipped(kind), kindsOfReeve, 4) : undefined;
  const meant = near === undefined ? '' : ` (did you mean ${near}?)`;
  return { path: ['kind'], found: describeValue(kind), accepted: `${alternatives(kindsOfReeve)}${meant}` };
}

const noObject = { path: [], found: 'no object', accepted: 'an object of Kubernetes' };

export function stateOfFiles(objects: readonly KubeObject[], install: Install): ClusterState {
  const facts = {
    origin: 'files',
    isCluster: false,
    install,
    unread: [],
    isServed: () => true,
    hasManagers: objects.some((object) => object.metadata['managedFields'] !== undefined),
  };
  return clusterState(facts, [...assumedAccounts(objects), ...objects]);
}

/** Every namespace has this account: https://kubernetes.io/docs/concepts/security/service-accounts/#default-service-accounts */
function assumedAccounts(objects: readonly KubeObject[]): readonly KubeObject[] {
  if (objects.some(({ kind }) => kind === serviceAccountType.kind)) return [];
  return objects
    .filter(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Namespace')
    .map((namespace) => assumedAccount(nameOf(namespace)));
}

export function assumedAccount(namespace: string): KubeObject {
  return {
    ...serviceAccountType,
    metadata: { name: 'default', namespace, uid: `assumed:${namespace}`, resourceVersion: '1' },
  };
}

/** The fields of the status that the fuse and the waves remember. */
const keptStatus = ['confirmationUsed', 'held', 'deletions', 'waves'] as const;

/** Keeps these fields of the status alone, and adds the metadata that an API server sets. */
function storedForm({ status, ...object }: KubeObject, number: number): KubeObject {
  const kept = Object.fromEntries(
    keptStatus.flatMap((field) => {
      const value = ownMember(status, field);
      return value === undefined ? [] : [[field, value]];
    }),
  );
  return {
    ...(isSecret(object) ? withStoredData(object) : object),
    // Reeve compares contents by a hash that depends on the order.
    ...(object['spec'] === undefined || !isOfReeve(object)
      ? {}
      : { spec: withSortedMembers(object['spec']) }),
    metadata: { uid: `file:${number}`, resourceVersion: String(number), ...object.metadata },
    ...(Object.keys(kept).length === 0 ? {} : { status: kept }),
  };
}

function isOfReeve({ apiVersion = '' }: KubeObject): boolean {
  return groupOf(apiVersion) === group;
}

function isSecret({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === secretObjectType.apiVersion && kind === secretObjectType.kind;
}

/** The API server stores `stringData` as `data`, and gives a Secret without a type the type Opaque. */
function withStoredData({ stringData, ...secret }: KubeObject): KubeObject {
  const written = isJsonObject(stringData) ? Object.entries(stringData) : [];
  const encoded = written.flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, Buffer.from(value).toString('base64')] as const] : [],
  );
  const data = isJsonObject(secret['data']) ? Object.entries(secret['data']) : [];
  return {
    type: 'Opaque',
    ...secret,
    ...(encoded.length === 0 ? {} : { data: Object.fromEntries([...data, ...encoded]) }),
  };
}

// Reads the objects of paths, each with its place. `-` is standard input.

export interface ObjectFiles {
  readonly files: number;
  readonly located: readonly LocatedObject[];
  readonly problems: readonly FileProblem[];
}

interface ReadOptions {
  readonly stdin: () => Promise<string>;
  /** True for objects of a cluster, which are seldom wrong: JSON is then read without the places of its values. */
  readonly isState?: boolean;
}

/** Rejects with an UnreadablePathError. */
export async function readObjectFiles(
  paths: readonly string[],
  { stdin, isState = false }: ReadOptions,
): Promise<ObjectFiles> {
  const texts = new Map<string, TextFile>();
  const unreadable: FileProblem[] = [];
  for (const path of new Set(paths)) {
    const { files, problems } =
      path === '-'
        ? { files: [{ file: 'stdin', text: await stdin() }], problems: [] }
        : await readYamlFiles(path);
    for (const file of files) texts.set(file.file, file);
    unreadable.push(...problems);
  }
  const read = [...texts.values()].map((file) =>
    isState ? (quicklyRead(file) ?? readObjects(file)) : readObjects(file),
  );
  const problems = inOrder([...unreadable, ...read.flatMap((file) => [...file.problems, ...file.misread])]);
  const located = read.flatMap(({ objects }) => objects).filter(({ value }) => !isForTools(value));
  // A script may have named the wrong folder or lost its input, because a saved state has at least its namespaces.
  if (paths.length > 0 && problems.length === 0 && located.length === 0)
    throw new UnreadablePathError(namesOf(paths), 'there is no object in YAML or JSON');
  return { files: texts.size, located, problems };
}

function namesOf(paths: readonly string[]): string {
  return paths.map((path) => (path === '-' ? 'standard input' : path)).join(', ');
}

/** Reads JSON without the places of its values, which is twenty times faster. A problem that needs a place reads them. */
function quicklyRead(file: TextFile): ReturnType<typeof readObjects> | undefined {
  if (!/^\s*[[{]/.test(file.text)) return undefined;
  try {
    const values = objectsOf(JSON.parse(file.text));
    const objects = values.map(({ value }, index): LocatedObject => {
      const slow = (): LocatedObject | undefined => readObjects(file).objects[index];
      const start = { file: file.file, line: 1, column: 1, document: 1 };
      return {
        ...start,
        value,
        // The reader of YAML accepts less nesting than JSON.parse.
        locate: (problem) => slow()?.locate(problem) ?? { ...start, message: renderProblem(problem) },
      };
    });
    return { objects, problems: [], misread: [] };
  } catch {
    // The reader of YAML says where the text is broken.
    return undefined;
  }
}

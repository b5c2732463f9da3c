// Loads a suite with the files that it names: its policies, its objects and its requests.
import { dirname, isAbsolute, join } from 'node:path';
import { validate } from '../../schema/validate.ts';
import type { KubeObject } from '../../base/metadata.ts';
import type { Path, Problem } from '../../base/problem.ts';
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import {
  UnreadablePathError,
  type FileProblem,
  readYamlFiles,
  readObjects,
  type LocatedObject,
} from '../../state/yaml-files.ts';
import type { Install } from '../../policy/terms/install.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import { kubeObjectsOf, stateOfFiles, readObjectFiles } from '../input/file-state.ts';
import { definitionsIn, loadState } from '../input/loaded-state.ts';
import { suiteSchema, type Suite, suiteKind } from './suite.ts';
import { cliApiVersion } from '../../schema/names.ts';
import { ownMember } from '../../base/json.ts';
import { describeValue } from '../../base/text.ts';
import { groupOf } from '../../base/object-type.ts';
import { outputSchemas } from '../output-schemas/outputs.ts';

export interface LoadedSuite {
  readonly source: LocatedObject;
  readonly suite: Suite;
  readonly state: ClusterState;
  readonly snapshot: ClusterSnapshot;
  /** What the files of `policies` define. */
  readonly providers: readonly ProviderDefinition[];
  /** The requests in files, by the path that the suite gives. */
  readonly reviews: ReadonlyMap<string, unknown>;
}

export type SuiteLoading =
  | { readonly ok: true; readonly loaded: LoadedSuite }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

/** Finds what the install allows: by the Deployments of Reeve among the objects, and by the flags that the suite gives. */
export type FindInstall = (
  objects: readonly KubeObject[],
  overrides: NonNullable<Suite['install']>,
) => Install;

export async function loadSuite(source: LocatedObject, findInstall: FindInstall): Promise<SuiteLoading> {
  const read = validate(suiteSchema, source.value);
  if (!read.ok) return { ok: false, problems: read.problems.map((problem) => source.locate(problem)) };
  const suite = read.value;
  const files = new SuiteFiles(source);
  const policies = await files.objects('policies', suite.policies);
  const others = [...(await files.objects('objects', suite.objects ?? [])), ...givenIn(source, suite)];
  const reviews = await files.reviews(suite);
  const located = [...policies, ...others];
  const { objects } = kubeObjectsOf(located);
  const state = stateOfFiles(objects, findInstall(objects, suite.install ?? {}));
  const cluster = loadState(state);
  const definitions = definitionsIn(located, state, cluster);
  const problems = [...files.problems, ...definitions.problems];
  if (problems.length > 0) return { ok: false, problems };
  const own = new Set(policies);
  const providers = definitions.providers
    .filter((each) => own.has(each.source))
    .map(({ definition }) => definition);
  return { ok: true, loaded: { source, suite, state, snapshot: cluster.snapshot(), providers, reviews } };
}

function givenIn(source: LocatedObject, { given = [] }: Suite): readonly LocatedObject[] {
  return given.map((value, index) => ({
    ...source,
    value,
    locate: (problem) => source.locate({ ...problem, path: ['given', index, ...problem.path] }),
  }));
}

/** Reads the files of a suite, whose paths are relative to it. */
class SuiteFiles {
  readonly problems: FileProblem[] = [];
  readonly #source: LocatedObject;

  constructor(source: LocatedObject) {
    this.#source = source;
  }

  async objects(field: 'policies' | 'objects', paths: readonly string[]): Promise<readonly LocatedObject[]> {
    const read = paths.map(async (path, index) => {
      const found = await this.#reading([field, index], path, (file) =>
        readObjectFiles([file], { stdin: noInput }),
      );
      this.problems.push(...(found?.problems ?? []));
      return found?.located ?? [];
    });
    return (await Promise.all(read)).flat();
  }

  async reviews({ tests }: Suite): Promise<ReadonlyMap<string, unknown>> {
    const reviews = new Map<string, unknown>();
    for (const [index, { request }] of tests.entries()) {
      if (request?.file === undefined) continue;
      const { file } = request;
      const found = await this.#reading(['tests', index, 'request', 'file'], file, (path) =>
        readYamlFiles(path),
      );
      const read = (found?.files ?? []).map((each) => readObjects(each));
      this.problems.push(...(found?.problems ?? []), ...read.flatMap(({ problems }) => problems));
      reviews.set(file, read[0]?.objects[0]?.value);
    }
    return reviews;
  }

  async #reading<T>(at: Path, path: string, read: (file: string) => Promise<T>): Promise<T | undefined> {
    try {
      return await read(isAbsolute(path) ? path : join(dirname(this.#source.file), path));
    } catch (error) {
      if (!(error instanceof UnreadablePathError)) throw error;
      this.problems.push(problemAt(this.#source, at, error.message));
      return undefined;
    }
  }
}

const noInput = (): Promise<string> => Promise.resolve('');

export function problemAt(source: LocatedObject, path: Path, message: string): FileProblem {
  const problem: Problem = { path, found: '', accepted: '', message };
  return { ...source.locate(problem), message };
}

// Finds the suites below files and folders.

const cliGroup = groupOf(cliApiVersion);

export interface FoundSuites {
  readonly suites: readonly LocatedObject[];
  readonly problems: readonly FileProblem[];
}

/** Parses only YAML that mentions the API group, because most YAML is not for Reeve. Rejects with an UnreadablePathError. */
export async function findSuites(paths: readonly string[]): Promise<FoundSuites> {
  const files = new Map<string, string>();
  const unreadable: FileProblem[] = [];
  for (const path of paths) {
    const found = await readYamlFiles(path, ['node_modules']);
    for (const { file, text } of found.files) files.set(file, text);
    unreadable.push(...found.problems);
  }
  const read = [...files]
    .filter(([, text]) => text.includes(cliGroup))
    .map(([file, text]) => readObjects({ file, text }));
  const objects = read.flatMap((file) => file.objects);
  return {
    suites: objects.filter(({ value }) => isSuite(value)),
    problems: [
      ...unreadable,
      ...read.flatMap(({ problems }) => problems),
      ...objects.flatMap((object) =>
        isMisspelled(object.value) ? [object.locate(misspelled(object.value))] : [],
      ),
    ],
  };
}

/** Returns true for a misspelled kind. Such a suite would never run, and the command would report that all tests passed. */
function isMisspelled(value: unknown): boolean {
  const [apiVersion, kind] = [ownMember(value, 'apiVersion'), ownMember(value, 'kind')];
  const isOurs = typeof apiVersion === 'string' && groupOf(apiVersion) === cliGroup;
  return isOurs && !isSuite(value) && !(typeof kind === 'string' && outputKinds().includes(kind));
}

/** Outputs of other commands may stand beside suites. */
function outputKinds(): readonly string[] {
  return Object.values(outputSchemas).flatMap(({ fields: { kind } }) =>
    kind?.kind === 'text' ? (kind.values ?? []) : [],
  );
}

function misspelled(value: unknown): Problem {
  const [apiVersion, kind] = [ownMember(value, 'apiVersion'), ownMember(value, 'kind')];
  return apiVersion === cliApiVersion
    ? { path: ['kind'], found: describeValue(kind), accepted: suiteKind }
    : { path: ['apiVersion'], found: describeValue(apiVersion), accepted: cliApiVersion };
}

function isSuite(value: unknown): boolean {
  return ownMember(value, 'apiVersion') === cliApiVersion && ownMember(value, 'kind') === suiteKind;
}

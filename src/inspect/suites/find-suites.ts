// Finds the suites below files and folders.
import { cliApiVersion } from '../../schema/names.ts';
import { ownMember } from '../../base/json.ts';
import type { Problem } from '../../base/problem.ts';
import { describeValue } from '../../base/text.ts';
import { groupOf } from '../../policy/terms/object-key.ts';
import type { FileProblem } from '../../state/file-problem.ts';
import { readYamlFiles } from '../../state/yaml-files.ts';
import { readObjects, type LocatedObject } from '../../state/yaml-objects.ts';
import { outputSchemas } from '../output-schemas/outputs.ts';
import { suiteKind } from './suite.ts';

const cliGroup = groupOf(cliApiVersion);

export interface FoundSuites {
  readonly suites: readonly LocatedObject[];
  readonly problems: readonly FileProblem[];
}

/** Most YAML below a folder has nothing to do with Reeve, so it is not even parsed. Rejects with an UnreadablePathError. */
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

/** A suite that is not recognized would never run, and the command would still say that all tests passed. */
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

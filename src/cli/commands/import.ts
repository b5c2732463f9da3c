// The command `reeve import`: prints the setup of an older tool as objects of Reeve. Writes nothing to a cluster.
import { writeFile } from 'node:fs/promises';
import { cliApiVersion } from '../../schema/names.ts';
import { errorCode } from '../../base/kube-error.ts';
import { nameOf } from '../../base/metadata.ts';
import { stringifyYaml } from '../../base/yaml.ts';
import { importText } from '../../importers/import-text.ts';
import type { ImportResult, SourceObject } from '../../importers/importer.ts';
import { importerOf, importFrom, importSources } from '../../importers/importers.ts';
import { movedSecrets } from '../../importers/contents.ts';
import { kubeObjectsOf, readObjectFiles } from '../../inspect/input/file-state.ts';
import type { ImportOutput } from '../../inspect/output-schemas/import-output.ts';
import { commandOf, type Call, type CommandIo } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { file, filesSetting, outputSetting } from '../flags/common-settings.ts';
import {
  optionalText,
  switchSetting,
  withoutVariable,
  type Settings,
  type Values,
} from '../flags/settings.ts';
import { clusterSettings, installOverrides } from '../flags/state-settings.ts';
import { isOnCluster, sayProblems, sayUnread } from '../input/chosen-state.ts';
import { findInstall } from '../input/find-install.ts';
import { jsonText } from '../output/data-text.ts';

const outputs = { yaml: importText, json: jsonText };

const flags = {
  filename: filesSetting(
    'Import from this file or folder in place of a cluster; - is standard input. May be given several times.',
  ),
  ...clusterSettings,
  sharedNamespace: installOverrides.sharedNamespace,
  fromBindings: withoutVariable(
    switchSetting(
      'With rolebinding-operator: guess from the RoleBindings that exist what an operator with other names does.',
    ),
  ),
  secretsFile: withoutVariable(
    optionalText({
      ...file,
      help: 'Write the Secrets that must move to a shared namespace into this new file, with their values. Without it, no value is written anywhere.',
    }),
  ),
  strict: withoutVariable(switchSetting('Exit with 1 if something could not be carried over.')),
  output: outputSetting(outputs, 'YAML to apply, with steps and losses as comments, or JSON for programs.'),
} satisfies Settings;

type ImportCall = Values<typeof flags> & { readonly source: string };

export const command = commandOf({
  flags,
  outputs,
  run: runImport,
  positionals: {
    placeholder: 'SOURCE',
    help: `The tool to import from: ${importSources.join(', ')}.`,
    choices: importSources,
    min: 1,
    max: 1,
  },
  details:
    'Nothing is written to the cluster. docs/import.md says for each tool what is carried over, and what is not.',
  examples: [
    ['reeve import rbac-manager > policies.yaml', 'all RBACDefinitions of the cluster, as policies'],
    ['reeve import reflector -f secrets/', 'the annotations on Secrets in these files, as shares'],
    ['reeve import capsule -o json | jq .lost', 'what Reeve does not do for these tenants'],
    ['reeve import clustersecret --secrets-file moved.yaml', 'also the Secrets to create, with their values'],
  ],
  exitCodes: [
    [0, 'Done. What could not be carried over is listed.'],
    [1, 'Nothing of the tool was found. Or with --strict something is lost.'],
    [2, 'Wrong flags.'],
    [3, 'A file could not be read, or the cluster did not answer.'],
  ],
});

/** Returns the exit code. */
async function runImport(
  { settings, positionals: [source = ''], environment }: Call<Values<typeof flags>>,
  io: CommandIo<ImportOutput>,
): Promise<number> {
  const call = { ...settings, source };
  const written = await placedObjects(call.filename, io);
  if (written === undefined) return exitCodes.unknown;
  if (call.filename.length > 0 && !isOnCluster(call))
    return await finished(call, written, imported(call, written), io);
  const { onCluster } = await import('../input/on-cluster.ts');
  return await onCluster(call, environment, io.stderr, async (connection) => {
    const { readForImport, withSecrets } = await import('../input/import-input.ts');
    const { objects, unread } = await readForImport(connection, importerOf(source), io.progress);
    const listed = replaced(
      objects.map((object) => ({ object })),
      written,
    );
    const { sources } = imported(call, listed);
    const read = await withSecrets(connection, sources);
    const input = replaced(
      listed,
      read.objects.map((object) => ({ object })),
      written,
    );
    const allUnread = [...unread, ...read.unread];
    sayUnread(allUnread, io);
    const isPartial = allUnread.length > 0;
    return await finished({ ...call, isPartial }, input, imported(call, input), io);
  });
}

/** Returns undefined if a file has a problem. */
async function placedObjects(
  paths: readonly string[],
  io: Pick<CommandIo, 'stdin' | 'stderr'>,
): Promise<readonly SourceObject[] | undefined> {
  const { located, problems } = await readObjectFiles(paths, io);
  const read = kubeObjectsOf(located);
  if (sayProblems([...problems, ...read.problems], io)) return undefined;
  return read.objects.map((object, index) => {
    const place = located[index];
    return { object, file: place?.file ?? '', line: place?.line ?? 1 };
  });
}

/** Later objects replace earlier ones of the same kind, namespace and name. */
function replaced(...lists: readonly (readonly SourceObject[])[]): readonly SourceObject[] {
  return [...new Map(lists.flat().map((each) => [keyOf(each), each])).values()];
}

function keyOf({ object }: SourceObject): string {
  return JSON.stringify([object.apiVersion, object.kind, object.metadata.namespace, nameOf(object)]);
}

function imported(call: ImportCall, input: readonly SourceObject[]): ImportResult {
  const facts = findInstall(
    input.map(({ object }) => object),
    { sharedNamespace: call.sharedNamespace },
  );
  const { fromBindings, secretsFile } = call;
  return importFrom(call.source, input, {
    fromBindings,
    secretsFile,
    sharedNamespaces: facts.sourceNamespaces,
  });
}

async function finished(
  call: ImportCall & { readonly isPartial?: boolean },
  input: readonly SourceObject[],
  { moved, sources: _sources, ...result }: ImportResult,
  io: CommandIo<ImportOutput>,
): Promise<number> {
  const { source, secretsFile, strict } = call;
  const { objects, lost } = result;
  if (objects.length === 0 && lost.length === 0) {
    io.stderr(`nothing of ${source} was found\n`);
    return call.isPartial === true ? exitCodes.unknown : exitCodes.no;
  }
  if (secretsFile !== undefined && moved.length > 0) {
    const problem = await secretsProblem(secretsFile, movedSecrets(moved, input));
    if (problem !== undefined) {
      io.stderr(`${problem}\n`);
      return 1;
    }
  }
  const whole: ImportOutput = { apiVersion: cliApiVersion, kind: 'Import', source, ...result };
  io.print(whole);
  const { danger } = importerOf(source);
  if (danger !== undefined) io.stderr(`${danger}\n`);
  io.stderr(`${some(objects.length, 'object')}; ${some(lost.length, 'part')} could not be carried over\n`);
  return strict && lost.length > 0 ? 1 : 0;
}

/** Returns undefined once the file is written. Only its owner can read the file. */
async function secretsProblem(path: string, secrets: readonly object[]): Promise<string | undefined> {
  try {
    const text = secrets.map((secret) => stringifyYaml(secret)).join('---\n');
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
    return undefined;
  } catch (error) {
    const code = errorCode(error) ?? 'unknown error';
    return `${path} was not written: ${code === 'EEXIST' ? 'it exists already' : code}`;
  }
}

function some(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

// The command `reeve import`: prints the setup of an older tool as objects of Reeve. Writes nothing to a cluster.
import { writeFile } from 'node:fs/promises';
import { cliApiVersion } from '../../schema/names.ts';
import { errorCode } from '../../base/kube-error.ts';
import { nameOf } from '../../base/metadata.ts';
import { stringifyYaml } from '../../base/yaml.ts';
import { importText } from '../../importers/import-text.ts';
import type { ImportResult, SourceObject } from '../../importers/importer.ts';
import { importerOf, importFrom } from '../../importers/importers.ts';
import { movedSecrets } from '../../importers/contents.ts';
import { kubeObjectsOf } from '../../inspect/input/file-state.ts';
import { readObjectFiles } from '../../inspect/input/object-files.ts';
import type { ImportOutput } from '../../inspect/output-schemas/import-output.ts';
import type { ApiServerChoice } from '../../kube/auth/find-api-server.ts';
import { renderFileProblem, UnreadablePathError } from '../../state/located.ts';
import { exitCodes } from '../exit-codes.ts';
import type { ImportCall } from '../flags/import-settings.ts';
import { installFacts } from '../input/install-facts.ts';
import { jsonText } from '../output/data-text.ts';
import { noProgress, type Progress } from '../output/progress.ts';

interface ImportIo {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly stdin: () => Promise<string>;
  readonly progress?: Progress;
}

/** Returns the exit code. */
export async function runImport(
  call: ImportCall,
  environment: ApiServerChoice['environment'],
  io: ImportIo,
): Promise<number> {
  const written = await objectsOfFiles(call.filename, io);
  if (written === undefined) return exitCodes.unknown;
  const { filename, kubeconfig, context, cluster, source } = call;
  if (filename.length > 0 && !cluster && (kubeconfig ?? context) === undefined)
    return await finished(call, written, imported(call, written), io);
  const { onCluster } = await import('../input/on-cluster.ts');
  return await onCluster(call, environment, io.stderr, async (connection) => {
    const { readForImport, withSecrets } = await import('../input/import-input.ts');
    const { objects, unread } = await readForImport(
      connection,
      importerOf(source),
      io.progress ?? noProgress,
    );
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
    for (const { kind, reason } of [...unread, ...read.unread])
      io.stderr(`${kind} could not be read: ${reason}\n`);
    const isPartial = unread.length + read.unread.length > 0;
    return await finished({ ...call, isPartial }, input, imported(call, input), io);
  });
}

/** Says each problem on standard error. Undefined if there is one. */
async function objectsOfFiles(
  paths: readonly string[],
  io: ImportIo,
): Promise<readonly SourceObject[] | undefined> {
  if (paths.length === 0) return [];
  try {
    const { located, problems } = await readObjectFiles(paths, io);
    const read = kubeObjectsOf(located);
    const all = [...problems, ...read.problems];
    for (const problem of all) io.stderr(`${renderFileProblem(problem)}\n`);
    if (all.length > 0) return undefined;
    return read.objects.map((object, index) => {
      const { file = '', line = 1 } = located[index] ?? {};
      return { object, file, line };
    });
  } catch (error) {
    if (!(error instanceof UnreadablePathError)) throw error;
    io.stderr(`${error.message}\n`);
    return undefined;
  }
}

/** Later objects replace earlier ones of the same kind, namespace and name. */
function replaced(...lists: readonly (readonly SourceObject[])[]): readonly SourceObject[] {
  return [...new Map(lists.flat().map((each) => [keyOf(each), each])).values()];
}

function keyOf({ object }: SourceObject): string {
  return JSON.stringify([object.apiVersion, object.kind, object.metadata.namespace, nameOf(object)]);
}

function imported(call: ImportCall, input: readonly SourceObject[]): ImportResult {
  const facts = installFacts(
    input.map(({ object }) => object),
    { sharedNamespace: call.sharedNamespace },
  );
  const { fromBindings, secretsFile } = call;
  return importFrom(call.source, input, {
    fromBindings,
    secretsFile,
    sharedNamespaces: facts.sharedNamespace,
  });
}

async function finished(
  call: ImportCall & { readonly isPartial?: boolean },
  input: readonly SourceObject[],
  { moved, sources: _sources, ...result }: ImportResult,
  io: ImportIo,
): Promise<number> {
  const { source, secretsFile, strict, output } = call;
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
  io.stdout(output === 'json' ? jsonText(whole) : importText(whole));
  const { danger } = importerOf(source);
  if (danger !== undefined) io.stderr(`${danger}\n`);
  io.stderr(`${some(objects.length, 'object')}; ${some(lost.length, 'part')} could not be carried over\n`);
  return strict && lost.length > 0 ? 1 : 0;
}

/** Undefined if the file was written. Only its owner can read it. */
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

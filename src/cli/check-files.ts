// The command `reeve check -f`: prints what is wrong with files. Loads the cluster client only if a cluster is named.
import { cliApiVersion } from '../schema/names.ts';
import type { Clock } from '../base/clock.ts';
import { checkDefinitions, inPlace } from '../inspect/checks/file-checks.ts';
import { checkWrittenObjects } from '../inspect/checks/written-objects.ts';
import { findingsForGithub, findingsText } from '../inspect/checks/check-text.ts';
import type { ClusterState } from '../inspect/input/cluster-state.ts';
import { kubeObjectsOf, stateOfFiles } from '../inspect/input/file-state.ts';
import { applied, loadState, setupOf } from '../inspect/input/loaded-state.ts';
import { readObjectFiles, type ObjectFiles } from '../inspect/input/object-files.ts';
import type {
  CheckFinding,
  CheckResults,
  UncheckedObjects,
} from '../inspect/output-schemas/check-results.ts';
import { loadDefinitions } from '../state/definitions.ts';
import { UnreadablePathError } from '../state/located.ts';
import type { ApiServerChoice } from '../kube/auth/find-api-server.ts';
import { exitCodes } from './exit-codes.ts';
import type { CheckFlags } from './flags/check-settings.ts';
import { installFacts } from './input/install-facts.ts';
import { jsonText, yamlText } from './output/data-text.ts';
import type { Progress } from './output/progress.ts';

export interface CheckFilesIo {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly stdin: () => Promise<string>;
  readonly clock: Pick<Clock, 'now'>;
  readonly progress?: Progress;
}

/** Returns the exit code. */
export async function runCheckFiles(
  flags: CheckFlags,
  environment: ApiServerChoice['environment'],
  io: CheckFilesIo,
): Promise<number> {
  const read = await readFiles(flags, io);
  if (read === undefined) return exitCodes.unknown;
  const { kubeconfig, context, cluster } = flags;
  if (!cluster && (kubeconfig ?? context) === undefined) return printed(flags, read, undefined, io);
  const { onCluster } = await import('./input/on-cluster.ts');
  return await onCluster(flags, environment, io.stderr, async (connection) => {
    const { readCluster } = await import('./input/cluster-input.ts');
    const needs = ['providers', 'namespaces', 'install', 'roles', 'sources', 'written'] as const;
    const added = kubeObjectsOf(read.located).objects;
    const base = await readCluster(connection, { needs, added }, flags, io.progress);
    return printed(flags, read, base, io);
  });
}

async function readFiles({ filename }: CheckFlags, io: CheckFilesIo): Promise<ObjectFiles | undefined> {
  try {
    return await readObjectFiles(filename, io);
  } catch (error) {
    if (!(error instanceof UnreadablePathError)) throw error;
    io.stderr(`${error.message}\n`);
    return undefined;
  }
}

function printed(
  flags: CheckFlags,
  read: ObjectFiles,
  base: ClusterState | undefined,
  io: CheckFilesIo,
): number {
  const { objects } = kubeObjectsOf(read.located);
  const withBase = base ?? stateOfFiles([], installFacts(objects, flags));
  const state = base === undefined ? stateOfFiles(objects, withBase.install) : applied(base, objects);
  const definitions = loadDefinitions(read.located, setupOf(withBase, loadState(withBase)));
  const now = io.clock.now();
  const definitionFindings = checkDefinitions({
    providers: definitions.providers,
    partial: definitions.partial,
    // Our own kinds are checked by their schemas.
    problems: [...read.problems, ...kubeObjectsOf(definitions.rest).problems, ...definitions.problems],
    state,
    snapshot: loadState(state).snapshot(),
    now,
  });
  const written = checkWrittenObjects({ located: definitions.rest, base: withBase, state, now });
  const findings = [...definitionFindings, ...written.findings].toSorted(inPlace);
  for (const { kind, reason } of state.unread) io.stderr(`${kind} could not be read: ${reason}\n`);
  const results = resultsOf(findings, written.unchecked, read, state.unread);
  io.stdout(writers[flags.output](results));
  if ((results.problems ?? 0) > 0 || (flags.strict && findings.length > 0)) return exitCodes.no;
  // A single object such as "Secret a/b" that could not be read hides warnings alone.
  const hides = state.unread.some(({ kind }) => flags.strict || !kind.includes(' '));
  return hides ? exitCodes.unknown : exitCodes.done;
}

const writers = { text: findingsText, json: jsonText, yaml: yamlText, github: findingsForGithub };

function resultsOf(
  findings: readonly CheckFinding[],
  unchecked: readonly UncheckedObjects[],
  { files, located }: ObjectFiles,
  unread: ClusterState['unread'],
): CheckResults {
  const problems = findings.filter(({ severity }) => severity === 'problem').length;
  return {
    apiVersion: cliApiVersion,
    kind: 'CheckResults',
    files,
    documents: located.length,
    problems,
    warnings: findings.length - problems,
    findings,
    unchecked,
    unread,
  };
}

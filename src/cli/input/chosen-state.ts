// Reads the state that a command looks at: files, a cluster, or a cluster with files on top.
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import type { ClusterState, UnreadKind } from '../../inspect/input/cluster-state.ts';
import { kubeObjectsOf, stateOfFiles, readObjectFiles } from '../../inspect/input/file-state.ts';
import { applied } from '../../inspect/input/loaded-state.ts';
import type { KubeObject } from '../../base/metadata.ts';
import type { ApiServerChoice } from '../../kube/auth/find-api-server.ts';
import { renderFileProblem, type FileProblem } from '../../state/yaml-files.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Progress } from '../output/progress.ts';
import type { WantedState } from './cluster-input.ts';
import { findInstall, type InstallOverrides } from './find-install.ts';

/** The flags that say where the state is. */
interface StateFlags extends InstallOverrides, Pick<ApiServerChoice, 'kubeconfig' | 'context'> {
  readonly filename: readonly string[];
  /** Files with the state beside those of `filename`. */
  readonly state: readonly string[];
  readonly cluster?: boolean;
}

interface StateIo {
  readonly stderr: (text: string) => void;
  readonly stdin: () => Promise<string>;
  readonly progress?: Progress;
}

/** `connection` is undefined for a state of files alone. */
type StateWork = (state: ClusterState, connection?: ClusterConnection) => number | Promise<number>;

/** Returns the exit code of the work, or `unknown` if the files have a problem or the cluster does not answer. */
export async function withState(
  flags: StateFlags,
  environment: ApiServerChoice['environment'],
  { needs, added = [] }: WantedState,
  io: StateIo,
  work: StateWork,
): Promise<number> {
  const beside = await objectsOfFiles(flags.state, io, true);
  const files = await objectsOfFiles(flags.filename, io, true);
  if (beside === undefined || files === undefined) return exitCodes.unknown;
  if (beside.length + files.length > 0 && !isOnCluster(flags)) {
    const install = findInstall([...beside, ...files], flags);
    if (install.isAssumed) io.stderr('the files have no Deployment of Reeve, so its default flags count\n');
    return await work(
      beside.length === 0 ? stateOfFiles(files, install) : applied(stateOfFiles(beside, install), files),
    );
  }
  const { onCluster } = await import('./on-cluster.ts');
  return await onCluster(flags, environment, io.stderr, async (connection) => {
    const { readCluster } = await import('./cluster-input.ts');
    const state = await readCluster(connection, { needs, added: [...files, ...added] }, flags, io.progress);
    sayUnread(state.unread, io);
    return await work(applied(state, files), connection);
  });
}

/** Returns whether these flags name a cluster. Without files, a command looks at the cluster that kubectl would use. */
export function isOnCluster({
  kubeconfig,
  context,
  cluster = false,
}: Pick<StateFlags, 'kubeconfig' | 'context' | 'cluster'>): boolean {
  return cluster || (kubeconfig ?? context) !== undefined;
}

/** Writes each problem to standard error. Returns undefined if there is a problem. Rejects with an UnreadablePathError. */
export async function objectsOfFiles(
  paths: readonly string[],
  io: Pick<StateIo, 'stdin' | 'stderr'>,
  isState = false,
): Promise<readonly KubeObject[] | undefined> {
  const read = await readObjectFiles(paths, { ...io, isState });
  const { objects, problems } = kubeObjectsOf(read.located);
  return sayProblems([...read.problems, ...problems], io) ? undefined : objects;
}

/** Returns whether there is a problem. */
export function sayProblems(problems: readonly FileProblem[], { stderr }: Pick<StateIo, 'stderr'>): boolean {
  for (const problem of problems) stderr(`${renderFileProblem(problem)}\n`);
  return problems.length > 0;
}

export function sayUnread(unread: readonly UnreadKind[], { stderr }: Pick<StateIo, 'stderr'>): void {
  for (const { kind, reason } of unread) stderr(`${kind} could not be read: ${reason}\n`);
}

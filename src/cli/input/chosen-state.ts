// Reads the state that a command looks at: files, a cluster, or a cluster with files on top.
import type { ClusterConnection } from '../../app/cluster-connection.ts';
import type { ClusterState } from '../../inspect/input/cluster-state.ts';
import { kubeObjectsOf, stateOfFiles } from '../../inspect/input/file-state.ts';
import { applied } from '../../inspect/input/loaded-state.ts';
import { readObjectFiles } from '../../inspect/input/object-files.ts';
import type { KubeObject } from '../../base/metadata.ts';
import type { ApiServerChoice } from '../../kube/auth/find-api-server.ts';
import { renderFileProblem, UnreadablePathError } from '../../state/located.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Progress } from '../output/progress.ts';
import type { WantedState } from './cluster-input.ts';
import { installFacts, type InstallOverrides } from './install-facts.ts';

/** The flags that say where the state is. */
export interface StateFlags extends InstallOverrides, Pick<ApiServerChoice, 'kubeconfig' | 'context'> {
  readonly filename: readonly string[];
  readonly cluster: boolean;
}

export interface StateIo {
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
  const objects = await objectsOfFiles(flags.filename, io);
  if (objects === undefined) return exitCodes.unknown;
  const { filename, kubeconfig, context, cluster } = flags;
  if (filename.length > 0 && !cluster && (kubeconfig ?? context) === undefined) {
    const install = installFacts(objects, flags);
    if (install.isAssumed) io.stderr('the files have no Deployment of Reeve, so its default flags count\n');
    return await work(stateOfFiles(objects, install));
  }
  const { onCluster } = await import('./on-cluster.ts');
  return await onCluster(flags, environment, io.stderr, async (connection) => {
    const { readCluster } = await import('./cluster-input.ts');
    const state = await readCluster(connection, { needs, added: [...objects, ...added] }, flags, io.progress);
    for (const { kind, reason } of state.unread) io.stderr(`${kind} could not be read: ${reason}\n`);
    return await work(applied(state, objects), connection);
  });
}

/** Says each problem on standard error. Undefined if there is one. */
export async function objectsOfFiles(
  paths: readonly string[],
  io: Pick<StateIo, 'stdin' | 'stderr'>,
): Promise<readonly KubeObject[] | undefined> {
  try {
    const read = await readObjectFiles(paths, { ...io, isState: true });
    const { objects, problems } = kubeObjectsOf(read.located);
    const all = [...read.problems, ...problems];
    for (const problem of all) io.stderr(`${renderFileProblem(problem)}\n`);
    return all.length === 0 ? objects : undefined;
  } catch (error) {
    if (!(error instanceof UnreadablePathError)) throw error;
    io.stderr(`${error.message}\n`);
    return undefined;
  }
}

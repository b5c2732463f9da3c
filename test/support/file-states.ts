// Reads a state from files, for tests of what commands do with the state of a cluster.
import { findInstall } from '../../src/cli/input/find-install.ts';
import type { ClusterState } from '../../src/inspect/input/cluster-state.ts';
import { kubeObjectsOf, stateOfFiles, readObjectFiles } from '../../src/inspect/input/file-state.ts';

export async function stateIn(...paths: readonly string[]): Promise<ClusterState> {
  const { located, problems } = await readObjectFiles(paths, { stdin: () => Promise.resolve('') });
  const read = kubeObjectsOf(located);
  const all = [...problems, ...read.problems];
  if (all.length > 0) throw new Error(JSON.stringify(all));
  return stateOfFiles(read.objects, findInstall(read.objects, {}));
}

// Builds the programs of a node from the Go module of the control plane, so that all have the same version.
import { builtBy, findGo, type Environment, type Program } from '../go-program.ts';

const partsProgram: Program = { name: 'nodeparts', folder: './node/parts', files: ['main.go'] };

const pauseProgram: Program = { name: 'pause', folder: './node/pause', files: ['main.go'] };

export interface NodePrograms {
  /** kubelet, kube-proxy and kube-scheduler in one program. */
  readonly parts: string;
  readonly pause: string;
}

/** Returns undefined without Go. */
export async function findNodePrograms(
  env: Environment,
  onProgress: (text: string) => void,
): Promise<NodePrograms | undefined> {
  const go = await findGo(env);
  if (go === undefined) return undefined;
  const said = 'building kubelet, kube-proxy and kube-scheduler; the first time this takes some minutes\n';
  const parts = await builtBy(go, env, partsProgram, () => onProgress(said));
  return { parts, pause: await builtBy(go, env, pauseProgram) };
}

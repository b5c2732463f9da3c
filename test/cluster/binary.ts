// Finds the programs of the control plane: built by Go from this folder, otherwise those of envtest, otherwise none.
import { join } from 'node:path';
import { builtBy, findGo, missingOf, type Environment, type Program } from './go-program.ts';

export type ClusterBinary =
  /** One program that holds all three components as subcommands. */
  | { readonly kind: 'built'; readonly path: string }
  /** https://book.kubebuilder.io/reference/envtest.html: etcd and kube-apiserver, no controllers. */
  | { readonly kind: 'assets'; readonly folder: string }
  | { readonly kind: 'none'; readonly reason: string };

export type ComponentName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager';

const controlPlane: Program = { name: 'controlplane', folder: '.', files: ['main.go'] };

const clientProgram: Program = {
  name: 'contractclient',
  folder: './contractclient',
  files: ['main.go', 'typed.go', 'informer.go', 'dynamic.go'],
};

const loadGenerator: Program = {
  name: 'loadgen',
  folder: './loadgen',
  files: ['main.go', 'connection.go', 'load.go'],
};

const referenceProgram: Program = {
  name: 'reference',
  folder: './reference',
  files: ['main.go', 'controller.go'],
};

/** Rejects when a build fails: a machine with Go is meant to run the tests. */
export async function findBinary(
  env: Environment = process.env,
  onProgress: (text: string) => void = () => undefined,
): Promise<ClusterBinary> {
  const go = await findGo(env);
  if (go !== undefined) {
    const said = 'building the control plane for the tests; the first time this takes some minutes\n';
    return { kind: 'built', path: await builtBy(go, env, controlPlane, () => onProgress(said)) };
  }
  const folder = env['KUBEBUILDER_ASSETS'] ?? '';
  if (folder === '')
    return { kind: 'none', reason: 'neither Go is on the PATH nor KUBEBUILDER_ASSETS is set' };
  const missing = await missingOf(folder, ['etcd', 'kube-apiserver']);
  if (missing.length === 0) return { kind: 'assets', folder };
  return {
    kind: 'none',
    reason: `KUBEBUILDER_ASSETS has no ${missing.join(' and no ')}, and Go is not there`,
  };
}

/** Returns the program that uses client-go against a server, or undefined without Go. */
export async function findClientProgram(env: Environment = process.env): Promise<string | undefined> {
  const go = await findGo(env);
  return go === undefined ? undefined : await builtBy(go, env, clientProgram);
}

/** Returns the program that sends requests to a server and measures the answers, or undefined without Go. */
export async function findLoadGenerator(env: Environment = process.env): Promise<string | undefined> {
  const go = await findGo(env);
  return go === undefined ? undefined : await builtBy(go, env, loadGenerator);
}

/** Returns the plain controller of client-go that the bench compares with Reeve. Rejects without Go. */
export async function findReferenceProgram(env: Environment = process.env): Promise<string> {
  const go = await findGo(env);
  if (go === undefined) throw new Error('Go is not on the PATH');
  return await builtBy(go, env, referenceProgram);
}

/** Returns the program with its first arguments, or undefined when these binaries lack the component. */
export function commandOf(binary: ClusterBinary, name: ComponentName): readonly string[] | undefined {
  switch (binary.kind) {
    case 'built':
      return [binary.path, name];
    case 'assets':
      return name === 'kube-controller-manager' ? undefined : [join(binary.folder, name)];
    case 'none':
      return undefined;
    default:
      return binary satisfies never;
  }
}

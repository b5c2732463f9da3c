// Builds and runs Helm 3 and Helm 4, each from the Go module beside this file that pins its version.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram, type ProgramOutput } from '../../support/run-program.ts';
import { builtBy, findGo, type Environment, type Program } from '../go-program.ts';

export const helmMajors = [3, 4] as const;
export type HelmMajor = (typeof helmMajors)[number];

/** Runs Helm with these arguments. The kubeconfig is needed for commands that call a cluster. */
export type Helm = (args: readonly string[], options?: HelmOptions) => Promise<ProgramOutput>;

export interface HelmOptions {
  readonly kubeconfig?: string;
  /** The standard input, for `--values -`. */
  readonly input?: string;
}

const repository = join(import.meta.dirname, '..', '..', '..');
export const chartFolder = join(repository, 'manifests', 'chart');

/** Returns a function that runs this version of Helm, or undefined without Go. Rejects when the build fails. */
export async function findHelm(
  major: HelmMajor,
  env: Environment = process.env,
  onProgress: (text: string) => void = () => undefined,
): Promise<Helm | undefined> {
  const go = await findGo(env);
  if (go === undefined) return undefined;
  const said = `building Helm ${major}; the first time this takes some minutes\n`;
  const path = await builtBy(go, env, programOf(major), () => onProgress(said));
  return async (args, options = {}) => await run(path, args, env, options);
}

/** Returns the standard output of Helm. Rejects with its message when Helm fails. */
export async function mustHelm(helm: Helm, args: readonly string[], options?: HelmOptions): Promise<string> {
  const { code, stdout, stderr } = await helm(args, options);
  if (code !== 0) throw new Error(`helm ${args[0]} ended with ${code}: ${stderr}`);
  return stdout;
}

function programOf(major: HelmMajor): Program {
  return {
    name: `helm${major}`,
    module: join(import.meta.dirname, `v${major}`),
    folder: `helm.sh/helm/v${major}/cmd/helm`,
    files: [],
    variables: (goMod) => [
      `-X helm.sh/helm/v${major}/internal/version.version=${versionIn(goMod, `helm.sh/helm/v${major}`)}`,
      ...(major === 3 ? kubeVersion(versionIn(goMod, 'k8s.io/client-go')) : []),
    ],
  };
}

function versionIn(goMod: string, module: string): string {
  const line = goMod.split('\n').find((each) => each.trim().startsWith(`${module} v`));
  const [, version] = line?.trim().split(' ') ?? [];
  if (version === undefined) throw new Error(`go.mod does not name ${module}`);
  return version;
}

/** `helm template` of Helm 3 takes the version of Kubernetes from these. Helm 4 takes it from client-go. */
function kubeVersion(clientGo: string): readonly string[] {
  const [, minor] = /^v0\.(\d+)\./.exec(clientGo) ?? [];
  return ['chartutil', 'lint/rules'].flatMap((folder) => [
    `-X helm.sh/helm/v3/pkg/${folder}.k8sVersionMajor=1`,
    `-X helm.sh/helm/v3/pkg/${folder}.k8sVersionMinor=${minor}`,
  ]);
}

/** Helm gets a home of its own, without the repositories, plugins and caches of the person who runs the tests. */
async function run(
  path: string,
  args: readonly string[],
  env: Environment,
  { kubeconfig, input = '' }: HelmOptions,
): Promise<ProgramOutput> {
  const home = await mkdtemp(join(tmpdir(), 'reeve-helm-'));
  try {
    const own = { PATH: env['PATH'], HOME: home, KUBECONFIG: kubeconfig ?? '/dev/null' };
    return await runProgram(path, args, { cwd: repository, env: own, input });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

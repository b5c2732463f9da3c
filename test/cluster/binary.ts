// Finds the programs of the control plane: built by Go from this folder, otherwise those of envtest, otherwise none.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';

export type ClusterBinary =
  /** One program that holds all three components as subcommands. */
  | { readonly kind: 'built'; readonly path: string }
  /** https://book.kubebuilder.io/reference/envtest.html: etcd and kube-apiserver, no controllers. */
  | { readonly kind: 'assets'; readonly folder: string }
  | { readonly kind: 'none'; readonly reason: string };

export type ComponentName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager';

export type Environment = Readonly<Record<string, string | undefined>>;

const source = import.meta.dirname;

/** A program of the Go module in this folder. */
export interface Program {
  readonly name: string;
  /** Relative to the module, as Go names packages. */
  readonly folder: string;
  /** Its source files in that folder. */
  readonly files: readonly string[];
}

const controlPlane: Program = { name: 'controlplane', folder: '.', files: ['main.go'] };

const clientProgram: Program = {
  name: 'contractclient',
  folder: './contractclient',
  files: ['main.go', 'typed.go', 'informer.go', 'dynamic.go'],
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

/** Returns the cache folder of the user. https://specifications.freedesktop.org/basedir-spec/latest/ */
export function cacheFolder(env: Environment): string {
  const base = env['XDG_CACHE_HOME'] ?? '';
  return join(base.startsWith('/') ? base : join(homedir(), '.cache'), 'reeve');
}

/** Equal keys mean equal binaries. `toolchain`: Go, the platform, the flags of the build. */
export function cacheKey(files: ReadonlyMap<string, Uint8Array>, toolchain: string): string {
  const hash = createHash('sha256').update(JSON.stringify(toolchain));
  for (const [name, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(JSON.stringify([name, createHash('sha256').update(content).digest('hex')]));
  }
  return hash.digest('hex').slice(0, 16);
}

/** kubectl refuses a server with the version that a plain build reports. */
export function kubernetesVersion(goMod: string): string {
  const [, version] = /^\s*k8s\.io\/kubernetes (v\S+)/m.exec(goMod) ?? [];
  if (version === undefined) throw new Error('go.mod does not name k8s.io/kubernetes');
  return version;
}

/** Builds the program unless the cache has it, and returns its path. */
export async function builtBy(
  go: string,
  env: Environment,
  program: Program,
  onBuild: () => void = () => undefined,
): Promise<string> {
  const toolchain = await run(go, ['env', 'GOVERSION', 'GOOS', 'GOARCH'], env);
  const names = ['go.mod', 'go.sum', ...program.files.map((file) => join(program.folder, file))];
  const contents = await Promise.all(names.map((name) => readFile(join(source, name))));
  const files = new Map(names.map((name, index) => [name, contents[index] ?? Buffer.of()]));
  const flags = buildFlags(kubernetesVersion(String(files.get('go.mod'))));
  const key = cacheKey(files, `${toolchain} ${flags.join(' ')}`);
  const path = join(cacheFolder(env), `${program.name}-${key}`);
  if ((await missingOf('', [path])).length === 0) return path;
  onBuild();
  await build(go, env, path, flags, program.folder);
  return path;
}

function buildFlags(version: string): readonly string[] {
  return ['-trimpath', '-ldflags', `-s -w -X k8s.io/component-base/version.gitVersion=${version}`];
}

/** Builds under a temporary name, because another process may build the same program. The last rename wins. */
async function build(
  go: string,
  env: Environment,
  path: string,
  flags: readonly string[],
  folder: string,
): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  await mkdir(cacheFolder(env), { recursive: true });
  try {
    await run(go, ['build', ...flags, '-o', temporary, folder], env);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function run(go: string, args: readonly string[], env: Environment): Promise<string> {
  const child = spawn(go, args, {
    cwd: source,
    env: { ...env, CGO_ENABLED: '0', GOWORK: 'off' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code === 0) return stdout;
  throw new Error(`go ${args[0]} failed:\n${stderr.split('\n').slice(-20).join('\n')}`);
}

/** Returns the path of the Go command, or undefined when there is none. */
export async function findGo(env: Environment = process.env): Promise<string | undefined> {
  return await findProgram('go', env['PATH'] ?? '');
}

async function findProgram(name: string, path: string): Promise<string | undefined> {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  for (const folder of folders) {
    if ((await missingOf(folder, [name])).length === 0) return join(folder, name);
  }
  return undefined;
}

async function missingOf(folder: string, names: readonly string[]): Promise<readonly string[]> {
  const isMissing = await Promise.all(
    names.map((name) =>
      access(join(folder, name), constants.X_OK).then(
        () => false,
        () => true,
      ),
    ),
  );
  return names.filter((_, index) => isMissing[index]);
}

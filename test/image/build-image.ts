// Builds the image of Reeve from the Dockerfile with buildah, once for each state of the source: `npm run image`.
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, cacheKey } from '../cluster/go-program.ts';
import { baseImage, repository } from './base-image.ts';
import { runTool, toolsProblem } from './tools.ts';

/** What the Dockerfile copies, and itself. */
const inputs =
  'Dockerfile .dockerignore .npmrc LICENSE package.json package-lock.json tsconfig.json src/** build/** manifests/**';

export interface ImageOptions {
  readonly say: (text: string) => void;
  /** Builds even when the cache has the image, without any layer of an earlier build. Returns another file. */
  readonly again?: boolean;
}

/** Returns an OCI archive with docker.io/library/reeve:VERSION. Throws with one sentence where none can be built. */
export function builtImage({ say, again = false }: ImageOptions): string {
  const problem = toolsProblem();
  if (problem !== undefined) throw new Error(problem);
  const base = baseImage(say);
  const key = imageKey(base);
  const folder = cacheFolder(process.env);
  const path = join(folder, `image-${key}${again ? '-again' : ''}.tar`);
  if (existsSync(path) && !again) return path;
  say('building the image; the first time this takes a minute');
  mkdirSync(folder, { recursive: true });
  const name = `localhost/reeve-image:${key}`;
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    runTool('buildah', [...buildArguments(base, again), '-t', name, '.'], repository);
    runTool('buildah', ['push', '-q', name, `oci-archive:${temporary}:docker.io/library/reeve:${version()}`]);
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
  return path;
}

export function version(): string {
  const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return manifest.version;
}

function imageKey(base: string): string {
  const names = globSync(inputs.split(' '), { cwd: repository }).filter((name) =>
    statSync(join(repository, name)).isFile(),
  );
  const files = new Map(names.map((name) => [name, readFileSync(join(repository, name))]));
  return cacheKey(files, base);
}

function buildArguments(base: string, again: boolean): readonly string[] {
  // Without the network of the machine, buildah leaves a bridge and firewall rules behind.
  const isolation = '--isolation oci --runtime runc --network host --pull-never --timestamp 0';
  const values = [`NODE_IMAGE=${base}`, `VERSION=${version()}`].flatMap((value) => ['--build-arg', value]);
  const caching = again ? ['--no-cache'] : [];
  return ['build', '-q', '--layers', ...caching, ...isolation.split(' '), ...values, ...npmMounts()];
}

/** npm inside the build uses the registry and the authorities of this machine. */
function npmMounts(): readonly string[] {
  const authorities = '/etc/ssl/certs/ca-certificates.crt';
  const config = join(cacheFolder(process.env), 'npmrc');
  const registry = runTool('npm', ['config', 'get', 'registry']).trim();
  const lines = [`registry=${registry}`, ...(existsSync(authorities) ? [`cafile=${authorities}`] : [])];
  writeFileSync(config, `${lines.join('\n')}\n`);
  const mounts = [
    [config, '/usr/local/etc/npmrc'],
    [authorities, authorities],
  ] as const;
  return mounts.filter(([from]) => existsSync(from)).flatMap(([from, to]) => ['-v', `${from}:${to}:ro`]);
}

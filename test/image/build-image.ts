// Builds the image of Reeve from the Dockerfile with buildah, once for each state of the source: `npm run image`.
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isCached, removeOldBuilds, temporaryName } from '../cluster/build-cache.ts';
import { cacheFolder, cacheKey } from '../cluster/go-program.ts';
import { baseSource, importBase, repository } from './base-image.ts';
import { withImageStore, type ImageStore } from './image-store.ts';
import { runTool, toolsProblem } from './tools.ts';

/** What the Dockerfile copies, and itself. */
const inputs =
  'Dockerfile .dockerignore .npmrc LICENSE package.json package-lock.json tsconfig.json src/** build/** manifests/**';

export interface ImageOptions {
  readonly say: (text: string) => void;
  /** Builds even when the cache has the image. Returns another file. */
  readonly again?: boolean;
}

/** Returns an OCI archive with docker.io/library/reeve:VERSION. Throws with one sentence where none can be built. */
export function builtImage({ say, again = false }: ImageOptions): string {
  const problem = toolsProblem();
  if (problem !== undefined) throw new Error(problem);
  const base = baseSource(say);
  const path = join(cacheFolder(process.env), `image-${imageKey(base.key)}${again ? '-again' : ''}.tar`);
  if (!again && isCached(path)) return path;
  say('building the image; the first time this takes a minute');
  const temporary = temporaryName(path);
  try {
    withImageStore((store) => {
      const name = 'localhost/reeve-image';
      store.buildah([...buildArguments(importBase(base, store), store), '-t', name, '.'], repository);
      store.buildah(['push', '-q', name, `oci-archive:${temporary}:docker.io/library/reeve:${version()}`]);
    });
    renameSync(temporary, path);
    removeOldBuilds(dirname(path));
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

function buildArguments(base: string, { folder }: ImageStore): readonly string[] {
  // Without the network of the machine, buildah leaves a bridge and firewall rules behind.
  const isolation = '--isolation oci --runtime runc --network host --pull-never --timestamp 0';
  const values = [`NODE_IMAGE=${base}`, `VERSION=${version()}`].flatMap((value) => ['--build-arg', value]);
  return ['build', '-q', ...isolation.split(' '), ...values, ...npmMounts(folder)];
}

/** npm inside the build uses the registry and the authorities of this machine. */
function npmMounts(folder: string): readonly string[] {
  const authorities = '/etc/ssl/certs/ca-certificates.crt';
  const config = join(folder, 'npmrc');
  const registry = runTool('npm', ['config', 'get', 'registry']).trim();
  const lines = [`registry=${registry}`, ...(existsSync(authorities) ? [`cafile=${authorities}`] : [])];
  writeFileSync(config, `${lines.join('\n')}\n`);
  const mounts = [
    [config, '/usr/local/etc/npmrc'],
    [authorities, authorities],
  ] as const;
  return mounts.filter(([from]) => existsSync(from)).flatMap(([from, to]) => ['-v', `${from}:${to}:ro`]);
}

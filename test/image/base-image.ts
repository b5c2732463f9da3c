// The base of the image: a given one where a registry can be reached, otherwise a stand-in made here.
//
// The stand-in is a Debian of the same release with the same version of Node, from packages of Debian and of npm.
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { isCached, removeOldBuilds, temporaryName } from '../cluster/build-cache.ts';
import { cacheFolder } from '../cluster/go-program.ts';
import type { ImageStore } from './image-store.ts';
import { runTool } from './tools.ts';

export const repository = resolve(import.meta.dirname, '../..');

/** Names another base, which buildah can pull, such as the base of the Dockerfile itself. */
const variable = 'REEVE_NODE_IMAGE';
const npmVersion = '11.19.1';
const debianPackages = ['libstdc++6', 'libatomic1', 'ca-certificates'];
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

interface BaseRelease {
  readonly node: string;
  readonly debian: string;
}

/** The Dockerfile names both: node:24.18.0-bookworm-slim@sha256:… */
function baseRelease(dockerfile: string): BaseRelease {
  const { node, debian } =
    /^ARG NODE_IMAGE=\S+\/node:(?<node>\d+\.\d+\.\d+)-(?<debian>[a-z]+)-slim@sha256:[0-9a-f]{64}$/mu.exec(
      dockerfile,
    )?.groups ?? {};
  if (node === undefined || debian === undefined) throw new Error('the Dockerfile does not pin its base');
  return { node, debian };
}

/** What the base of the image is made of: an image by its name, or the root of the stand-in as an archive in the cache. */
export interface BaseSource {
  readonly image?: string;
  readonly root?: string;
  /** Equal keys mean equal bases. */
  readonly key: string;
}

export function baseSource(say: (text: string) => void): BaseSource {
  const image = process.env[variable] ?? '';
  if (image !== '') return { image, key: image };
  const release = baseRelease(readFileSync(join(repository, 'Dockerfile'), 'utf8'));
  const recipe = JSON.stringify([release, npmVersion, debianPackages]);
  const key = createHash('sha256').update(recipe).digest('hex').slice(0, 16);
  const root = join(cacheFolder(process.env), `base-${key}.tar`);
  if (!isCached(root)) {
    say('making a stand-in for the base of the image; the first time this takes a minute or two');
    makeRoot(release, root);
  }
  return { root, key };
}

/** Returns the name of the base in the store. */
export function importBase({ image, root = '' }: BaseSource, { folder, buildah }: ImageStore): string {
  if (image !== undefined) {
    buildah(['pull', '-q', image]);
    return image;
  }
  const name = 'localhost/reeve-base';
  const lines = ['FROM scratch', `ADD ${basename(root)} /`, 'ENV PATH=/usr/local/bin:/usr/bin:/bin'];
  const file = join(folder, 'Dockerfile');
  writeFileSync(file, lines.join('\n'));
  buildah(['build', '-q', '-f', file, '-t', name, dirname(root)]);
  return name;
}

/** Writes an archive with the root of the stand-in. */
function makeRoot({ node, debian }: BaseRelease, archive: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-base-'));
  const temporary = temporaryName(archive);
  try {
    const root = join(folder, 'root');
    const local = join(root, 'usr/local');
    const runtime = unpacked(`node-linux-${process.arch}@${node}`, folder);
    cpSync(join(runtime, 'bin/node'), join(local, 'bin/node'), { recursive: true });
    cpSync(join(runtime, 'LICENSE'), join(local, 'LICENSE'));
    cpSync(unpacked(`npm@${npmVersion}`, folder), join(local, 'lib/node_modules/npm'), { recursive: true });
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
    const packages = `--include=${debianPackages.join(',')}`;
    const architecture = `--architectures=${architectures[process.arch]}`;
    const options = ['--quiet', '--variant=minbase', '--format=tar', architecture, packages];
    mkdirSync(dirname(archive), { recursive: true });
    runTool('mmdebstrap', [...options, `--customize-hook=sync-in ${root} /`, debian, temporary]);
    renameSync(temporary, archive);
    removeOldBuilds(dirname(archive));
  } finally {
    for (const each of [folder, temporary]) rmSync(each, { recursive: true, force: true });
  }
}

/** Returns the folder of a package of npm. Nothing of it runs. */
function unpacked(name: string, folder: string): string {
  const into = mkdtempSync(join(folder, 'package-'));
  runTool('npm', ['pack', '--silent', '--pack-destination', into, name], into);
  runTool('sh', ['-c', 'tar -xzf *.tgz && rm *.tgz'], into);
  return join(into, 'package');
}

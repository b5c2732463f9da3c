// Packs the program `pause` as the image of all sandbox containers, because no registry is asked for one.
//
// The same image stands in for the one of the recipe for Jobs, which only needs `echo`.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { isCached } from '../build-cache.ts';
import { pauseImage } from './node-files.ts';

const run = promisify(execFile);

/** Returns the path of the archive, which is kept beside the program. Its name holds the key of the program's build. */
export async function packedPause(program: string): Promise<string> {
  const archive = `${program}.tar`;
  if (isCached(archive)) return archive;
  await mkdir(dirname(program), { recursive: true });
  const folder = await mkdtemp(`${archive}.`);
  try {
    await pack(program, folder);
    await rename(join(folder, basename(archive)), archive);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return archive;
}

const echoImage = 'docker.io/library/busybox:1.37';

/** Writes the form of `docker save`: https://github.com/moby/docker-image-spec/blob/main/spec.md */
async function pack(program: string, folder: string): Promise<void> {
  await copyFile(program, join(folder, 'pause'));
  await mkdir(join(folder, 'bin'));
  await symlink('/pause', join(folder, 'bin', 'echo'));
  const owner = ['--owner=0', '--group=0'];
  await run('tar', ['-C', folder, ...owner, '-cf', join(folder, 'layer.tar'), 'pause', 'bin']);
  const layer = createHash('sha256')
    .update(await readFile(join(folder, 'layer.tar')))
    .digest('hex');
  const config = {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Entrypoint: ['/pause'], User: '65535:65535' },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
  };
  const manifest = [{ Config: 'config.json', RepoTags: [pauseImage, echoImage], Layers: ['layer.tar'] }];
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
  const files = ['manifest.json', 'config.json', 'layer.tar'];
  await run('tar', ['-C', folder, '-cf', join(folder, basename(`${program}.tar`)), ...files]);
}

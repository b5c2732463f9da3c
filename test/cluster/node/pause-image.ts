// Packs the program `pause` as the image of all sandbox containers, because no registry is asked for one.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { pauseImage } from './node-files.ts';

const run = promisify(execFile);

/** Returns the path of the archive, which is kept beside the program. Its name holds the key of the program's build. */
export async function packedPause(program: string): Promise<string> {
  const archive = `${program}.tar`;
  const exists = await access(archive).then(
    () => true,
    () => false,
  );
  if (exists) return archive;
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

/** Writes the form of `docker save`: https://github.com/moby/docker-image-spec/blob/main/spec.md */
async function pack(program: string, folder: string): Promise<void> {
  await copyFile(program, join(folder, 'pause'));
  await run('tar', ['-C', folder, '--owner=0', '--group=0', '-cf', join(folder, 'layer.tar'), 'pause']);
  const layer = createHash('sha256')
    .update(await readFile(join(folder, 'layer.tar')))
    .digest('hex');
  const config = {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Entrypoint: ['/pause'], User: '65535:65535' },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
  };
  const manifest = [{ Config: 'config.json', RepoTags: [pauseImage], Layers: ['layer.tar'] }];
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
  const files = ['manifest.json', 'config.json', 'layer.tar'];
  await run('tar', ['-C', folder, '-cf', join(folder, basename(`${program}.tar`)), ...files]);
}

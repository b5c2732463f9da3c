// A store of buildah that exists only while an image is built: no container, mount or layer stays on the machine.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../cluster/go-program.ts';
import { runTool } from './tools.ts';

export interface ImageStore {
  /** For files that the build needs. */
  readonly folder: string;
  /** Returns what buildah prints. */
  readonly buildah: (args: readonly string[], cwd?: string) => string;
}

/** The kernel unmounts what buildah mounts when buildah ends, also when it is killed. Its own builds leave mounts behind. */
const ownMounts = ['--mount', '--propagation=private', 'buildah'];

export function withImageStore<T>(work: (store: ImageStore) => T): T {
  const cache = cacheFolder(process.env);
  mkdirSync(cache, { recursive: true });
  // There, what a killed build leaves behind is removed later.
  const folder = mkdtempSync(join(cache, 'image-store.'));
  const places = [`--root=${join(folder, 'root')}`, `--runroot=${join(folder, 'run')}`];
  try {
    return work({
      folder,
      buildah: (args, cwd) => runTool('unshare', [...ownMounts, ...places, ...args], cwd),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

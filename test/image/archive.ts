// Reads an OCI archive with one image: its configuration, its files, and its size.
// https://github.com/opencontainers/image-spec/blob/main/image-layout.md
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from './tools.ts';

interface Descriptor {
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface ImageConfig {
  readonly created: string;
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly Cmd: readonly string[];
    readonly WorkingDir: string;
    readonly Labels: Readonly<Record<string, string>>;
  };
}

export interface ImageEntry {
  /** As `ls -l` writes it: -rwxr-xr-x. */
  readonly mode: string;
  readonly owner: string;
  readonly path: string;
}

export interface ReadImage {
  readonly name: string;
  /** The digest of the manifest, which covers every byte of the image. */
  readonly digest: string;
  readonly config: ImageConfig;
  /** The sum of the compressed layers: what a node pulls. */
  readonly layerBytes: number;
  readonly entries: readonly ImageEntry[];
  /** The root of the file system, unpacked. */
  readonly root: string;
}

/** `folder`: an empty folder that gets the unpacked image. */
export function readImage(archive: string, folder: string): ReadImage {
  const [layout, root] = [join(folder, 'layout'), join(folder, 'rootfs')];
  for (const each of [layout, root]) mkdirSync(each, { recursive: true });
  runTool('tar', ['-xf', archive, '-C', layout]);
  const blob = (digest: string): string => join(layout, 'blobs', digest.replace(':', '/'));
  const [top] = (parsed(join(layout, 'index.json')) as { readonly manifests: readonly Descriptor[] })
    .manifests;
  if (top === undefined) throw new Error('the archive holds no image');
  const manifest = parsed(blob(top.digest)) as {
    readonly config: Descriptor;
    readonly layers: readonly Descriptor[];
  };
  const files = manifest.layers.map(({ digest }) => blob(digest));
  for (const file of files) runTool('tar', ['-xzpf', file, '-C', root]);
  return {
    name: top.annotations?.['org.opencontainers.image.ref.name'] ?? '',
    digest: top.digest,
    config: parsed(blob(manifest.config.digest)) as ImageConfig,
    layerBytes: manifest.layers.reduce((sum, { size }) => sum + size, 0),
    entries: files.flatMap((file) => entriesOf(runTool('tar', ['-tvzf', file, '--numeric-owner']))),
    root,
  };
}

function parsed(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function entriesOf(listing: string): readonly ImageEntry[] {
  return listing
    .trim()
    .split('\n')
    .map((line) => {
      const [mode = '', owner = '', , , , path = ''] = line.split(/ +/);
      return { mode, owner, path };
    });
}

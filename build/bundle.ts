// `npm run build`: bundles the program into dist, with the licenses and the list of the packages that are in it.
//
// Each command, each role and each library that is loaded later gets a file of its own, so that a process loads only its
// own code. With `--image` the sandbox is left out: the image must not be able to serve a fake API.
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { rolldown, type OutputChunk } from 'rolldown';
import { licensesText, packagesOf } from './packages.ts';
import { sbomOf } from './sbom.ts';

const root = resolve(import.meta.dirname, '..');

export interface BundleOptions {
  /** The folder that gets the code, the licenses and the list of packages. It is emptied first. */
  readonly out: string;
  readonly forImage: boolean;
}

/** The code finds package.json and manifests two folders above itself: in src/ROOM, and here. */
export const codeFolder = 'bin';
export const mainFile = 'main.cjs';
export const licensesFile = 'THIRD-PARTY-LICENSES.txt';
export const sbomFile = 'sbom.cdx.json';

const upPath = join(root, 'src/cli/up.ts');
const upLeftOut = join(root, 'src/cli/up-left-out.ts');
/** Express loads its parsers of bodies and its sender of files at once: 6 MB and 40 ms that the webhook never uses. */
const expressPath = join(root, 'node_modules/express/index.js');
const routerOfExpress = `exports.Router = require('router');`;

/** Returns the files with code. */
export async function bundleProgram({ out, forImage }: BundleOptions): Promise<readonly OutputChunk[]> {
  const bundle = await rolldown({
    cwd: root,
    input: join(root, 'src/main.ts'),
    platform: 'node',
    // A role would import code of the other one that the command `run` loads too.
    experimental: { chunkOptimization: false },
    // Two clones with another place of node_modules must give the same bytes.
    resolve: { symlinks: false },
    plugins: [
      {
        name: 'leave-out-the-sandbox',
        load: (id) =>
          forImage && id === upPath ? `export { runUp } from ${JSON.stringify(upLeftOut)};` : null,
      },
      { name: 'keep-the-router-of-express', load: (id) => (id === expressPath ? routerOfExpress : null) },
    ],
    onLog: (_level, { message }) => {
      throw new Error(message);
    },
  });
  await rm(out, { recursive: true, force: true });
  const dir = join(out, codeFolder);
  const names = { entryFileNames: '[name].cjs', chunkFileNames: '[name].cjs' };
  // An ECMAScript module that imports node:http loads all of it, with the clients of fetch and WebSocket: 8 MB and 40 ms.
  const { output } = await bundle.write({ dir, format: 'cjs', ...names });
  await bundle.close();
  const chunks = output.filter((file) => file.type === 'chunk');
  const packages = packagesOf(chunks);
  await writeFile(join(out, licensesFile), licensesText(packages));
  await writeFile(join(out, sbomFile), `${JSON.stringify(sbomOf(root, packages), undefined, 2)}\n`);
  return chunks;
}

if (import.meta.main)
  await bundleProgram({ out: join(root, 'dist'), forImage: process.argv.includes('--image') });

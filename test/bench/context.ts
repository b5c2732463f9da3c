// What all measurements of a run share: a folder, the built program, the load generator and control planes.
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bundleProgram, codeFolder, mainFile } from '../../build/bundle.ts';
import { writeCompileCache } from '../../build/compile-cache.ts';
import { findBinary, findLoadGenerator } from '../cluster/binary.ts';
import { imageNodeFlags } from '../image/node-flags.ts';
import { startPlanes } from './plane/bench-planes.ts';
import type { BenchContext } from './row.ts';

const repository = resolve(import.meta.dirname, '../..');

export interface OpenContext extends AsyncDisposable {
  readonly context: BenchContext;
}

export async function openContext(isQuick: boolean): Promise<OpenContext> {
  const stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const print = (line: string): void => void process.stderr.write(`${line}\n`);
  const context: BenchContext = {
    rounds: isQuick ? 3 : 5,
    folder,
    program: once(() => builtProgram(folder)),
    loadGenerator: once(async () => {
      const path = await findLoadGenerator();
      if (path === undefined) throw new Error('Go is not on the PATH, which builds the load generator');
      return path;
    }),
    controlPlane: once(async () => {
      const binary = await findBinary(process.env, print);
      if (binary.kind === 'none') throw new Error(`there is no control plane: ${binary.reason}`);
      return binary;
    }),
    planes: once(async () =>
      stack.use(await startPlanes(await context.controlPlane(), await context.program())),
    ),
    print,
  };
  return { context, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

/** The code finds package.json and the manifests two folders above itself, as in the image. */
async function builtProgram(folder: string): Promise<string> {
  const root = join(folder, 'reeve');
  await mkdir(root);
  for (const name of ['package.json', 'manifests']) await symlink(join(repository, name), join(root, name));
  const dist = join(root, 'dist');
  await bundleProgram({ out: dist, forImage: true });
  writeCompileCache(dist, imageNodeFlags(), process.getuid?.() ?? 0);
  return join(dist, codeFolder, mainFile);
}

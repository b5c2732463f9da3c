// Copies what a clone holds into a folder of its own, with the dependencies that are installed already.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const parts = ['package.json', 'package-lock.json', '.npmrc', 'install.mjs', 'src', 'manifests'];

export function copyProject(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'reeve-clone-'));
  for (const part of parts) cpSync(join(root, part), join(copy, part), { recursive: true });
  // Links to each package, not to the folder: an installation in the copy must never touch the real one.
  const modules = join(copy, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(join(root, 'node_modules'))) {
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  return copy;
}

/** The commands in the documents name their ports, so no other process may use these. */
export async function demandFreePort(port: number): Promise<void> {
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', () =>
    reject(
      new Error(
        `port ${port} of this machine is in use: the commands of the documents are run as written and need it`,
      ),
    ),
  );
  server.listen(port, '127.0.0.1', resolve);
  await promise;
  server.close();
}

// Installs the packages of package-lock.json if they are missing; every npm script starts with this.
//
// Plain JavaScript for Node 20 and newer, because this script installs the Node that the project needs: the npm package
// `node`.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(fileURLToPath(import.meta.url));
const ownNode = join(root, 'node_modules', '.bin', 'node');

function packagesOf(lockfile) {
  return JSON.parse(readFileSync(join(root, lockfile), 'utf8')).packages;
}

/** Compares with npm's own record, which leaves out packages for other platforms. */
function isInstalled() {
  const installed = 'node_modules/.package-lock.json';
  if (!existsSync(join(root, installed)) || !existsSync(ownNode)) return false;
  const present = packagesOf(installed);
  return Object.entries(packagesOf('package-lock.json')).every(
    ([path, { version, optional }]) => path === '' || optional === true || present[path]?.version === version,
  );
}

if (!isInstalled()) {
  process.stderr.write('installing the dependencies of package-lock.json\n');
  // All output goes to stderr, so that stdout contains only the output of the command.
  const options = { cwd: root, stdio: ['ignore', 2, 2] };
  const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], options);
  if (error !== undefined) process.stderr.write(`npm could not be run: ${error.message}\n`);
  if (status === 0 && !existsSync(ownNode)) {
    process.stderr.write('the package "node" brought no Node: is npm set to ignore-scripts?\n');
  }
  process.exitCode = status === 0 && existsSync(ownNode) ? 0 : 1;
  if (process.exitCode === 0) compileOnce();
}

/** Fills Node's compile cache, so that the first start is fast. Without the cache it is only slower. */
function compileOnce() {
  const env = { ...process.env, NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node') };
  const load = `import('./src/cli/up.ts').then(() => import('./src/cli/commands.ts'))`;
  spawnSync(ownNode, ['--eval', load], { cwd: root, env, stdio: 'ignore' });
}

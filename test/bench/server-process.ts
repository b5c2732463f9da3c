// Starts the servers that the bench compares: Reeve as it is in the image, and servers that do nothing.
import { spawn, spawnSync, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { compileCacheVariables } from '../../build/compile-cache.ts';
import { issueCertificates } from '../../src/certs/issue/issue.ts';
import { imageNodeFlags } from '../image/node-flags.ts';
import { loadCore, onCore, serverCore } from './cores.ts';
import type { BenchContext } from './row.ts';

export interface BenchServer extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
}

/** Starts `reeve` with these arguments. Its log is read through a pipe, as in a Pod. */
export async function startReeveServer(
  context: BenchContext,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<BenchServer> {
  const program = await context.program();
  const command = [process.execPath, ...imageNodeFlags(), program, ...args];
  const log = await logPipe(context);
  const cache = compileCacheVariables(join(program, '../..'));
  const ownEnv = { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production', ...cache, ...env };
  return await started(command, ownEnv, log, serverCore).finally(() => closeSync(log));
}

/** Starts `reeve serve` with these arguments, on free ports. */
export async function startReeveServe(context: BenchContext, args: readonly string[]): Promise<BenchServer> {
  const ports = ['--port', '0', '--probes-port', '0', '--drain-grace', '0s'];
  return await startReeveServer(context, ['serve', ...ports, ...args]);
}

/** Starts the empty server, whose answers have this length. */
export async function startEmptyServer(context: BenchContext, answerBytes: number): Promise<BenchServer> {
  return await startScript(context, 'empty-server.mjs', [String(answerBytes)], serverCore);
}

export interface ScriptServer extends BenchServer {
  /** The certificate of its authority, as PEM. */
  readonly authority: string;
}

/** Starts a script of this folder that serves over TLS and prints its port. Its first arguments are the files of its key pair. */
export async function startScript(
  context: BenchContext,
  script: string,
  args: readonly string[] = [],
  core?: number,
): Promise<ScriptServer> {
  const folder = await mkdtemp(join(context.folder, 'script-'));
  const { serving, ca } = await issueCertificates({
    namespace: 'reeve-system',
    now: new Date(),
    caLifetimeDays: 2,
    leafLifetimeDays: 1,
  });
  const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  await writeFile(cert, serving.certPem);
  await writeFile(key, serving.keyPem);
  const env = { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production' };
  const command = [process.execPath, join(import.meta.dirname, script), cert, key, ...args];
  return { ...(await started(command, env, 'inherit', core)), authority: ca.certPem };
}

async function started(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  log: number | 'inherit',
  core: number | undefined,
): Promise<BenchServer> {
  const [program = '', ...args] = core === undefined ? command : onCore(core, command);
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', log] }) as ChildProcessByStdio<
    null,
    Readable,
    null
  >;
  const end = endOf(child);
  const lines = createInterface(child.stdout);
  const [readyLine] = (await Promise.race([
    once(lines, 'line'),
    once(child, 'close').then(() =>
      Promise.reject(new Error(`${command.join(' ')} ended before it was ready`)),
    ),
  ]).catch(async (error: unknown) => {
    await end();
    throw error;
  })) as [string];
  // The first number after a colon is the port of the webhook in the line of Reeve.
  const port = Number(/:(\d+)/.exec(readyLine)?.[1] ?? readyLine);
  return { pid: child.pid ?? 0, port, [Symbol.asyncDispose]: end };
}

function endOf(child: ChildProcess): () => Promise<void> {
  const closed = once(child, 'close');
  killAtExit(child);
  return async () => {
    child.kill('SIGKILL');
    await closed;
  };
}

/** A bench that fails never leaves a process behind. */
function killAtExit(child: ChildProcess): void {
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('close', () => process.off('exit', kill));
}

/**
 * The runtime of a container reads the log of a Pod through a pipe. `stdio: 'pipe'` of Node is a socket, and reading it here
 * would take time from the load generator. `cat` ends when the server has closed the pipe.
 */
async function logPipe({ folder }: BenchContext): Promise<number> {
  const path = join(await mkdtemp(join(folder, 'log-')), 'pipe');
  if (spawnSync('mkfifo', [path]).status !== 0) throw new Error('mkfifo failed');
  const [program, ...args] = onCore(loadCore, ['cat', path]);
  const reader = spawn(program, args, { stdio: 'ignore' });
  killAtExit(reader);
  // Opening the pipe for writing waits for the reader, unless it is opened for both: fifo(7).
  return openSync(path, 'r+');
}

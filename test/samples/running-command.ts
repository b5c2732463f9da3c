// Starts a command that serves reviews, as a person would, and stops it with everything it started.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

export interface RunningCommand {
  /** The line with the addresses of the webhook. */
  readonly readyLine: string;
  stop(): Promise<void>;
}

const startMs = 50_000;

export async function startCommand(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<RunningCommand> {
  // A group of its own: npm starts others, and a signal to npm alone would leave them behind.
  const child = spawn(command, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += String(chunk)));
  const stop = (): Promise<void> => stopGroup(child);
  try {
    const readyLine = await lineStarting('reeve answers on ', child);
    return { readyLine, stop };
  } catch (error) {
    await stop();
    throw new Error(`${command} ${args.join(' ')} did not start: ${stderr}`, { cause: error });
  }
}

async function lineStarting(start: string, child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const timer = setTimeout(() => reject(new Error('it took too long')), startMs);
  let stdout = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += String(chunk);
    const line = stdout
      .split('\n')
      .slice(0, -1)
      .find((each) => each.startsWith(start));
    if (line !== undefined) resolve(line);
  });
  child.on('error', reject);
  child.on('exit', () => reject(new Error('it ended')));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

async function stopGroup(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  // The pipes close when the last process of the group has ended.
  child.on('close', () => resolve());
  // SIGINT rather than SIGTERM: no other client calls this server, so there is nothing to drain.
  process.kill(-pid, 'SIGINT');
  const timer = setTimeout(() => process.kill(-pid, 'SIGKILL'), 10_000);
  await promise;
  clearTimeout(timer);
}

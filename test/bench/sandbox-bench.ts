// Measures the CPU time that `reeve up` needs until it is ready, compared with a Node that does nothing.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isKept, verdict } from './bound.ts';
import { median, medianRatio } from './statistics.ts';

const rounds = 7;
/** The limit is about a second, because a Node that does nothing takes 22 ms. */
const limit = 45;

/** Both take turns, so that other load affects both alike. Node keeps its compile cache, as with `npm start`. */
export async function benchSandbox(): Promise<boolean> {
  const cache = mkdtempSync(join(tmpdir(), 'reeve-bench-'));
  try {
    await readyAfter(cache);
    const nothing: number[] = [];
    const sandbox: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      nothing.push(processMsOfNothing());
      sandbox.push(await readyAfter(cache));
    }
    process.stdout.write(
      `sandbox: ready after ${median(sandbox)} ms of process time, node -e 0 takes ${median(nothing)} ms\n`,
    );
    const bound = { name: 'reeve up, ready, against node -e 0', ratio: medianRatio(sandbox, nothing), limit };
    process.stdout.write(`${verdict(bound)}\n`);
    return isKept(bound);
  } finally {
    rmSync(cache, { recursive: true });
  }
}

function processMsOfNothing(): number {
  const script = 'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)';
  return Number(spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' }).stdout);
}

/** Returns the CPU time that Reeve itself reports when it is ready. */
async function readyAfter(cache: string): Promise<number> {
  const env = { ...process.env, NODE_COMPILE_CACHE: cache };
  const args = ['src/main.ts', 'up', '--quiet', '--json'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const first = once(createInterface(child.stdout), 'line') as Promise<[string]>;
  const [line] = await Promise.race([first, ended.then(notReady)]);
  child.kill('SIGINT');
  await ended;
  return (JSON.parse(line) as { readonly processMs: number }).processMs;
}

function notReady(): never {
  throw new Error('reeve up has ended before it was ready');
}

// Rows of whole processes: idle memory, the start of a Pod and of the sandbox, and `reeve --help`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { compileCacheVariables } from '../../../build/compile-cache.ts';
import { ClusterAccess } from '../../cluster/cluster-access.ts';
import { installReeve } from '../../cluster/reeve-install.ts';
import { imageNodeFlags } from '../../image/node-flags.ts';
import { startSandboxPlane } from '../../support/sandboxes.ts';
import { podProgram, startPod } from '../pod-process.ts';
import { processorMs, settledMiB } from '../process-use.ts';
import { inTurn, type BenchContext, type MeasuredRows, type Measurement, type Samples } from '../row.ts';
import { startEmptyServer } from '../server-process.ts';
import { median } from '../statistics.ts';

const roles = { webhook: 'webhook', reconciler: 'reconciler', all: 'both' } as const;
const roleNames = ['webhook', 'reconciler', 'all'] as const;

async function measurePods(context: BenchContext): Promise<MeasuredRows> {
  const plane = await startSandboxPlane();
  try {
    const cluster = new ClusterAccess(plane.provided.folder, plane.provided);
    await installReeve(cluster);
    const found: Record<string, Samples> = {};
    for (const role of roleNames) {
      const main = await podProgram(context, cluster, role);
      const [ours, empty]: [number[], number[]] = [[], []];
      const [started, nothing]: [number[], number[]] = [[], []];
      for (let round = 0; round < context.rounds; round += 1) {
        await using pod = await startPod(context, cluster, role, main);
        started.push(processorMs(pod.pid));
        nothing.push(processMsOf(context, doNothing));
        // Both wait beside each other, because neither takes processor time or memory from the other.
        await using server = await startEmptyServer(context, 100);
        const [own, baseline] = await Promise.all([settledMiB(pod.pid), settledMiB(server.pid)]);
        ours.push(own);
        empty.push(baseline);
      }
      found[`idle-${roles[role]}`] = { ours, baseline: empty };
      // Both roles in one process load most, so the row has their start.
      if (role === 'all') found['start'] = { ours: started, baseline: nothing };
    }
    return found;
  } finally {
    await plane.stop();
  }
}

async function measureCommands(context: BenchContext): Promise<MeasuredRows> {
  const main = await context.program();
  const cache = compileCacheVariables(join(main, '../..'));
  const nothing = () => Promise.resolve(processMsOf(context, doNothing, cache));
  const help = () => Promise.resolve(processMsOf(context, [...imageNodeFlags(), main, '--help'], cache));
  const sandbox = () => sandboxMs(join(context.folder, 'up-cache'));
  return {
    help: await inTurn(context.rounds, help, nothing),
    'start-sandbox': await inTurn(context.rounds, sandbox, nothing),
  };
}

const doNothing = ['-e', '0'];

/** A file that prints the processor time that its process has used when it ends. */
const report =
  "process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write(`${(user + system) / 1000}`); });";

/** Runs the program three times, because each takes only some hundredths of a second, and returns the median. */
function processMsOf(
  { folder }: BenchContext,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): number {
  const file = join(folder, 'report-processor-time.cjs');
  writeFileSync(file, report);
  const options = { encoding: 'utf8', env: { ...process.env, ...env } } as const;
  const run = (): number => Number(spawnSync(process.execPath, ['--require', file, ...args], options).stderr);
  return median(Array.from({ length: 3 }, run));
}

/** From source with the compile cache that `npm start` keeps. Returns the time that Reeve itself reports when it is ready. */
async function sandboxMs(cache: string): Promise<number> {
  const env = { ...process.env, NODE_COMPILE_CACHE: cache };
  const args = [join(import.meta.dirname, '../../../src/main.ts'), 'up', '--quiet', '--json'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const first = once(createInterface(child.stdout), 'line') as Promise<[string]>;
  const [line] = await Promise.race([
    first,
    ended.then(() => Promise.reject(new Error('reeve up has ended before it was ready'))),
  ]);
  child.kill('SIGINT');
  await ended;
  return (JSON.parse(line) as { readonly processMs: number }).processMs;
}

export const processMeasurements: readonly Measurement[] = [
  { rows: ['idle-webhook', 'idle-reconciler', 'idle-both', 'start'], isQuick: true, measure: measurePods },
  { rows: ['help', 'start-sandbox'], isQuick: true, measure: measureCommands },
];

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
import { podProgram, processMs, settledMemory, startPod } from '../pod-process.ts';
import { inTurn, type BenchContext, type Measurement, type Samples } from '../row.ts';
import { startEmptyServer } from '../server-process.ts';

type MeasuredRows = Promise<Readonly<Record<string, Samples>>>;

const roles = { webhook: 'webhook', reconciler: 'reconciler', all: 'both' } as const;
const roleNames = ['webhook', 'reconciler', 'all'] as const;

async function measurePods(context: BenchContext): MeasuredRows {
  const plane = await startSandboxPlane();
  try {
    const cluster = new ClusterAccess(plane.provided.folder, plane.provided);
    await installReeve(cluster);
    const found: Record<string, Samples> = {};
    for (const role of roleNames) {
      const main = await podProgram(context, cluster, role);
      const started: number[] = [];
      const resident = async (): Promise<number> => {
        await using pod = await startPod(context, cluster, role, main);
        started.push(processMs(pod.pid));
        return await settledMemory(pod.pid);
      };
      found[`idle-${roles[role]}`] = await inTurn(context.rounds, resident, () => emptyServerMemory(context));
      const baseline = started.slice(1).map(() => processMsOf(context, doNothing));
      // Both roles in one process load most, so the row has their start.
      if (role === 'all') found['start'] = { ours: started.slice(1), baseline };
    }
    return found;
  } finally {
    await plane.stop();
  }
}

async function emptyServerMemory(context: BenchContext): Promise<number> {
  await using server = await startEmptyServer(context, 100);
  return await settledMemory(server.pid);
}

async function measureCommands(context: BenchContext): MeasuredRows {
  const main = await context.program();
  const cache = compileCacheVariables(join(main, '../..'));
  const measured = async (args: readonly string[]) =>
    await Promise.resolve(processMsOf(context, args, cache));
  const nothing = () => measured(doNothing);
  const sandbox = () => sandboxMs(join(context.folder, 'up-cache'));
  return {
    help: await inTurn(context.rounds, () => measured([...imageNodeFlags(), main, '--help']), nothing),
    'start-sandbox': await inTurn(context.rounds, sandbox, nothing),
  };
}

const doNothing = ['-e', '0'];

/** A file that prints the processor time that its process has used when it ends. */
const report =
  "process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write(`${(user + system) / 1000}`); });";

function processMsOf(
  { folder }: BenchContext,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): number {
  const file = join(folder, 'report-processor-time.cjs');
  writeFileSync(file, report);
  const options = { encoding: 'utf8', env: { ...process.env, ...env } } as const;
  return Number(spawnSync(process.execPath, ['--require', file, ...args], options).stderr);
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
  { rows: ['idle-webhook', 'idle-reconciler', 'idle-both', 'start'], isQuick: false, measure: measurePods },
  { rows: ['help', 'start-sandbox'], isQuick: true, measure: measureCommands },
];

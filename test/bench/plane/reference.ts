// Prints how fast a plain controller of client-go does the same work, with unlimited and with default QPS.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findReferenceProgram } from '../../cluster/binary.ts';
import type { BenchContext } from '../row.ts';
import type { BenchPlane } from './bench-plane.ts';
import { inParallel } from '../../support/in-parallel.ts';
import {
  applyOf,
  contentName,
  createNamespace,
  namespaceOf,
  prefix,
  secretOf,
  sourceNamespace,
} from './plane-objects.ts';

const workers = 16;
const count = 1000;
/** Few, because the default sends 5 requests a second. */
const slowCount = 20;

/** `plane` runs no Reeve. */
export async function measureReference(context: BenchContext, plane: BenchPlane): Promise<void> {
  const program = await findReferenceProgram();
  const start = (name: string, source: string, speed: string): Promise<AsyncDisposable> =>
    startReference(program, [plane.cluster.kubeconfig, name, source, speed, String(workers)]);
  const applySource = (name: string, mark: string): Promise<unknown> =>
    plane.calls.mustSend(applyOf(secretOf(sourceNamespace, name, mark)));
  const print = (text: string, ms: number): void =>
    context.print(`  client-go, ${text}: ${(ms / 1000).toFixed(2)} s`);
  const fast = `${prefix}fast-`;
  await applySource(contentName, 'x');
  {
    await using _ = await start(fast, contentName, 'unlimited');
    const { totalMs, lagMs } = await burst(plane, fast, count);
    print(`${count} namespaces in a burst, after the last create`, lagMs);
    print(`${count} namespaces in a burst, the whole time`, totalMs);
    print(
      `a changed Secret to ${count} copies`,
      await copied(plane, contentName, () => applySource(contentName, 'y')),
    );
  }
  {
    await using _ = await start(fast, 'fan', 'unlimited');
    print(`one Secret to ${count} namespaces`, await copied(plane, 'fan', () => applySource('fan', 'x')));
  }
  {
    await using _ = await start(`${prefix}slow-`, contentName, 'default');
    const { totalMs } = await burst(plane, `${prefix}slow-`, slowCount);
    print(`default QPS, ${slowCount} namespaces in a burst, the whole time`, totalMs);
  }
}

async function burst(
  { calls, seen }: BenchPlane,
  namePrefix: string,
  size: number,
): Promise<{ readonly totalMs: number; readonly lagMs: number }> {
  const contents = Promise.all([
    seen.roleBindings.expect(contentName, size),
    seen.secrets.expect(contentName, size),
  ]);
  const began = performance.now();
  await inParallel(Array(size).keys(), (index) =>
    calls.mustSend(createNamespace(namespaceOf(`${namePrefix}${index}`, {}))),
  );
  const created = performance.now();
  await contents;
  const ended = performance.now();
  return { totalMs: ended - began, lagMs: ended - created };
}

async function copied({ seen }: BenchPlane, name: string, write: () => Promise<unknown>): Promise<number> {
  const copies = seen.secrets.expect(name, count);
  const began = performance.now();
  await write();
  await copies;
  return performance.now() - began;
}

/** Resolves when its caches have synced. */
async function startReference(program: string, args: readonly string[]): Promise<AsyncDisposable> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await closed;
  };
  const ended = closed.then(() => Promise.reject(new Error('the reference of client-go ended')));
  ended.catch(() => undefined);
  await Promise.race([once(child.stdout, 'data'), ended]);
  return { [Symbol.asyncDispose]: stop };
}

import * as fc from 'fast-check';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { done, WorkQueue, type Attempt, type Handled } from '../../../../src/reconcile/queue/queue.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

/** A queue whose handler ends when the test says so. */
class Desk {
  readonly clock = new VirtualClock();
  readonly begun: string[] = [];
  readonly failures: number[] = [];
  readonly errors: unknown[] = [];
  readonly abort = new AbortController();
  readonly #open = new Map<string, (handled: Handled | Error) => void>();
  readonly queue: WorkQueue<string>;
  maxAtOnce = 0;
  wasTwiceAtOnce = false;

  constructor(options: Partial<ConstructorParameters<typeof WorkQueue<string>>[0]> = {}) {
    this.queue = new WorkQueue<string>({
      concurrency: 2,
      clock: this.clock,
      onError: (_key, error) => this.errors.push(error),
      ...options,
    });
  }

  start(signal = this.abort.signal): Promise<void> {
    return this.queue.run(async (key, attempt) => await this.#handle(key, attempt), signal);
  }

  async end(key: string, handled: Handled | Error = done): Promise<void> {
    this.#open.get(key)?.(handled);
    await setImmediate();
  }

  get running(): readonly string[] {
    return [...this.#open.keys()];
  }

  async #handle(key: string, { failures }: Attempt): Promise<Handled> {
    this.wasTwiceAtOnce ||= this.running.includes(key);
    this.begun.push(key);
    this.failures.push(failures);
    const { promise, resolve, reject } = Promise.withResolvers<Handled>();
    this.#open.set(key, (handled) => {
      this.#open.delete(key);
      if (handled instanceof Error) reject(handled);
      else resolve(handled);
    });
    this.maxAtOnce = Math.max(this.maxAtOnce, this.#open.size);
    return await promise;
  }
}

const retry: Handled = { kind: 'retry' };

test('a work queue runs keys in the order in which they were added, each once, and as many at once as allowed', async () => {
  const desk = new Desk();
  for (const key of ['a', 'b', 'a', 'c', 'b']) desk.queue.add(key);
  void desk.start();
  expect(desk.running).toEqual(['a', 'b']);
  await desk.end('a');
  expect(desk.begun).toEqual(['a', 'b', 'c']);
  await desk.end('b');
  await desk.end('c');
  expect(desk.queue.isIdle).toBe(true);
  expect(desk.maxAtOnce).toBe(2);
});

test('a work queue runs a key that was added alone before those that were added as a bulk', async () => {
  const desk = new Desk({ concurrency: 1 });
  for (const key of ['a', 'b', 'c']) desk.queue.add(key, 'bulk');
  for (const key of ['new', 'c']) desk.queue.add(key);
  // It waits already, so it keeps its place.
  desk.queue.add('c', 'bulk');
  void desk.start();
  for (const key of ['new', 'c', 'a', 'b']) await desk.end(key);
  expect(desk.begun).toEqual(['new', 'c', 'a', 'b']);
  expect(desk.queue.isIdle).toBe(true);
});

test('a work queue runs a key of a bulk after each three that were added alone', async () => {
  const desk = new Desk({ concurrency: 1 });
  for (const key of ['a', 'b']) desk.queue.add(key, 'bulk');
  for (const key of ['1', '2', '3', '4', '5', '6', '7']) desk.queue.add(key);
  void desk.start();
  const order = ['1', '2', '3', 'a', '4', '5', '6', 'b', '7'];
  for (const key of order) await desk.end(key);
  expect(desk.begun).toEqual(order);
});

test('a work queue counts a key of a bulk that fails among those that failed', async () => {
  const desk = new Desk({ concurrency: 2 });
  for (const key of ['a', 'b']) desk.queue.add(key, 'bulk');
  void desk.start();
  for (const key of ['a', 'b']) await desk.end(key, retry);
  for (const key of ['a', 'b']) desk.queue.add(key, 'bulk');
  // Half of the places stay free for keys that have not failed.
  expect(desk.running).toEqual(['a']);
});

test('a work queue runs a key once more when it was added while it ran', async () => {
  const desk = new Desk();
  void desk.start();
  desk.queue.add('a');
  desk.queue.add('a');
  desk.queue.add('a');
  expect([desk.begun, desk.wasTwiceAtOnce]).toEqual([['a'], false]);
  await desk.end('a');
  expect(desk.begun).toEqual(['a', 'a']);
  await desk.end('a');
  expect(desk.queue.isIdle).toBe(true);
});

test('a work queue reports how long the oldest key has needed work', async () => {
  const desk = new Desk({ concurrency: 1 });
  void desk.start();
  desk.queue.add('a');
  await desk.clock.advance(50);
  desk.queue.add('b');
  await desk.clock.advance(50);
  expect(desk.queue.oldestMs()).toBe(100);
  await desk.end('a');
  expect(desk.queue.oldestMs()).toBe(50);
  await desk.end('b', retry);
  // A failed key still needs work.
  expect(desk.queue.oldestMs()).toBe(50);
});

test('a work queue stops when its signal aborts and the last handler has ended, and can run again', async () => {
  const desk = new Desk({ concurrency: 1 });
  let isStopped = false;
  void desk.start().finally(() => {
    isStopped = true;
  });
  for (const key of ['a', 'b']) desk.queue.add(key);
  desk.abort.abort();
  await setImmediate();
  expect(isStopped).toBe(false);
  await desk.end('a', new Error('aborted'));
  expect(isStopped).toBe(true);
  expect(desk.begun).toEqual(['a']);
  // An aborted handler may throw anything.
  expect(desk.errors).toEqual([]);
  expect(desk.queue.isIdle).toBe(true);
  void desk.start(new AbortController().signal);
  desk.queue.add('c');
  expect(desk.running).toEqual(['c']);
});

test('a work queue stops at once when its signal has aborted already', async () => {
  const desk = new Desk();
  desk.abort.abort();
  desk.queue.add('a');
  await desk.start();
  expect(desk.begun).toEqual([]);
});

test('a work queue gives timers and sockets their turn while there is much to do', async () => {
  let now = 0;
  const order: string[] = [];
  const queue = new WorkQueue<string>({
    concurrency: 2,
    clock: {
      monotonic: () => now,
      sleep: async () => await new Promise<never>(() => undefined),
      random: () => 0,
    },
    onError: () => undefined,
  });
  const handle = (key: string): Promise<Handled> => {
    // Takes its time without ever waiting for anything.
    now += 6;
    order.push(key);
    return Promise.resolve(done);
  };
  void queue.run(handle, new AbortController().signal);
  globalThis.setImmediate(() => order.push('other'));
  for (let key = 0; key < 20; key += 1) queue.add(String(key));
  await idle(queue);
  expect(order).toHaveLength(21);
  expect(order.indexOf('other')).toBeLessThan(10);
});

describe('a key that fails', () => {
  test('a key that fails is retried later each time, and its handler gets the number of failures', async () => {
    const desk = new Desk();
    void desk.start();
    desk.queue.add('a');
    for (const wait of [100, 200, 400, 800]) {
      await desk.end('a', retry);
      await desk.clock.advance(wait - 1);
      expect(desk.running).toEqual([]);
      await desk.clock.advance(1);
      expect(desk.running).toEqual(['a']);
    }
    expect(desk.failures).toEqual([0, 1, 2, 3, 4]);
    await desk.end('a');
    desk.queue.add('a');
    expect(desk.failures.at(-1)).toBe(0);
  });

  test('a key that fails is retried after the maximum delay at the latest, but not before the delay that its handler asks for', async () => {
    const desk = new Desk({ retryDelay: { minMs: 10, maxMs: 40 } });
    void desk.start();
    desk.queue.add('a');
    for (let round = 0; round < 8; round += 1) {
      await desk.end('a', retry);
      await desk.clock.advance(40);
      expect(desk.running).toEqual(['a']);
    }
    await desk.end('a', { kind: 'retry', minDelayMs: 5000 });
    await desk.clock.advance(4999);
    expect(desk.running).toEqual([]);
    await desk.clock.advance(1);
    expect(desk.running).toEqual(['a']);
  });

  test('a key that fails delays no other key', async () => {
    const desk = new Desk({ concurrency: 1 });
    void desk.start();
    desk.queue.add('bad');
    for (let round = 0; round < 5; round += 1) await desk.end('bad', retry);
    for (const key of ['a', 'b']) desk.queue.add(key);
    expect(desk.running).toEqual(['a']);
    await desk.end('a');
    expect(desk.running).toEqual(['b']);
  });

  test('a key that fails leaves half of the places to keys that have not failed', async () => {
    const desk = new Desk({ concurrency: 4 });
    void desk.start();
    const bad = Array.from({ length: 10 }, (_, index) => `bad${index}`);
    for (const key of bad) desk.queue.add(key);
    for (const key of bad) await desk.end(key, retry);
    await desk.clock.advance(200);
    await setImmediate();
    expect(desk.running).toHaveLength(2);
    desk.queue.add('good');
    expect(desk.running).toContain('good');
  });

  test('a key that fails is retried when its handler threw, and the error is reported', async () => {
    const desk = new Desk();
    void desk.start();
    desk.queue.add('a');
    const error = new Error('broken');
    await desk.end('a', error);
    expect(desk.errors).toEqual([error]);
    await desk.clock.advance(100);
    expect(desk.running).toEqual(['a']);
  });
});

test('a delayed key runs at the earliest of several times, and drops its delay when it runs before', async () => {
  const desk = new Desk();
  void desk.start();
  desk.queue.addAfter('a', 500);
  desk.queue.addAfter('a', 200);
  desk.queue.addAfter('a', 900);
  await desk.clock.advance(200);
  expect(desk.begun).toEqual(['a']);
  await desk.end('a');
  desk.queue.addAfter('b', 300);
  desk.queue.add('b');
  await desk.end('b');
  await desk.clock.advance(10_000);
  expect(desk.begun).toEqual(['a', 'b']);
});

test('a delayed key can be due in weeks', async () => {
  const desk = new Desk();
  void desk.start();
  const month = 31 * 24 * 3_600_000;
  desk.queue.addAfter('a', month);
  await desk.clock.advance(month - 1);
  expect(desk.begun).toEqual([]);
  await desk.clock.advance(1);
  expect(desk.begun).toEqual(['a']);
});

test('a delayed key runs once, at its earliest time, whatever else is added', async () => {
  const op = fc.oneof(
    fc.record({
      kind: fc.constant('delay' as const),
      key: fc.nat(12),
      ms: fc.integer({ min: 1, max: 100 }),
    }),
    fc.record({ kind: fc.constant('run now' as const), key: fc.nat(12) }),
    fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(60) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(op, { maxLength: 80 }), async (ops) => {
      const clock = new VirtualClock();
      const { queue, runs, stop } = recording(clock);
      const expected: Run[] = [];
      const due = new Map<number, number>();
      for (const each of ops) {
        if (each.kind === 'delay') {
          queue.addAfter(each.key, each.ms);
          due.set(each.key, Math.min(due.get(each.key) ?? Infinity, clock.monotonic() + each.ms));
        } else if (each.kind === 'run now') {
          queue.add(each.key);
          due.delete(each.key);
          expected.push({ key: each.key, at: clock.monotonic() });
          await idle(queue);
        } else {
          const end = clock.monotonic() + each.ms;
          for (const [key, at] of [...due].filter((entry) => entry[1] <= end)) {
            due.delete(key);
            expected.push({ key, at });
          }
          // Millisecond by millisecond, because the queue yields when it has worked for 10 ms.
          for (; clock.monotonic() < end; await idle(queue)) await clock.advance(1);
        }
        expect(sorted(runs)).toEqual(sorted(expected));
        expect(queue.nextDue).toBe(due.size === 0 ? undefined : Math.min(...due.values()));
      }
      expect(runs.map(({ at }) => at)).toEqual(runs.map(({ at }) => at).sort((a, b) => a - b));
      await stop();
    }),
  );
});

interface Run {
  readonly key: number;
  readonly at: number;
}

/** A queue that records when it runs each key. */
function recording(clock: VirtualClock) {
  const abort = new AbortController();
  const queue = new WorkQueue<number>({ concurrency: 100, clock, onError: () => undefined });
  const runs: Run[] = [];
  const handle = (key: number): Promise<Handled> => {
    runs.push({ key, at: clock.monotonic() });
    return Promise.resolve(done);
  };
  const ended = queue.run(handle, abort.signal);
  const stop = async (): Promise<void> => {
    abort.abort();
    await ended;
  };
  return { queue, runs, stop };
}

async function idle(queue: { readonly isIdle: boolean }): Promise<void> {
  while (!queue.isIdle) await setImmediate();
}

function sorted(runs: readonly Run[]): readonly Run[] {
  return [...runs].sort((a, b) => a.at - b.at || a.key - b.key);
}

/** Delays and adds so many keys, runs each of them twice, and returns the CPU time of this thread in milliseconds. */
async function cpuMsOf(count: number): Promise<number> {
  const clock = new VirtualClock();
  const { queue, runs, stop } = recording(clock);
  const before = process.threadCpuUsage();
  for (let key = 0; key < count; key += 1) queue.addAfter(key, 1 + ((key * 7919) % count));
  // Jumps, because a virtual clock would wake for every single millisecond otherwise.
  clock.jump(count);
  await clock.advance(0);
  await idle(queue);
  for (let key = 0; key < count; key += 1) queue.add(key);
  await idle(queue);
  const { user, system } = process.threadCpuUsage(before);
  expect(runs).toHaveLength(2 * count);
  await stop();
  return (user + system) / 1000;
}

test('tens of thousands of keys cost little more each than a few thousand', async () => {
  // The first run compiles the code.
  await cpuMsOf(4000);
  const few = await cpuMsOf(8000);
  const many = await cpuMsOf(64_000);
  // 8 if all keys cost the same, 64 if the cost of a key grows with their number.
  expect(many / Math.max(few, 1)).toBeLessThan(32);
});

import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  done,
  WorkQueue,
  type Attempt,
  type Handled,
  type QueueOptions,
} from '../../../../src/reconcile/queue/queue.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

/** Work that ends when the test says so. */
class Desk {
  readonly time = new VirtualClock();
  readonly begun: string[] = [];
  readonly failures: number[] = [];
  readonly faults: unknown[] = [];
  readonly abort = new AbortController();
  readonly #open = new Map<string, (handled: Handled | Error) => void>();
  readonly queue: WorkQueue<string>;
  mostAtOnce = 0;
  wasTwiceAtOnce = false;

  constructor(options: Partial<QueueOptions<string>> = {}) {
    this.queue = new WorkQueue<string>({
      concurrency: 2,
      time: this.time,
      handle: async (key, attempt) => await this.#handle(key, attempt),
      faulted: (_key, error) => this.faults.push(error),
      ...options,
    });
  }

  start(): Promise<void> {
    return this.queue.run(this.abort.signal);
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
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#open.size);
    return await promise;
  }
}

const retry: Handled = { kind: 'retry' };

describe('a work queue', () => {
  test('takes keys in the order in which they came, each once, and so many at once', async () => {
    const desk = new Desk();
    for (const key of ['a', 'b', 'a', 'c', 'b']) desk.queue.add(key);
    void desk.start();
    expect(desk.running).toEqual(['a', 'b']);
    await desk.end('a');
    expect(desk.begun).toEqual(['a', 'b', 'c']);
    await desk.end('b');
    await desk.end('c');
    expect(desk.queue.isIdle).toBe(true);
    expect(desk.mostAtOnce).toBe(2);
  });

  test('works once more on a key that came again while it was worked on', async () => {
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

  test('tries a failed key later each time, and tells how often it failed', async () => {
    const desk = new Desk();
    void desk.start();
    desk.queue.add('a');
    for (const wait of [100, 200, 400, 800]) {
      await desk.end('a', retry);
      await desk.time.advance(wait - 1);
      expect(desk.running).toEqual([]);
      await desk.time.advance(1);
      expect(desk.running).toEqual(['a']);
    }
    expect(desk.failures).toEqual([0, 1, 2, 3, 4]);
    await desk.end('a');
    desk.queue.add('a');
    expect(desk.failures.at(-1)).toBe(0);
  });

  test('never waits longer than the bound, nor shorter than it is told to', async () => {
    const desk = new Desk({ retry: { leastMs: 10, mostMs: 40 } });
    void desk.start();
    desk.queue.add('a');
    for (let round = 0; round < 8; round += 1) {
      await desk.end('a', retry);
      await desk.time.advance(40);
      expect(desk.running).toEqual(['a']);
    }
    await desk.end('a', { kind: 'retry', leastMs: 5000 });
    await desk.time.advance(4999);
    expect(desk.running).toEqual([]);
    await desk.time.advance(1);
    expect(desk.running).toEqual(['a']);
  });

  test('a key that keeps failing delays no other', async () => {
    const desk = new Desk({ concurrency: 1 });
    void desk.start();
    desk.queue.add('bad');
    for (let round = 0; round < 5; round += 1) await desk.end('bad', retry);
    for (const key of ['a', 'b']) desk.queue.add(key);
    expect(desk.running).toEqual(['a']);
    await desk.end('a');
    expect(desk.running).toEqual(['b']);
  });

  test('a key that threw is tried again, and the fault is told', async () => {
    const desk = new Desk();
    void desk.start();
    desk.queue.add('a');
    const fault = new Error('broken');
    await desk.end('a', fault);
    expect(desk.faults).toEqual([fault]);
    await desk.time.advance(100);
    expect(desk.running).toEqual(['a']);
  });

  test('of several times the earliest counts, and work before it makes it void', async () => {
    const desk = new Desk();
    void desk.start();
    desk.queue.addAfter('a', 500);
    desk.queue.addAfter('a', 200);
    desk.queue.addAfter('a', 900);
    await desk.time.advance(200);
    expect(desk.begun).toEqual(['a']);
    await desk.end('a');
    desk.queue.addAfter('b', 300);
    desk.queue.add('b');
    await desk.end('b');
    await desk.time.advance(10_000);
    expect(desk.begun).toEqual(['a', 'b']);
  });

  test('keeps what is due in weeks', async () => {
    const desk = new Desk();
    void desk.start();
    const month = 31 * 24 * 3_600_000;
    desk.queue.addAfter('a', month);
    await desk.time.advance(month - 1);
    expect(desk.begun).toEqual([]);
    await desk.time.advance(1);
    expect(desk.begun).toEqual(['a']);
  });

  test('says how long the key that has waited longest has needed work', async () => {
    const desk = new Desk({ concurrency: 1 });
    void desk.start();
    desk.queue.add('a');
    await desk.time.advance(50);
    desk.queue.add('b');
    await desk.time.advance(50);
    expect(desk.queue.oldestMs()).toBe(100);
    await desk.end('a');
    expect(desk.queue.oldestMs()).toBe(50);
    await desk.end('b', retry);
    // It still needs it.
    expect(desk.queue.oldestMs()).toBe(50);
  });

  test('stops when it is told to, once the last work has ended, and begins anew afterwards', async () => {
    const desk = new Desk({ concurrency: 1 });
    let isStopped = false;
    void desk.start().finally(() => {
      isStopped = true;
    });
    for (const key of ['a', 'b']) desk.queue.add(key);
    desk.abort.abort();
    await setImmediate();
    expect(isStopped).toBe(false);
    await desk.end('a', new Error('broken off'));
    expect(isStopped).toBe(true);
    expect(desk.begun).toEqual(['a']);
    // What comes of breaking off is no fault.
    expect(desk.faults).toEqual([]);
    expect(desk.queue.isIdle).toBe(true);
    void desk.queue.run(new AbortController().signal);
    desk.queue.add('c');
    expect(desk.running).toEqual(['c']);
  });

  test('gives others their turn while there is much to do', async () => {
    let now = 0;
    const order: string[] = [];
    const desk = new Desk({
      handle: (key) => {
        // Each takes its time without ever waiting for anything.
        now += 6;
        order.push(key);
        return Promise.resolve(done);
      },
      time: {
        now: () => new Date(0),
        monotonic: () => now,
        sleep: async () => await new Promise<never>(() => undefined),
        random: () => 0,
      },
    });
    void desk.start();
    globalThis.setImmediate(() => order.push('other'));
    for (let key = 0; key < 20; key += 1) desk.queue.add(String(key));
    while (!desk.queue.isIdle) await setImmediate();
    expect(order).toHaveLength(21);
    expect(order.indexOf('other')).toBeLessThan(10);
  });
});

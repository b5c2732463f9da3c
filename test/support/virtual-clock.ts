// A clock whose time passes only when a test says so.
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../src/base/clock.ts';

export interface VirtualClockOptions {
  /** The date when the test begins. Default: 1970. */
  readonly start?: Date;
  /** The value that `random` returns. Default: 0. */
  readonly chance?: number;
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

export class VirtualClock implements Clock {
  readonly #start: number;
  readonly #chance: number;
  #now = 0;
  #sleepers: Sleeper[] = [];

  constructor({ start = new Date(0), chance = 0 }: VirtualClockOptions = {}) {
    this.#start = start.getTime();
    this.#chance = chance;
  }

  now(): Date {
    return new Date(this.#start + this.#now);
  }

  random(): number {
    return this.#chance;
  }

  monotonic(): number {
    return this.#now;
  }

  /** Rejects when the signal aborts, as the function of node:timers/promises does. */
  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper = { due: this.#now + milliseconds, wake: resolve };
    this.#sleepers.push(sleeper);
    signal?.addEventListener('abort', () => {
      this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
      reject(new Error('the sleep was aborted'));
    });
    await promise;
  }

  /** The remaining milliseconds of each sleep, the shortest first. */
  get sleeping(): readonly number[] {
    return this.#sleepers.map(({ due }) => due - this.#now).sort((a, b) => a - b);
  }

  /** Runs everything that needs no time. */
  async settle(): Promise<void> {
    await setImmediate();
  }

  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await this.settle();
    for (let next = this.#nextUntil(end); next !== undefined; next = this.#nextUntil(end)) {
      this.#sleepers = this.#sleepers.filter((other) => other !== next);
      this.#now = Math.max(this.#now, next.due);
      next.wake();
      await this.settle();
    }
    this.#now = end;
  }

  /** Lets time pass without running anything, as during SIGSTOP. Due timers run afterwards. */
  jump(milliseconds: number): void {
    this.#now += milliseconds;
  }

  #nextUntil(end: number): Sleeper | undefined {
    return this.#sleepers
      .filter(({ due }) => due <= end)
      .reduce<Sleeper | undefined>(
        (first, other) => (first === undefined || other.due < first.due ? other : first),
        undefined,
      );
  }
}

// Time that passes only when a test says so, for code that is given its clock and its sleep.
import { setImmediate } from 'node:timers/promises';

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

export class VirtualTime {
  #now = 0;
  #sleepers: Sleeper[] = [];

  monotonic(): number {
    return this.#now;
  }

  /** As node:timers/promises does, it rejects when the signal aborts. */
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

  /** How long each sleep still lasts. */
  get sleeping(): readonly number[] {
    return this.#sleepers.map(({ due }) => due - this.#now).sort((a, b) => a - b);
  }

  /** Lets everything happen that needs no time. */
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

  /** The process does not run while this passes, as after SIGSTOP: whatever is due happens afterwards. */
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

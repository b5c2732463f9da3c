// Rings once at the time it is set to; setting it anew forgets the time before.
import type { Clock } from '../../base/clock.ts';

/** Timers of Node end at 2^31 ms, and ring at once beyond: https://nodejs.org/api/timers.html#settimeoutcallback-delay-args */
const longestSleepMs = 3_600_000;

export class Alarm {
  readonly #time: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly #ring: () => void;
  #sleep: { readonly until: number; readonly abort: AbortController } | undefined;

  constructor(time: Pick<Clock, 'monotonic' | 'sleep'>, ring: () => void) {
    this.#time = time;
    this.#ring = ring;
  }

  /** Undefined: not at all. A time that lies far off rings early. */
  set(at: number | undefined): void {
    if (this.#sleep?.until === at) return;
    this.#sleep?.abort.abort();
    if (at === undefined) {
      this.#sleep = undefined;
      return;
    }
    const sleep = { until: at, abort: new AbortController() };
    this.#sleep = sleep;
    const milliseconds = Math.min(Math.max(0, at - this.#time.monotonic()), longestSleepMs);
    // It rejects only when it is aborted, and then nobody waits for it any more.
    void this.#time.sleep(milliseconds, sleep.abort.signal).then(
      () => this.#wake(sleep),
      () => undefined,
    );
  }

  #wake(sleep: object): void {
    if (this.#sleep !== sleep) return;
    this.#sleep = undefined;
    this.#ring();
  }
}

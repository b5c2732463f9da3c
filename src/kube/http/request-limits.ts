// How long one request may take: until its time is over, or until whoever asked no longer wants the answer.
import { noAnswer } from './answer-fault.ts';
import { systemClock } from '../../base/clock.ts';

export class RequestLimits {
  readonly #controller = new AbortController();
  readonly #asker: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #until: number;
  #isTimedOut = false;
  readonly #stop = (): void => this.#controller.abort(this.#asker?.reason);

  constructor(asker: AbortSignal | undefined, timeoutMs: number) {
    this.#asker = asker;
    this.#until = systemClock.monotonic() + timeoutMs;
    this.#timer = setTimeout(() => {
      this.#isTimedOut = !this.signal.aborted;
      this.#controller.abort(noAnswer('Timeout'));
    }, timeoutMs);
    if (asker?.aborted === true) this.#stop();
    asker?.addEventListener('abort', this.#stop, { once: true });
  }

  /** Aborts for the reason of the asker, or because the time was over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isTimedOut(): boolean {
    return this.#isTimedOut;
  }

  get leftMs(): number {
    return this.#until - systemClock.monotonic();
  }

  /** From here on only the asker ends it. */
  takeAnyTime(): void {
    clearTimeout(this.#timer);
  }

  /** Signals of askers live long and would remember every request. */
  end(): void {
    clearTimeout(this.#timer);
    this.#asker?.removeEventListener('abort', this.#stop);
  }
}

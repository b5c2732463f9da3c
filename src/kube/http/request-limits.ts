// Limits the time of one request, and sends it again within that time when the server answers 429.
import { systemClock, type Clock } from '../../base/clock.ts';
import { KubeError } from '../../base/kube-error.ts';
import { noAnswer } from './answers.ts';

export class RequestLimits {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #until: number;
  #isTimedOut = false;
  readonly #stop = (): void => this.#controller.abort(this.#caller?.reason);

  constructor(caller: AbortSignal | undefined, timeoutMs: number) {
    this.#caller = caller;
    this.#until = systemClock.monotonic() + timeoutMs;
    this.#timer = setTimeout(() => {
      this.#isTimedOut = !this.signal.aborted;
      this.#controller.abort(noAnswer('Timeout'));
    }, timeoutMs);
    if (caller?.aborted === true) this.#stop();
    caller?.addEventListener('abort', this.#stop, { once: true });
  }

  /** Aborts with the reason of the caller, or with `Timeout`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isTimedOut(): boolean {
    return this.#isTimedOut;
  }

  get leftMs(): number {
    return this.#until - systemClock.monotonic();
  }

  /** Removes the time limit: from now on only the caller ends the request. */
  removeTimeout(): void {
    clearTimeout(this.#timer);
  }

  /** Must be called at the end: the signal of a caller lives long and would keep every request in memory. */
  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#stop);
  }
}

const tooManyRequests = 429;

/**
 * Repeats `send` after the wait that a 429 requires, if that fits into the time left. The server has not begun such a
 * request, so any method may be sent again. https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
 */
export async function onceAdmitted<T>(
  send: () => Promise<T>,
  limits: Pick<RequestLimits, 'signal' | 'leftMs'>,
  clock: Pick<Clock, 'random' | 'sleep'>,
): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const waitMs = requiredWait(error);
      // Clients that were refused together must not come back together, or the server refuses them again.
      const spreadMs = waitMs === undefined ? Infinity : waitMs * (1 + clock.random());
      if (spreadMs >= limits.leftMs) throw error;
      await clock.sleep(spreadMs, limits.signal);
    }
  }
}

function requiredWait(error: unknown): number | undefined {
  return error instanceof KubeError && error.code === tooManyRequests ? error.retryAfterMs : undefined;
}

// Sends a request again that the server had no time for, once the time is over that it asked for.
// https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
import { KubeError } from '../../base/kube-error.ts';
import type { Clock } from '../../base/clock.ts';

/** How long the request may take altogether. */
export interface TimeLimits {
  readonly signal: AbortSignal;
  /** Of the time that was given to it. */
  readonly leftMs: number;
}

const tooManyRequests = 429;

/** What was turned away with 429 has not been begun, so whatever it was may be sent again. */
export async function onceAdmitted<T>(
  send: () => Promise<T>,
  limits: TimeLimits,
  clock: Pick<Clock, 'random' | 'sleep'>,
): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const waitMs = askedWait(error);
      // All who were turned away together would otherwise come back together, and be turned away again.
      const spreadMs = waitMs === undefined ? Infinity : waitMs * (1 + clock.random());
      if (spreadMs >= limits.leftMs) throw error;
      await clock.sleep(spreadMs, limits.signal);
    }
  }
}

function askedWait(error: unknown): number | undefined {
  return error instanceof KubeError && error.code === tooManyRequests ? error.retryAfterMs : undefined;
}

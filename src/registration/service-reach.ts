// Finds out when the Service of the webhook leads to a replica: before, webhook configurations would refuse requests.
import type { Clock } from '../base/clock.ts';
import { pause } from '../base/pause.ts';

/** Returns whether a replica answers through the Service within this time. */
export type TryService = (timeoutMs: number) => Promise<boolean>;

const tryEveryMs = 250;
/** A question to a Pod whose node is unreachable gets no answer at all. The next one may go to another Pod. */
const questionMs = 3000;
/** The nodes of the API servers may learn of the first Pod that is ready a moment later than this node. */
const settleMs = 500;
/** An older install does not allow the question. Every API server knows the first ready Pod by then. */
const patienceMs = 10_000;

/** Resolves when a replica has answered for half a second, after ten seconds in any case, or when the signal aborts. */
export async function serviceReached(
  tryService: TryService,
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  const deadline = clock.monotonic() + patienceMs;
  const leftMs = (): number => Math.max(0, deadline - clock.monotonic());
  let since: number | undefined;
  while (!signal.aborted && leftMs() > 0) {
    if (!(await tryService(Math.min(questionMs, leftMs())))) since = undefined;
    else if (clock.monotonic() - (since ??= clock.monotonic()) >= settleMs) return;
    await pause(clock, Math.min(tryEveryMs, leftMs()), signal);
  }
}

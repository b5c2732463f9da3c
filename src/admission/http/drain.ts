// Lets a server go without failing a request: clients are turned away, then the door closes, then the last are answered.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerLimits } from './server-limits.ts';
import type { WebhookServer } from './webhook-server.ts';

/** A connection that was accepted at the last moment, and whose request is still on its way, is given this long. */
const lateRequestMs = 1000;
const lookMs = 50;

/** Resolves once nothing is left; the signal ends the waiting at once. */
export async function drain(
  webhook: WebhookServer,
  graceMs: number,
  limits: ServerLimits,
  signal: AbortSignal,
): Promise<void> {
  const { server } = webhook;
  webhook.turnAway();
  await waitFor(graceMs, signal);
  const closed = Promise.withResolvers<boolean>();
  // Takes the listener away and closes the connections on which nobody waits for anything.
  server.close(() => closed.resolve(true));
  await Promise.race([closed.promise, waitUntilIdle(webhook, limits, signal)]);
  server.closeAllConnections();
}

/** Until nothing has been in flight for a moment, and no longer than a request may take. */
async function waitUntilIdle(
  webhook: WebhookServer,
  limits: ServerLimits,
  signal: AbortSignal,
): Promise<void> {
  let idleMs = 0;
  for (
    let passedMs = 0;
    passedMs < limits.requestMs && idleMs < lateRequestMs && !signal.aborted;
    passedMs += lookMs
  ) {
    await waitFor(lookMs, signal);
    idleMs = webhook.inFlight === 0 ? idleMs + lookMs : 0;
  }
}

async function waitFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  // Aborting is how the waiting ends early, not a failure.
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}

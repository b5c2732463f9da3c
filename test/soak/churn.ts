// Lets people act at a steady rate until the signal aborts, and records the result of each call.
import { setTimeout as sleep } from 'node:timers/promises';
import { nextAction, type Action } from './actions.ts';
import type { ApiCalls } from './api-calls.ts';
import type { CallLedger } from './call-ledger.ts';
import { KeptObjects } from './kept-objects.ts';
import type { Random } from './random.ts';

export interface ChurnOptions {
  readonly calls: ApiCalls;
  readonly ledger: CallLedger;
  readonly random: Random;
  readonly canary: string;
  /** The maximum number of actions a second. */
  readonly rate: number;
  readonly signal: AbortSignal;
}

/** While this many calls are unanswered, no further call begins. */
const mostAtOnce = 24;

/** Resolves when all calls are answered. */
export async function churn({ calls, ledger, random, canary, rate, signal }: ChurnOptions): Promise<void> {
  const open = new Set<Promise<void>>();
  const kept = new KeptObjects(calls);
  const looking = kept.lookUntil(signal);
  const began = performance.now();
  let due = 0;
  while (!signal.aborted) {
    // A delayed user does not catch up.
    due = Math.max(due + 1000 / rate, performance.now() - began - 1000);
    await sleep(Math.max(0, due - (performance.now() - began)));
    while (open.size >= mostAtOnce) await Promise.race(open);
    const call = act(nextAction(random, { canary, kept }), calls, ledger).finally(() => open.delete(call));
    open.add(call);
  }
  await Promise.all([...open, looking]);
}

async function act(action: Action, calls: ApiCalls, ledger: CallLedger): Promise<void> {
  const began = performance.now();
  const answer = await calls.send(action.call);
  if (action.isAsExpected(answer)) ledger.done(action.name, answer);
  else ledger.failed(action.name, answer, began);
}

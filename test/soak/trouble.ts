// Lets faults strike in random order until the signal aborts. Each fault strikes once before any strikes again.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Arena } from './arena.ts';
import type { CallLedger } from './call-ledger.ts';
import { faults, type Fault } from './faults.ts';
import type { Random } from './random.ts';

export interface TroubleOptions {
  readonly arena: Arena;
  readonly ledger: CallLedger;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

export interface Trouble {
  /** How often each fault has struck. */
  readonly counts: Readonly<Record<string, number>>;
  /** Faults after which the cluster did not recover in time. */
  readonly unhealed: readonly string[];
}

const pauseMs = { least: 1000, more: 4000 };

export async function makeTrouble(options: TroubleOptions): Promise<Trouble> {
  const { random, signal } = options;
  const counts = new Map<string, number>();
  const unhealed: string[] = [];
  for (const fault of sequence(random)) {
    await sleep(pauseMs.least + random.below(pauseMs.more), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1);
    const problem = await strike(fault, options);
    if (problem !== undefined) unhealed.push(`${fault.name}: ${problem}`);
  }
  return { counts: Object.fromEntries(counts), unhealed };
}

function* sequence(random: Random): Generator<Fault, never> {
  for (;;) yield* random.shuffled(faults);
}

async function strike(
  { name, excuse, afterMs = 0, strike: begin }: Fault,
  { arena, ledger, random, say }: TroubleOptions,
): Promise<string | undefined> {
  say(`fault: ${name}`);
  const over = ledger.excuse(name, excuse ?? (() => false));
  try {
    await begin(arena, random);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    if (afterMs === 0) over();
    else setTimeout(over, afterMs);
  }
}

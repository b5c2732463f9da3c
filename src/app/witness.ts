// Whoever looks on while the program works, beside log and metrics: a person at a terminal.
import type { DecisionRecord } from '../admission/ports.ts';
import type { Place, WriteVerb } from '../reconcile/ports.ts';

export interface Witness {
  decided(record: DecisionRecord): void;
  wrote(verb: WriteVerb, place: Place): void;
  failed(place: Place, reason: string): void;
  /** Deletions for the owner that wait for a confirmation. */
  held(owner: string, count: number, limit: number): void;
}

export const nobody: Witness = {
  decided: () => undefined,
  wrote: () => undefined,
  failed: () => undefined,
  held: () => undefined,
};

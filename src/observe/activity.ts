// The feed of `reeve up`: what Reeve does as it happens, for a person at a terminal.
import type { DecisionRecord } from '../admission/ports.ts';
import type { Place, WriteVerb } from '../reconcile/ports.ts';

/** Only `reeve up` shows the feed. Without it, all methods are missing. */
export interface ActivityObserver {
  decided?(record: DecisionRecord): void;
  wrote?(verb: WriteVerb, place: Place): void;
  failed?(place: Place, reason: string): void;
  /** Called when deletions of the provider wait for a confirmation. */
  held?(provider: string, count: number, limit: number): void;
  /** Called when Reeve has repaired a webhook configuration that others changed or deleted. */
  repaired?(kind: string, found: readonly string[]): void;
}

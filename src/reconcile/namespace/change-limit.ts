// Limits in how many namespaces Reeve changes enforced values of one policy within ten minutes.
import type { Clock } from '../../base/clock.ts';
import { parseConfirmation } from '../../policy/plan/fuse.ts';
import type { ProviderId, ProviderState } from '../../policy/terms/provider-id.ts';

const windowMs = 600_000;

export class ChangeLimit {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The times of the changes, by namespace. */
  readonly #changes = new Map<ProviderId, Map<string, number>>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /**
   * Returns the time after which a value in the namespace may be changed. 0: now, and the change counts. A confirmation counts
   * after its use, too, because the fuse may have used it for deletions of the same write.
   */
  pauseFor(
    { id, maxDeletions, confirmation }: Pick<ProviderState, 'id' | 'maxDeletions' | 'confirmation'>,
    namespace: string,
  ): number {
    const now = this.#clock.monotonic();
    const recent = new Map([...(this.#changes.get(id) ?? [])].filter(([, time]) => time > now - windowMs));
    this.#changes.set(id, recent);
    const limit = Math.max(maxDeletions, parseConfirmation(confirmation) ?? 0);
    if (!recent.has(namespace) && recent.size >= limit)
      return Math.min(now, ...recent.values()) + windowMs - now;
    recent.set(namespace, now);
    return 0;
  }
}

/** What the limit of rewrites counts. Two policies can change one key back and forth, each to its own value. */
export function rewriteFingerprint({
  before,
  value,
}: {
  readonly before?: string | undefined;
  readonly value: string;
}): string {
  return before === undefined ? value : 'changed';
}

// Announces the deletions that the fuse holds: when this begins, and when their number has settled.
import { heldText, type HeldDeletions } from '../../policy/plan/fuse.ts';
import type { ProviderId, ProviderState } from '../../policy/terms/provider-id.ts';
import type { EventAnnouncer } from '../events.ts';
import type { Fuse } from '../fuse/fuse.ts';
import type { ProviderLedger } from '../ledger.ts';
import type { ReconcileObserver } from '../ports.ts';

interface HeldObjectsOptions {
  readonly fuse: Pick<Fuse, 'heldBy'>;
  readonly ledger: Pick<ProviderLedger, 'waiting'>;
  readonly announcer: Pick<EventAnnouncer, 'providerLater'>;
  readonly observer: Pick<ReconcileObserver, 'deletionsHeld'>;
}

export class HeldObjects {
  readonly #options: HeldObjectsOptions;
  /** The number that was announced last. */
  readonly #announced = new Map<ProviderId, number>();

  constructor(options: HeldObjectsOptions) {
    this.#options = options;
  }

  /** Returns the deletions that the fuse holds. A suspended provider keeps all its objects, whatever is held. */
  of(state: ProviderState): HeldDeletions | undefined {
    const { fuse, ledger, announcer, observer } = this.#options;
    const { id, isDeleting, isSuspended } = state;
    const held = isDeleting || isSuspended ? undefined : fuse.heldBy(state);
    if (held === undefined) {
      this.#announced.delete(id);
      return undefined;
    }
    const announced = this.#announced.get(id);
    const isSettled = ledger.waiting(id) === undefined;
    if (announced === undefined || (isSettled && announced !== held.count)) {
      this.#announced.set(id, held.count);
      observer.deletionsHeld(id, held.count, held.limit);
      announcer.providerLater(id, 'TooManyDeletions', heldText(held));
    }
    return held;
  }

  forget(provider: ProviderId): void {
    this.#announced.delete(provider);
  }

  clear(): void {
    this.#announced.clear();
  }
}

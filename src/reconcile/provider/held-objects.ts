// Follows the deletions that the fuse holds: announces them, and judges them again when the fuse can have another verdict.
import { heldText, toConfirm, type HeldDeletions } from '../../policy/plan/fuse.ts';
import type { ProviderId, ProviderState } from '../../policy/terms/provider-id.ts';
import type { Dispatcher } from '../dispatcher.ts';
import type { EventAnnouncer } from '../events.ts';
import type { Fuse } from '../fuse/fuse.ts';
import type { ProviderLedger } from '../ledger.ts';
import type { ReconcileObserver } from '../ports.ts';
import type { WorkQueue } from '../queue/queue.ts';

export interface HeldObjectsOptions {
  readonly fuse: Fuse;
  readonly ledger: ProviderLedger;
  readonly announcer: Pick<EventAnnouncer, 'providerLater'>;
  readonly observer: Pick<ReconcileObserver, 'deletionsHeld'>;
  readonly dispatcher: Pick<Dispatcher, 'enqueueProvider'>;
  readonly providerQueue: Pick<WorkQueue<ProviderId>, 'addAfter'>;
}

export class HeldObjects {
  readonly #options: HeldObjectsOptions;
  /** The number that was announced last. */
  readonly #announced = new Map<ProviderId, number>();

  constructor(options: HeldObjectsOptions) {
    this.#options = options;
  }

  /** Returns the deletions that the fuse holds. Announces when this begins, and when their number has settled. */
  of({ id, isDeleting }: ProviderState): HeldDeletions | undefined {
    const { fuse, ledger, announcer, observer, dispatcher, providerQueue } = this.#options;
    const verdict = isDeleting || fuse.outstanding(id) === 0 ? undefined : fuse.verdictOf(id);
    if (verdict?.kind !== 'hold') {
      this.#announced.delete(id);
      // A change in one namespace can free the objects in all others.
      const isHeldThere = ledger.tallyOf(id).counts.held > 0 && ledger.waiting(id) === undefined;
      if (verdict !== undefined && isHeldThere) dispatcher.enqueueProvider(id);
      return undefined;
    }
    const { held } = verdict;
    const announced = this.#announced.get(id);
    const isSettled = ledger.waiting(id) === undefined;
    if (announced === undefined || (isSettled && announced !== held.outstanding)) {
      this.#announced.set(id, held.outstanding);
      observer.deletionsHeld(id, toConfirm(held), held.limit);
      announcer.providerLater(id, 'TooManyDeletions', heldText(held));
    }
    const lapse = fuse.nextLapse(id);
    if (lapse !== undefined) providerQueue.addAfter(id, Math.max(1, lapse));
    return held;
  }

  forget(provider: ProviderId): void {
    this.#announced.delete(provider);
  }

  clear(): void {
    this.#announced.clear();
  }
}

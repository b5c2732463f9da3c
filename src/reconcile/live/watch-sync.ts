// Waits until every watch has delivered its first complete list, except watches that our account may not use.
import { isAborted, pause } from '../../base/abort.ts';
import { groupOf } from '../../policy/terms/object-key.ts';
import type { Install } from '../../policy/compile/install.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import type { ObservedObjects } from './observed-objects.ts';
import type { Clock } from '../../base/clock.ts';
import type { SelfReviewer } from '../ports.ts';
import type { Sources } from './sources.ts';
import type { WantedWatch } from './watches.ts';

interface WatchSyncOptions {
  readonly watches: readonly WantedWatch[];
  readonly cluster: LiveCluster;
  readonly objects: ObservedObjects;
  readonly sources: Sources;
  readonly selfReviewer: SelfReviewer;
  readonly resourceOf: Install['resourceOf'];
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
}

const pollMs = 20;
/** How long optional kinds are waited for, and how often the rights of the other watches are asked about. */
const patienceMs = 2000;

export class WatchSync {
  readonly #options: WatchSyncOptions;
  /** Watches that our account has no right to. Statuses name the missing right. */
  readonly #forbidden = new Set<WantedWatch>();

  constructor(options: WatchSyncOptions) {
    this.#options = options;
  }

  get isSynced(): boolean {
    return this.#options.cluster.isSynced && this.#pending(false).every((each) => this.#forbidden.has(each));
  }

  /** Polls, because the watches have no common event for their first lists. */
  async wait(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let askAt = clock.monotonic() + patienceMs;
    while (!isAborted(signal) && !this.isSynced) {
      await pause(clock, pollMs, signal);
      if (isAborted(signal) || clock.monotonic() < askAt) continue;
      await this.#reviewPending(signal);
      askAt = clock.monotonic() + patienceMs;
    }
    const until = clock.monotonic() + patienceMs;
    while (!isAborted(signal) && this.#pending(true).length > 0 && clock.monotonic() < until)
      await pause(clock, pollMs, signal);
  }

  #pending(isOptional: boolean): readonly WantedWatch[] {
    const { watches, objects, sources } = this.#options;
    return watches.filter(
      (watch) =>
        watch.isOptional === isOptional &&
        !(watch.namespace === undefined
          ? objects.isKnown({ type: watch.type, name: watch.name ?? '' })
          : sources.isSyncedIn(watch.namespace)),
    );
  }

  async #reviewPending(signal: AbortSignal): Promise<void> {
    for (const watch of this.#pending(false)) {
      if (await this.#isForbidden(watch, signal)) this.#forbidden.add(watch);
      else this.#forbidden.delete(watch);
    }
  }

  async #isForbidden({ type, namespace, name }: WantedWatch, signal: AbortSignal): Promise<boolean> {
    const { selfReviewer, resourceOf } = this.#options;
    const resource = {
      group: groupOf(type.apiVersion),
      resource: resourceOf(type),
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
    };
    try {
      const answers = await Promise.all(
        ['list', 'watch'].map((verb) => selfReviewer.mayDo({ ...resource, verb }, signal)),
      );
      return answers.includes('no');
    } catch (error) {
      if (isAborted(signal)) return false;
      throw error;
    }
  }
}

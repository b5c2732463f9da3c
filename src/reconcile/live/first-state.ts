// Waits until all is known that the work begins with; what our account may not watch is not waited for.
import { isAborted } from '../../base/abort.ts';
import { groupOf } from '../../policy/compile/object-key.ts';
import type { Install } from '../../policy/compile/install.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import type { ObservedObjects } from './observed-objects.ts';
import { pause } from '../../base/pause.ts';
import type { Clock } from '../../base/clock.ts';
import type { SelfReviewer } from '../ports.ts';
import type { Sources } from './sources.ts';
import type { WantedWatch } from './watches.ts';

export interface FirstStateOptions {
  readonly watches: readonly WantedWatch[];
  readonly cluster: LiveCluster;
  readonly objects: ObservedObjects;
  readonly sources: Sources;
  readonly selfReviewer: SelfReviewer;
  readonly resourceOf: Install['resourceOf'];
  readonly time: Clock;
}

const pollMs = 20;
/** Kinds that may not be served at all are not waited for any longer, and rights are asked about this often. */
const patienceMs = 2000;

export class FirstState {
  readonly #options: FirstStateOptions;
  /** The statuses of those who need them will say which rights are missing. */
  readonly #refused = new Set<WantedWatch>();

  constructor(options: FirstStateOptions) {
    this.#options = options;
  }

  get isSynced(): boolean {
    return this.#options.cluster.isSynced && this.#pending(false).every((each) => this.#refused.has(each));
  }

  /** Nobody tells when the last of all these has come, so it is asked again and again. */
  async synced(signal: AbortSignal): Promise<void> {
    const { time } = this.#options;
    let askAt = time.monotonic() + patienceMs;
    while (!isAborted(signal) && !this.isSynced) {
      await pause(time, pollMs, signal);
      if (isAborted(signal) || time.monotonic() < askAt) continue;
      await this.#askForPending(signal);
      askAt = time.monotonic() + patienceMs;
    }
    const until = time.monotonic() + patienceMs;
    while (!isAborted(signal) && this.#pending(true).length > 0 && time.monotonic() < until)
      await pause(time, pollMs, signal);
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

  async #askForPending(signal: AbortSignal): Promise<void> {
    for (const watch of this.#pending(false)) {
      if (await this.#isRefused(watch, signal)) this.#refused.add(watch);
      else this.#refused.delete(watch);
    }
  }

  async #isRefused({ type, namespace, name }: WantedWatch, signal: AbortSignal): Promise<boolean> {
    const { selfReviewer, resourceOf } = this.#options;
    const what = {
      group: groupOf(type.apiVersion),
      resource: resourceOf(type),
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
    };
    try {
      const answers = await Promise.all(
        ['list', 'watch'].map((verb) => selfReviewer.mayDo({ ...what, verb }, signal)),
      );
      return answers.includes('no');
    } catch (error) {
      if (isAborted(signal)) return false;
      throw error;
    }
  }
}

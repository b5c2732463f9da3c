// Keeps a sink up to date with a collection: lists once, then watches, and lists again only when it must.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
import { isAborted } from '../../base/abort.ts';
import type { KubeError } from '../../base/kube-error.ts';
import { pause } from '../../base/pause.ts';
import { isNewerResourceVersion } from '../../base/resource-version.ts';
import type { WatchSink } from '../../base/watch-sink.ts';
import { kubeErrorOf, noAnswer } from '../http/answers.ts';
import type { KubeClient } from '../http/client.ts';
import { Backoff } from '../../base/backoff.ts';
import type { WatchEvent } from './watch-events.ts';
import { CollectionReader, defaultStallMs, type FirstState, type ReadOptions } from './collection-reader.ts';
import { doubtsAbout, maxDoubts, wasCut, wentBack, type WatchEnd } from './watch-end.ts';
import type { WatchTarget } from './watch-target.ts';

interface WatchInterruption {
  readonly phase: 'list' | 'watch';
  readonly error: { readonly code: number; readonly reason: string };
  readonly retryInMs: number;
}

export interface ListWatchOptions extends ReadOptions {
  onInterruption?(interruption: WatchInterruption): void;
  /** Unhealthy after this time without a page, an event or a bookmark; twice `stallMs` by default. */
  readonly unhealthyMs?: number;
}

export interface WatchHealth {
  /** Resolves once the sink has received the whole state. Stays pending when that never happens. */
  readonly synced: Promise<void>;
  readonly isSynced: boolean;
  /** Milliseconds since the last page, event or bookmark. */
  readonly silentMs: number;
  /** False while the silence is too long. */
  isHealthy(): boolean;
  /** The sink is no longer called. */
  stop(): void;
  /** Resolves after `stop`; rejects when the sink or `onInterruption` throws, which is an error of the program. */
  readonly stopped: Promise<void>;
}

export function listWatch(
  client: KubeClient,
  target: WatchTarget,
  sink: WatchSink,
  options: ListWatchOptions,
): WatchHealth {
  return new ListWatch(client, target, sink, options);
}

/** A watch that stayed open for this long counts as healthy even without events. */
const steadyMs = 5000;
/** For a server that is unreachable. Shorter than for lists, which cost more, so that its return is noticed soon. */
const watchBounds = { minMs: 200, maxMs: 10_000 };
/** For a watch that was accepted and then cut. The server works, so a long wait would only delay events. */
const cutBounds = { minMs: 200, maxMs: 2000 };

class ListWatch implements WatchHealth {
  readonly #reader: CollectionReader;
  readonly #sink: WatchSink;
  readonly #options: ListWatchOptions;
  readonly #stop = new AbortController();
  readonly #synced = Promise.withResolvers<void>();
  readonly #listBackoff: Backoff;
  readonly #watchBackoff: Backoff;
  readonly #cutBackoff: Backoff;
  #isSynced = false;
  /** A watch that has delivered the first state and goes on. */
  #begun: AsyncGenerator<WatchEvent> | undefined;
  #lastHeard = 0;
  /** The sink has received everything up to this version. */
  #version = '';
  readonly stopped: Promise<void>;

  constructor(client: KubeClient, target: WatchTarget, sink: WatchSink, options: ListWatchOptions) {
    const { signal } = this.#stop;
    this.#reader = new CollectionReader(client, target, {
      ...options,
      signal,
      onHeard: () => this.#heard(),
      onUnmarked: () => {
        const { code, reason } = noAnswer('Stalled');
        options.onInterruption?.({ phase: 'list', error: { code, reason }, retryInMs: 0 });
      },
    });
    this.#sink = sink;
    this.#options = options;
    this.#listBackoff = new Backoff(options.clock);
    this.#watchBackoff = new Backoff(options.clock, watchBounds);
    this.#cutBackoff = new Backoff(options.clock, cutBounds);
    this.#heard();
    this.stopped = this.#run();
  }

  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  get silentMs(): number {
    return this.#options.clock.monotonic() - this.#lastHeard;
  }

  isHealthy(): boolean {
    const { stallMs = defaultStallMs, unhealthyMs = 2 * stallMs } = this.#options;
    return this.silentMs <= unhealthyMs;
  }

  stop(): void {
    this.#stop.abort();
  }

  #isStopped(): boolean {
    return isAborted(this.#stop.signal);
  }

  #heard(): void {
    this.#lastHeard = this.#options.clock.monotonic();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped()) {
      if (await this.#deliverList()) await this.#watchUntilDoubtful();
    }
  }

  /** A function of its own: a function that waits keeps its variables, and a watch would keep the whole list. */
  async #deliverList(): Promise<boolean> {
    const listed = await this.#list();
    if (this.#isStopped() || listed === undefined) return false;
    this.#sink.replaced(listed.objects, listed.resourceVersion);
    this.#version = listed.resourceVersion;
    this.#begun = listed.rest;
    this.#isSynced = true;
    this.#synced.resolve();
    this.#watchBackoff.reset();
    return true;
  }

  async #list(): Promise<FirstState | undefined> {
    try {
      return await this.#reader.first();
    } catch (error) {
      await this.#waitAfter('list', kubeErrorOf(error), this.#listBackoff);
      return undefined;
    }
  }

  /** Returns when only a new list can give the state. */
  async #watchUntilDoubtful(): Promise<void> {
    let doubts = 0;
    while (!this.#isStopped()) {
      const end = await this.#watchOnce();
      const { error } = end;
      if (end.hadProgress) {
        doubts = 0;
        for (const backoff of [this.#listBackoff, this.#watchBackoff, this.#cutBackoff]) backoff.reset();
      }
      doubts += error === undefined ? 0 : doubtsAbout(error);
      // A list does not reset this backoff: a watch that always expires would otherwise list without a pause.
      if (doubts >= maxDoubts) return await this.#waitAfter('watch', error, this.#listBackoff);
      await this.#waitAfter('watch', error, wasCut(end) ? this.#cutBackoff : this.#watchBackoff);
    }
  }

  async #watchOnce(): Promise<WatchEnd> {
    const { clock } = this.#options;
    const began = clock.monotonic();
    let wasOpen = this.#begun !== undefined;
    let hadProgress = false;
    const end = (error: KubeError | undefined): WatchEnd => ({ wasOpen, hadProgress, error });
    const onOpen = (): void => void (wasOpen = true);
    const events = this.#begun ?? this.#reader.watch(this.#version, onOpen);
    this.#begun = undefined;
    for await (const event of events) {
      if (this.#isStopped()) break;
      if (event.kind === 'failed') return end(event.error);
      // After etcd was restored from a backup, versions begin again lower down, and a watch from a later version is silent
      // until then. A version that cannot be compared is no sign of that.
      if (isNewerResourceVersion(this.#version, event.resourceVersion, { ifIncomparable: false }))
        return end(noAnswer(wentBack));
      this.#deliver(event);
      hadProgress = true;
    }
    hadProgress ||= clock.monotonic() - began >= steadyMs;
    return end(hadProgress ? undefined : noAnswer('ClosedEarly'));
  }

  #deliver(event: Exclude<WatchEvent, { kind: 'failed' }>): void {
    this.#heard();
    if (event.kind === 'changed') this.#sink.changed(event.object);
    else if (event.kind === 'removed') this.#sink.removed(event.object);
    this.#version = event.resourceVersion;
  }

  /** Waits briefly also after a normal end, because a server might end every watch at once. */
  async #waitAfter(phase: 'list' | 'watch', error: KubeError | undefined, backoff: Backoff): Promise<void> {
    if (this.#isStopped()) return;
    const retryInMs = backoff.next(error?.retryAfterMs);
    if (error === undefined) backoff.reset();
    else
      this.#options.onInterruption?.({ phase, error: { code: error.code, reason: error.reason }, retryInMs });
    await pause(this.#options.clock, retryInMs, this.#stop.signal);
  }
}

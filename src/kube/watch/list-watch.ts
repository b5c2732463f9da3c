// Keeps a sink up to date with a collection: lists once, then watches, and lists again after missed events.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
import { isAborted, pause } from '../../base/abort.ts';
import type { KubeError } from '../../base/kube-error.ts';
import { isNewerResourceVersion, type WatchSink } from '../../base/watch-sink.ts';
import { kubeErrorOf, noAnswer } from '../http/answers.ts';
import type { KubeClient } from '../http/client.ts';
import { Backoff } from '../../base/backoff.ts';
import type { WatchEvent } from './watch-stream.ts';
import { CollectionReader, defaultStallMs, type FirstState, type ReadOptions } from './collection-reader.ts';
import {
  doubtsAbout,
  isOutage,
  maxDoubts,
  mayBeAnswered,
  wasCut,
  wentBack,
  type WatchEnd,
  type WatchTarget,
} from './watch-target.ts';

interface WatchInterruption {
  readonly phase: 'list' | 'watch';
  readonly error: { readonly code: number; readonly reason: string };
  readonly retryInMs: number;
}

interface ListWatchOptions extends ReadOptions {
  onInterruption?(interruption: WatchInterruption): void;
  /** Called when the server is behind a version that it has sent before: etcd was restored from a backup. */
  onRestored?(): void;
}

export interface WatchHealth {
  /** Resolves once the sink has received the whole state. Stays pending when that never happens. */
  readonly synced: Promise<void>;
  readonly isSynced: boolean;
  /** Milliseconds since the last page, event or bookmark. */
  readonly silentMs: number;
  /** False once the silence lasts twice as long as the silence that restarts a watch. */
  isHealthy(): boolean;
  /** Lists again after a restore of etcd from a backup. Tells the sink to ignore versions from before the restore. */
  restored(): void;
  /** Delivers one object as it is now, after a write of `version` was a conflict and if the watch is silent. Never rejects. */
  reread(path: string, version: string): Promise<void>;
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
  /** Ends the list or watch that runs now. */
  #turn = new AbortController();
  /** True while the sink may hold the state from before a restore of etcd. */
  #isOutdated = false;
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
    this.#reader = new CollectionReader(client, target, {
      ...options,
      signal: () => this.#turn.signal,
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
    const { stallMs = defaultStallMs } = this.#options;
    return this.silentMs <= 2 * stallMs;
  }

  stop(): void {
    this.#stop.abort();
    this.#turn.abort();
  }

  restored(): void {
    this.#isOutdated = true;
    this.#turn.abort();
  }

  async reread(path: string, version: string): Promise<void> {
    const heardUpTo = this.#version;
    // Without an answer nothing is lost, because the next conflict leads here again.
    const object = await this.#reader.object(path).catch(() => undefined);
    if (object === undefined || this.#isStopped() || this.#isOutdated) return;
    // The watch has reported newer events meanwhile, and will report the object itself. The answer may be older.
    if (this.#version !== heardUpTo) return;
    if (!isBefore(String(object.metadata['resourceVersion']), version)) return this.#sink.changed(object);
    this.#noticeRestore();
    this.#turn.abort();
  }

  #isStopped(): boolean {
    return isAborted(this.#stop.signal);
  }

  /** The list or watch that runs now is not needed any more. */
  #isOver(): boolean {
    return isAborted(this.#turn.signal);
  }

  #heard(): void {
    this.#lastHeard = this.#options.clock.monotonic();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped()) {
      this.#turn = new AbortController();
      if (await this.#deliverList()) await this.#watchUntilDoubtful();
    }
  }

  /** A function that waits keeps its variables. In one function with the watch, the whole list would stay in memory. */
  async #deliverList(): Promise<boolean> {
    const listed = await this.#list();
    if (this.#isOver() || listed === undefined) return false;
    // A list is never older than what the server sent before, unless etcd was restored from a backup:
    // https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list
    const isBehind = isBefore(listed.resourceVersion, this.#version);
    if (isBehind && !this.#isOutdated) this.#options.onRestored?.();
    this.#sink.replaced(listed.objects, listed.resourceVersion, isBehind || this.#isOutdated);
    this.#isOutdated = false;
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
      const known = kubeErrorOf(error);
      // The server answers, and has no objects of a kind that it does not serve.
      if (known.code === 404) this.#heard();
      await this.#waitAfter('list', known, this.#listBackoff);
      return undefined;
    }
  }

  /** Returns when only a new list can give the state. */
  async #watchUntilDoubtful(): Promise<void> {
    let doubts = 0;
    while (!this.#isOver()) {
      const end = await this.#watchOnce();
      if (this.#isOver()) return;
      const { error } = end;
      if (end.hadProgress) {
        doubts = 0;
        for (const backoff of [this.#listBackoff, this.#watchBackoff, this.#cutBackoff]) backoff.reset();
      }
      doubts += error === undefined ? 0 : doubtsAbout(error);
      // A list does not reset this backoff: a watch that always expires would otherwise list without a pause.
      if (doubts >= maxDoubts) return await this.#waitAfter('watch', error, this.#listBackoff);
      await this.#waitAfter('watch', error, wasCut(end) ? this.#cutBackoff : this.#watchBackoff);
      if (!(await this.#isContinued(end))) return;
    }
  }

  /**
   * Waits until the server answers, and returns whether the watch can go on from its version. After a cut it can, unless the
   * server is behind that version: then etcd was restored. Asking costs the server little, and a proxy may cut each watch every
   * minute. Once a request has failed, the server may have been stopped, and a restored etcd may have passed our version since.
   * Then only a list shows what was missed.
   */
  async #isContinued({ error: outage, wasOpen }: WatchEnd): Promise<boolean> {
    if (outage === undefined || !isOutage(outage)) return true;
    for (let isAnswered = wasOpen; !this.#isOver(); isAnswered = false) {
      try {
        const version = await this.#reader.version();
        this.#heard();
        const isBehind = isBefore(version, this.#version);
        if (isBehind) this.#noticeRestore();
        return isAnswered && !isBehind;
      } catch (error) {
        const known = kubeErrorOf(error);
        if (!mayBeAnswered(known)) return false;
        await this.#waitAfter('watch', known, this.#watchBackoff);
      }
    }
    return false;
  }

  #noticeRestore(): void {
    this.#isOutdated = true;
    this.#options.onRestored?.();
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
      if (this.#isOver()) break;
      if (event.kind === 'failed') return end(event.error);
      // After etcd was restored from a backup, versions begin again lower down, and a watch from a later version is silent
      // until then.
      if (isBefore(event.resourceVersion, this.#version)) {
        this.#noticeRestore();
        return end(noAnswer(wentBack));
      }
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
    if (this.#isOver()) return;
    const retryInMs = backoff.next(error?.retryAfterMs);
    if (error === undefined) backoff.reset();
    else
      this.#options.onInterruption?.({ phase, error: { code: error.code, reason: error.reason }, retryInMs });
    await pause(this.#options.clock, retryInMs, this.#turn.signal);
  }
}

/** A version that cannot be compared is not before another one. */
function isBefore(version: string, than: string): boolean {
  return isNewerResourceVersion(than, version, { ifIncomparable: false });
}

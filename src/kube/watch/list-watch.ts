// Keeps a sink as up to date as the API server itself: lists once, then watches, and lists again only when it must.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
import type { Clock } from '../../base/clock.ts';
import { isAborted } from '../../base/is-aborted.ts';
import type { KubeError } from '../../base/kube-error.ts';
import type { WatchSink } from '../../base/watch-sink.ts';
import { kubeErrorOf, noAnswer } from '../http/answer-fault.ts';
import { Backoff } from './backoff.ts';
import type { KubeClient } from '../http/client.ts';
import { listAll } from './list-pages.ts';
import type { ListedState } from './list-pages.ts';
import { pause } from '../../base/pause.ts';

import type { WatchEvent } from './watch-events.ts';
import { isOlder } from './resource-version.ts';
import { watchStream } from './watch-stream.ts';
import { watchRequest } from './watch-target.ts';
import type { WatchTarget } from './watch-target.ts';

export interface WatchTrouble {
  readonly phase: 'list' | 'watch';
  readonly error: { readonly code: number; readonly reason: string };
  readonly retryInMs: number;
}

export interface ListWatchOptions {
  readonly clock: Omit<Clock, 'now'>;
  onTrouble?(trouble: WatchTrouble): void;
  /** How many objects one answer to a list may hold; 500 unless given. */
  readonly page?: number;
  /** After how long the server is asked to end a watch, so that load spreads anew over its replicas: 240 to 480 s. */
  readonly watchSeconds?: { readonly least: number; readonly most: number };
  /** A watch that says nothing for so long is begun anew; see `usualStallMs` unless given. */
  readonly stallMs?: number;
  /** Not healthy after so long without a page, an event or a bookmark; twice `stallMs` unless given. */
  readonly unhealthyMs?: number;
}

export interface WatchHealth {
  /** The sink has been told the whole state once. Stays open when that never happens. */
  readonly synced: Promise<void>;
  readonly isSynced: boolean;
  /** For how long it has heard nothing: no page of a list, no event, no bookmark. */
  readonly silentMs: number;
  /** False while that is longer than it should be. */
  isHealthy(): boolean;
  /** The sink hears nothing any more. */
  stop(): void;
  /** Resolves after `stop`; rejects when the sink or `onTrouble` has thrown, which is a fault of the program. */
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

/**
 * An API server sends a bookmark about a minute after the last one, also where nothing happens, so a healthy watch may
 * well be silent for 60 s and a little; a shorter patience would end watches that are well, all of them, every minute.
 * Half as long again leaves room for a busy server. A connection whose packets get lost ends sooner, after 40 s, because
 * the pool has TCP probe it; this is for what somebody on the way still confirms, and forgets.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#watch-bookmarks
 */
const usualStallMs = 90_000;
/** Quiet, but long enough to believe that the server and the way to it are well. */
const steadyMs = 5000;
/** A watch that goes wrong so often in a row may never go right from that version. */
const mostDoubts = 2;
/** For a server that cannot be had: whoever tries it seldom hears late that it is back. Lists cost it more. */
const watchBounds = { leastMs: 200, mostMs: 10_000 };
/** For a watch that was accepted and then cut: who waits long now hears of nothing, though the server is well. */
const cutBounds = { leastMs: 200, mostMs: 2000 };
const expired = 410;
const wentBack = 'WentBack';

/** How a watch ended. */
interface WatchEnd {
  readonly wasOpen: boolean;
  readonly hadProgress: boolean;
  readonly error: KubeError | undefined;
}

class ListWatch implements WatchHealth {
  readonly #client: KubeClient;
  readonly #target: WatchTarget;
  readonly #sink: WatchSink;
  readonly #options: ListWatchOptions;
  readonly #stop = new AbortController();
  readonly #synced = Promise.withResolvers<void>();
  readonly #listBackoff: Backoff;
  readonly #watchBackoff: Backoff;
  readonly #cutBackoff: Backoff;
  #isSynced = false;
  #lastHeard = 0;
  /** Everything up to this version has been told to the sink. */
  #version = '';
  readonly stopped: Promise<void>;

  constructor(client: KubeClient, target: WatchTarget, sink: WatchSink, options: ListWatchOptions) {
    this.#client = client;
    this.#target = target;
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
    const { stallMs = usualStallMs, unhealthyMs = 2 * stallMs } = this.#options;
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
      if (await this.#tellAll()) await this.#watchUntilDoubtful();
    }
  }

  /** By itself: as long as a function waits, it holds all that it knows, and a watch may last for ever. */
  async #tellAll(): Promise<boolean> {
    const listed = await this.#list();
    if (this.#isStopped() || listed === undefined) return false;
    this.#sink.replaced(listed.objects, listed.resourceVersion);
    this.#version = listed.resourceVersion;
    this.#isSynced = true;
    this.#synced.resolve();
    this.#watchBackoff.reset();
    return true;
  }

  async #list(): Promise<ListedState | undefined> {
    try {
      return await listAll(this.#client, this.#target, {
        page: this.#options.page ?? 500,
        signal: this.#stop.signal,
        onPage: () => this.#heard(),
      });
    } catch (error) {
      await this.#waitAfter('list', kubeErrorOf(error), this.#listBackoff);
      return undefined;
    }
  }

  /** Returns when only a list can tell the state. */
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
      // Not reset by a list alone: a watch that always expires would otherwise list for ever, without a pause.
      if (doubts >= mostDoubts) return await this.#waitAfter('watch', error, this.#listBackoff);
      await this.#waitAfter('watch', error, wasCut(end) ? this.#cutBackoff : this.#watchBackoff);
    }
  }

  async #watchOnce(): Promise<WatchEnd> {
    const { clock, watchSeconds = { least: 240, most: 480 }, stallMs = usualStallMs } = this.#options;
    const seconds = Math.floor(
      watchSeconds.least + clock.random() * (watchSeconds.most - watchSeconds.least),
    );
    const began = clock.monotonic();
    const request = watchRequest(this.#target, this.#version, seconds);
    let wasOpen = false;
    let hadProgress = false;
    const end = (error: KubeError | undefined): WatchEnd => ({ wasOpen, hadProgress, error });
    const onOpen = (): void => void (wasOpen = true);
    const options = { clock, stallMs, signal: this.#stop.signal, onOpen };
    for await (const event of watchStream(this.#client, request, options)) {
      if (this.#isStopped()) break;
      if (event.kind === 'failed') return end(event.error);
      if (isOlder(event.resourceVersion, this.#version)) return end(noAnswer(wentBack));
      this.#tell(event);
      hadProgress = true;
    }
    hadProgress ||= clock.monotonic() - began >= steadyMs;
    return end(hadProgress ? undefined : noAnswer('ClosedEarly'));
  }

  #tell(event: Exclude<WatchEvent, { kind: 'failed' }>): void {
    this.#heard();
    if (event.kind === 'changed') this.#sink.changed(event.object);
    else if (event.kind === 'removed') this.#sink.removed(event.object);
    this.#version = event.resourceVersion;
  }

  /** Also a short moment after a watch that ended well, or a server that ends each at once would be asked without end. */
  async #waitAfter(phase: 'list' | 'watch', error: KubeError | undefined, backoff: Backoff): Promise<void> {
    if (this.#isStopped()) return;
    const retryInMs = backoff.next(error?.retryAfterMs);
    if (error === undefined) backoff.reset();
    else this.#options.onTrouble?.({ phase, error: { code: error.code, reason: error.reason }, retryInMs });
    await pause(this.#options.clock, retryInMs, this.#stop.signal);
  }
}

/** By the way to the server, not by what the server said. */
function wasCut({ wasOpen, error }: WatchEnd): boolean {
  return wasOpen && (error === undefined || error.code === 0);
}

/** Whether the version to go on from may be the trouble, rather than the server or the way to it. */
function doubtsAbout({ code, reason }: KubeError): number {
  if (code === expired || reason === wentBack) return mostDoubts;
  if (reason === 'Stalled' || reason === 'MalformedAnswer') return 1;
  return code >= 400 && !unrelatedCodes.has(code) ? 1 : 0;
}

/** Not known, not allowed, no such kind (yet), too slow, too many requests, and no server to be had. */
const unrelatedCodes: ReadonlySet<number> = new Set([401, 403, 404, 408, 429, 502, 503, 504]);

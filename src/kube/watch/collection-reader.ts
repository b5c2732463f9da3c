// Reads one collection: its first state, as the beginning of a watch or in pages, and watches from a version.
import type { Clock } from '../../base/clock.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { unlessNotFound } from '../../base/kube-error.ts';
import { kubeErrorOf, malformedAnswer, noAnswer } from '../http/answers.ts';
import type { KubeClient, KubeRequest } from '../http/client.ts';
import { listAll, pagedObjects, type ListedState } from './list-pages.ts';
import {
  unrelatedCodes,
  initialRequest,
  objectRequest,
  versionRequest,
  watchRequest,
  type WatchTarget,
} from './watch-target.ts';
import { type WatchEvent, watchStream, resourceVersionOf, watchedObject } from './watch-stream.ts';
import { pause } from '../../base/abort.ts';

export interface ReadOptions {
  readonly clock: Omit<Clock, 'now'>;
  /**
   * True: asks for the first state as the beginning of the watch, and for pages only where that fails. The server then sends
   * one object after the other, and neither side holds a whole list as text. Default: false.
   */
  readonly streamsLists?: boolean;
  /** How many objects one page of a list may have; 500 by default. */
  readonly page?: number;
  /** A watch that is silent for this long is restarted; `defaultStallMs` by default. */
  readonly stallMs?: number;
}

interface ReaderOptions extends ReadOptions {
  /** Returns the signal of each request. */
  readonly signal: () => AbortSignal;
  /** Called for each page, and each event of the first state. */
  readonly onHeard?: () => void;
  /** Called when the server does not end the first state of a watch, so that pages are read from now on. */
  readonly onUnmarked?: () => void;
}

export interface FirstState extends ListedState {
  /** The watch that goes on after the first state. */
  readonly rest?: AsyncGenerator<WatchEvent>;
}

/**
 * An API server sends a bookmark about every minute even when nothing happens, so a healthy watch is silent for 60 s. A
 * shorter limit would restart every healthy watch each minute; half as much again leaves room for a busy server. When
 * packets are lost, TCP probes end the connection after 40 s. This limit is for a proxy that confirms packets but drops
 * them.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#watch-bookmarks
 */
export const defaultStallMs = 90_000;
/** The server ends each watch after such a time, which spreads load over its replicas. */
const watchSeconds = { min: 240, max: 480 };
/** Answers of a server that does not know how to stream a list. Such a request can never succeed. */
const refusals: ReadonlySet<number> = new Set([400, 405, 406, 422]);

export class CollectionReader {
  readonly #client: KubeClient;
  readonly #target: WatchTarget;
  readonly #options: ReaderOptions;
  #mayStream: boolean;

  constructor(client: KubeClient, target: WatchTarget, options: ReaderOptions) {
    this.#client = client;
    this.#target = target;
    this.#options = options;
    this.#mayStream = options.streamsLists ?? false;
  }

  get #signal(): AbortSignal {
    return this.#options.signal();
  }

  /** Rejects with a KubeError. */
  async first(): Promise<FirstState> {
    const { page = 500, onHeard } = this.#options;
    const signal = this.#signal;
    const streamed = this.#mayStream ? await this.#streamed() : undefined;
    return (
      streamed ?? (await listAll(this.#client, this.#target, { page, signal, onPage: () => onHeard?.() }))
    );
  }

  /** Returns the version of the newest state. Rejects with a KubeError. */
  async version(): Promise<string> {
    const request = { ...versionRequest(this.#target), signal: this.#signal };
    const version = resourceVersionOf(await this.#client.request(request));
    if (version === undefined) throw malformedAnswer();
    return version;
  }

  /** Returns one object of the collection as it is now; undefined when it does not exist. Rejects with a KubeError. */
  async object(path: string): Promise<KubeObject | undefined> {
    const request = { ...objectRequest(this.#target, path), signal: this.#signal };
    return await unlessNotFound(async () => {
      const answer = await this.#client.request(request);
      const object = watchedObject(answer, this.#target);
      if (object === undefined) throw malformedAnswer();
      return object;
    });
  }

  watch(resourceVersion: string, onOpen: () => void): AsyncGenerator<WatchEvent> {
    return this.#events(watchRequest(this.#target, resourceVersion, this.#seconds()), onOpen);
  }

  /** Returns undefined when pages are worth a try: the server does not stream, or a proxy holds the stream back. */
  async #streamed(): Promise<FirstState | undefined> {
    const { clock, onHeard } = this.#options;
    const end = new StateEnd(clock, this.#signal);
    const events = this.#initialEvents(end);
    try {
      return { ...(await initialState(events, end, () => onHeard?.())), rest: events };
    } catch (error) {
      await events.return(undefined);
      this.#orPages(error, end);
      return undefined;
    } finally {
      end.over();
    }
  }

  /** Yields the objects of the first state as they arrive. Some come twice when a stream ends early. */
  async *objects(): AsyncGenerator<KubeObject, void, undefined> {
    const { page = 500, clock } = this.#options;
    const signal = this.#signal;
    const end = new StateEnd(clock, signal);
    try {
      if (this.#mayStream && (yield* this.#streamedObjects(end))) return;
      this.#checkMark(end);
    } catch (error) {
      this.#orPages(error, end);
    } finally {
      end.over();
    }
    yield* pagedObjects(this.#client, this.#target, { page, signal });
  }

  /** Returns whether these were all objects. */
  async *#streamedObjects(end: StateEnd): AsyncGenerator<KubeObject, boolean, undefined> {
    for await (const event of this.#initialEvents(end)) {
      if (event.kind === 'failed') throw event.error;
      if (event.kind === 'changed') {
        end.hold();
        yield event.object;
        end.heard();
      } else if (event.kind === 'bookmark' && event.endsInitialState) return true;
    }
    return false;
  }

  /** Throws the error unless reading pages may succeed. */
  #orPages(error: unknown, end: StateEnd): void {
    const { code } = kubeErrorOf(error);
    if (unrelatedCodes.has(code) || this.#signal.aborted) throw error;
    this.#mayStream = !refusals.has(code);
    this.#checkMark(end);
  }

  #checkMark({ missing }: StateEnd): void {
    if (!missing.aborted) return;
    this.#mayStream = false;
    this.#options.onUnmarked?.();
  }

  #initialEvents({ missing }: StateEnd): AsyncGenerator<WatchEvent> {
    return this.#events(initialRequest(this.#target, this.#seconds()), () => undefined, missing);
  }

  #seconds(): number {
    const { min, max } = watchSeconds;
    return Math.floor(min + this.#options.clock.random() * (max - min));
  }

  #events(request: KubeRequest, onOpen: () => void, until?: AbortSignal): AsyncGenerator<WatchEvent> {
    const { clock, stallMs = defaultStallMs } = this.#options;
    const signal = until === undefined ? this.#signal : AbortSignal.any([this.#signal, until]);
    const { keepsManagers = false } = this.#target;
    return watchStream(this.#client, request, { clock, stallMs, signal, keepsManagers, onOpen });
  }
}

/**
 * Reads the first state, and leaves the rest of the events to the caller. Rejects with a KubeError when they end before.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists
 */
async function initialState(
  events: AsyncGenerator<WatchEvent>,
  end: StateEnd,
  onEvent: () => void,
): Promise<ListedState> {
  // By UID: an object may change while the server still sends the others.
  const objects = new Map<string | undefined, KubeObject>();
  for (;;) {
    const next = await events.next();
    if (next.done === true) throw noAnswer('ClosedEarly');
    const event = next.value;
    onEvent();
    if (event.kind === 'failed') throw event.error;
    if (event.kind === 'bookmark') {
      if (event.endsInitialState)
        return { objects: [...objects.values()], resourceVersion: event.resourceVersion };
      continue;
    }
    end.heard();
    if (event.kind === 'changed') objects.set(event.object.metadata.uid, event.object);
    else objects.delete(event.object.metadata.uid);
  }
}

// Gives up on a watch that never marks the end of its first state. A proxy can drop that bookmark and pass on the others.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists

/** The time for the mark after the last object. Pages cost the server more than a stream, so a slow server gets some time. */
const unmarkedMs = 10_000;

class StateEnd {
  readonly #clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly #over = new AbortController();
  readonly #missing = new AbortController();
  #heardAt: number;

  constructor(clock: Pick<Clock, 'monotonic' | 'sleep'>, signal: AbortSignal) {
    this.#clock = clock;
    this.#heardAt = clock.monotonic();
    void this.#watch(AbortSignal.any([signal, this.#over.signal]));
  }

  /** Aborts when no object has come for too long. */
  get missing(): AbortSignal {
    return this.#missing.signal;
  }

  /** Notes that an object arrived. */
  heard(): void {
    this.#heardAt = this.#clock.monotonic();
  }

  /** Stops the clock until `heard`, because the reader is at work. */
  hold(): void {
    this.#heardAt = Infinity;
  }

  /** Notes that the end arrived, or that the stream failed. */
  over(): void {
    this.#over.abort();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const left = Math.min(unmarkedMs, this.#heardAt + unmarkedMs - this.#clock.monotonic());
      if (left > 0) await pause(this.#clock, left, signal);
      else return this.#missing.abort();
    }
  }
}

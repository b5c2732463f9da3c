// Tells people what happened to an object, by Events on it: nobody waits for them, and losing one harms nothing.
import type { KubeError } from '../../base/kube-error.ts';
import { fieldManager } from '../../api/names.ts';
import { kubeErrorOf } from '../http/answers.ts';
import { Backoff } from '../watch/backoff.ts';
import type { KubeClient } from '../http/client.ts';
import { eventName, eventObject, eventSeries, namespaceOf } from './event-object.ts';
import type { EventSource, RecordedEvent } from './event-object.ts';
import { EventTable } from './event-series.ts';
import type { Series } from './event-series.ts';
import { pause } from '../../base/pause.ts';
import type { Clock } from '../../base/clock.ts';

/** Too many about one object, too many waiting, not taken by the API server, or not reached for too long. */
export type DropReason = 'limited' | 'overflow' | 'refused' | 'unreachable';

export interface EventRecorderOptions extends EventSource {
  readonly clock: Clock;
  onDrop?(reason: DropReason): void;
}

export interface EventRecorder {
  /** Returns at once and never throws. */
  record(event: RecordedEvent): void;
  /** Writes what waits, each once. For the end of the process; resolves soon even when nobody answers. */
  flush(): Promise<void>;
}

export function createEventRecorder(client: KubeClient, options: EventRecorderOptions): EventRecorder {
  return new Recorder(client, options);
}

/** The count of a series is written at most this often. */
const seriesWriteMs = 60_000;
const mostWaiting = 1000;
const requestTimeoutMs = 5000;
/** An Event that could not be written for so long is old news. */
const giveUpMs = 120_000;

const query = { fieldManager };

/** A series whose count the API server does not know yet. */
interface Waiting {
  readonly series: Series;
  readonly dueAt: number;
}

/** When the API server was last told of a series, and whether it has it since. */
interface Attempt {
  readonly at: number;
  readonly isStored: boolean;
}

class Recorder implements EventRecorder {
  readonly #client: KubeClient;
  readonly #options: EventRecorderOptions;
  readonly #table = new EventTable();
  readonly #waiting = new Map<Series, Waiting>();
  readonly #attempts = new WeakMap<Series, Attempt>();
  readonly #backoff: Backoff;
  #resumeAt = -Infinity;
  #isFlushing = false;
  #working: Promise<void> | undefined;
  #wake = new AbortController();
  #named = 0;

  constructor(client: KubeClient, options: EventRecorderOptions) {
    this.#client = client;
    this.#options = options;
    this.#backoff = new Backoff(options.clock);
  }

  record(event: RecordedEvent): void {
    const time = { at: this.#now(), now: this.#options.clock.now() };
    const series = this.#table.count(event, time, () => this.#newName(event));
    if (series === undefined) return this.#options.onDrop?.('limited');
    if (this.#waiting.has(series)) return;
    if (this.#waiting.size >= mostWaiting) return this.#options.onDrop?.('overflow');
    this.#await(series);
    this.#goOn();
  }

  async flush(): Promise<void> {
    this.#isFlushing = true;
    this.#goOn();
    await this.#working;
    this.#isFlushing = false;
  }

  /** Processes do not agree on names, so time alone would not do. */
  #newName(event: RecordedEvent): string {
    this.#named += 1;
    const { clock } = this.#options;
    const chance = Math.floor(clock.random() * 2 ** 40).toString(16);
    return eventName(event, `${clock.now().getTime().toString(16)}${this.#named.toString(16)}${chance}`);
  }

  #await(series: Series): void {
    const attempt = this.#attempts.get(series);
    const dueAt = attempt === undefined ? this.#now() : Math.max(this.#now(), attempt.at + seriesWriteMs);
    this.#waiting.set(series, { series, dueAt });
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }

  #goOn(): void {
    if (this.#waiting.size === 0) return;
    this.#wake.abort();
    this.#wake = new AbortController();
    this.#working ??= this.#work();
  }

  async #work(): Promise<void> {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const waitMs = Math.max(next.dueAt, this.#resumeAt) - this.#now();
      if (waitMs > 0 && !this.#isFlushing) await pause(this.#options.clock, waitMs, this.#wake.signal);
      else await this.#write(next);
    }
    this.#working = undefined;
  }

  #next(): Waiting | undefined {
    let first: Waiting | undefined;
    for (const waiting of this.#waiting.values()) {
      if (first === undefined || waiting.dueAt < first.dueAt) first = waiting;
    }
    return first;
  }

  async #write({ series, dueAt }: Waiting): Promise<void> {
    const { count } = series;
    const at = this.#now();
    const isStored = this.#attempts.get(series)?.isStored === true;
    try {
      await (isStored ? this.#update(series) : this.#create(series));
      this.#backoff.reset();
      this.#told(series, { at, isStored: true }, count);
    } catch (error) {
      const failure = kubeErrorOf(error);
      if (failure.retryable) this.#postpone(series, failure, at - dueAt);
      else this.#giveUp(series, { at, isStored }, failure);
    }
  }

  async #create({ event, name, first, last, count }: Series): Promise<void> {
    const path = eventsPath(event);
    const body = eventObject(event, name, this.#options, { count, first, last });
    try {
      await this.#client.request({ method: 'POST', path, query, body, timeoutMs: requestTimeoutMs });
    } catch (error) {
      // It was made before, by a request whose answer got lost.
      if (kubeErrorOf(error).reason !== 'AlreadyExists') throw error;
    }
  }

  async #update({ event, name, first, last, count }: Series): Promise<void> {
    await this.#client.request({
      method: 'PATCH',
      query,
      path: `${eventsPath(event)}/${name}`,
      contentType: 'application/merge-patch+json',
      body: { series: eventSeries({ count, first, last }) },
      timeoutMs: requestTimeoutMs,
    });
  }

  #told(series: Series, attempt: Attempt, count: number): void {
    this.#attempts.set(series, attempt);
    this.#waiting.delete(series);
    // It happened again in the meantime.
    if (series.count > count) this.#await(series);
  }

  /** All wait, not only this one: it is the server that cannot. At the end of the process there is no later. */
  #postpone(series: Series, { retryAfterMs }: KubeError, lateMs: number): void {
    if (this.#isFlushing) {
      for (const waiting of this.#waiting.keys()) this.#drop(waiting, 'unreachable');
      return;
    }
    this.#resumeAt = this.#now() + this.#backoff.next(retryAfterMs);
    if (lateMs >= giveUpMs) this.#drop(series, 'unreachable');
  }

  /** The namespace is going, or the Event has been forgotten: then the next one of the series is a new Event. */
  #giveUp(series: Series, { at, isStored }: Attempt, { code }: KubeError): void {
    this.#attempts.set(series, { at, isStored: isStored && code !== 404 });
    if (isStored && code === 404) series.name = this.#newName(series.event);
    this.#drop(series, 'refused');
  }

  #drop(series: Series, reason: DropReason): void {
    this.#waiting.delete(series);
    this.#options.onDrop?.(reason);
  }
}

function eventsPath(event: RecordedEvent): string {
  return `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespaceOf(event))}/events`;
}

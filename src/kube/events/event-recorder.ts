// Writes Events about what happened to an object. Callers never wait for an Event, and a lost Event does no harm.
import { fieldManager } from '../../api/names.ts';
import type { Clock } from '../../base/clock.ts';
import type { KubeError } from '../../base/kube-error.ts';
import { pause } from '../../base/pause.ts';
import { kubeErrorOf } from '../http/answers.ts';
import type { KubeClient } from '../http/client.ts';
import { Backoff } from '../../base/backoff.ts';
import { eventBody, eventName, namespaceOf, seriesOf } from './event-object.ts';
import type { EventSource, EventSubject, RecordedEvent } from './event-object.ts';

/** The queue was full, the API server refused the Event, or it was unreachable for too long. */
type DropReason = 'overflow' | 'refused' | 'unreachable';

interface EventRecorderOptions extends EventSource {
  readonly clock: Clock;
  onDrop?(reason: DropReason): void;
}

export interface EventRecorder {
  /** Returns at once and never throws. */
  record(event: RecordedEvent): void;
  /** Writes everything in the queue, each Event once. Resolves soon even when the API server does not answer. */
  flush(): Promise<void>;
}

export function createEventRecorder(client: KubeClient, options: EventRecorderOptions): EventRecorder {
  return new Recorder(client, options);
}

/**
 * Three limits bound the load on the API server: the recorder sends one request at a time, an event is in the queue at
 * most once however often it is repeated, and the queue drops new events when it is full.
 */
const maxQueued = 1000;
/** A repeat of an event that is no longer remembered becomes a new Event. */
const maxRemembered = 4096;
const requestTimeoutMs = 5000;
/** An Event that could not be written for so long is outdated. */
const giveUpMs = 120_000;

const query = { fieldManager };

/** One Event of the API server, and how often it has happened. */
interface Entry {
  readonly key: string;
  readonly event: RecordedEvent;
  readonly first: Date;
  name: string;
  count: number;
  last: Date;
  isStored: boolean;
}

class Recorder implements EventRecorder {
  readonly #client: KubeClient;
  readonly #options: EventRecorderOptions;
  /** The least recently repeated entry is first. */
  readonly #remembered = new Map<string, Entry>();
  /** Entries to create or patch, by key, and since when they wait. */
  readonly #queue = new Map<string, { readonly entry: Entry; readonly since: number }>();
  readonly #backoff: Backoff;
  #resumeAt = -Infinity;
  #flushing = new AbortController();
  #working: Promise<void> | undefined;
  #named = 0;

  constructor(client: KubeClient, options: EventRecorderOptions) {
    this.#client = client;
    this.#options = options;
    this.#backoff = new Backoff(options.clock);
  }

  record(event: RecordedEvent): void {
    const key = keyOf(event);
    const queued = this.#queue.get(key)?.entry;
    if (queued === undefined && this.#queue.size >= maxQueued) return this.#options.onDrop?.('overflow');
    const entry = queued ?? this.#remembered.get(key) ?? this.#newEntry(key, event);
    entry.count += 1;
    entry.last = this.#options.clock.now();
    this.#remember(entry);
    // The next write of a queued entry includes this repeat.
    if (queued === undefined) this.#enqueue(entry);
    this.#working ??= this.#work();
  }

  async flush(): Promise<void> {
    this.#flushing.abort();
    await this.#working;
    this.#flushing = new AbortController();
  }

  #newEntry(key: string, event: RecordedEvent): Entry {
    const first = this.#options.clock.now();
    return { key, event, first, last: first, name: this.#newName(event), count: 0, isStored: false };
  }

  /** Includes a random number, because several processes write Events. */
  #newName(event: RecordedEvent): string {
    this.#named += 1;
    const { clock } = this.#options;
    const chance = Math.floor(clock.random() * 2 ** 40).toString(16);
    return eventName(event, `${clock.now().getTime().toString(16)}${this.#named.toString(16)}${chance}`);
  }

  #remember(entry: Entry): void {
    this.#remembered.delete(entry.key);
    this.#remembered.set(entry.key, entry);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > maxRemembered && oldest !== undefined) this.#remembered.delete(oldest);
  }

  #enqueue(entry: Entry): void {
    this.#queue.set(entry.key, { entry, since: this.#options.clock.monotonic() });
  }

  async #work(): Promise<void> {
    const { clock } = this.#options;
    for (let [next] = this.#queue.values(); next !== undefined; [next] = this.#queue.values()) {
      const waitMs = this.#resumeAt - clock.monotonic();
      const { signal } = this.#flushing;
      if (waitMs > 0 && !signal.aborted) await pause(clock, waitMs, signal);
      else await this.#write(next.entry, next.since);
    }
    this.#working = undefined;
  }

  async #write(entry: Entry, since: number): Promise<void> {
    const { count } = entry;
    const sentAt = this.#options.clock.monotonic();
    try {
      await (entry.isStored ? this.#patch(entry) : this.#create(entry));
      entry.isStored = true;
      this.#backoff.reset();
      this.#queue.delete(entry.key);
      // The event was repeated during the request.
      if (entry.count > count) this.#enqueue(entry);
    } catch (cause) {
      const error = kubeErrorOf(cause);
      if (error.retryable) this.#postpone(entry, error, sentAt - since);
      else if (entry.isStored && error.code === 404) this.#createAgain(entry);
      else this.#drop(entry, 'refused');
    }
  }

  async #create({ event, name, ...occurrences }: Entry): Promise<void> {
    const path = eventsPath(event);
    const body = eventBody(event, name, this.#options, occurrences);
    try {
      await this.#client.request({ method: 'POST', path, query, body, timeoutMs: requestTimeoutMs });
    } catch (error) {
      // An earlier request created it, and its answer was lost.
      if (kubeErrorOf(error).reason !== 'AlreadyExists') throw error;
    }
  }

  /** https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/: `series` */
  async #patch({ event, name, ...occurrences }: Entry): Promise<void> {
    await this.#client.request({
      method: 'PATCH',
      query,
      path: `${eventsPath(event)}/${name}`,
      contentType: 'application/merge-patch+json',
      body: { series: seriesOf(occurrences) },
      timeoutMs: requestTimeoutMs,
    });
  }

  /** All entries wait, because the server is the cause. At the end of the process there is no later. */
  #postpone(entry: Entry, { retryAfterMs }: KubeError, waitedMs: number): void {
    if (this.#flushing.signal.aborted) {
      for (const queued of this.#queue.values()) this.#drop(queued.entry, 'unreachable');
      return;
    }
    this.#resumeAt = this.#options.clock.monotonic() + this.#backoff.next(retryAfterMs);
    if (waitedMs >= giveUpMs) this.#drop(entry, 'unreachable');
  }

  /** The Event expired or was deleted; the entry stays in the queue. */
  #createAgain(entry: Entry): void {
    entry.isStored = false;
    entry.name = this.#newName(entry.event);
  }

  #drop(entry: Entry, reason: DropReason): void {
    this.#queue.delete(entry.key);
    if (!entry.isStored) this.#remembered.delete(entry.key);
    this.#options.onDrop?.(reason);
  }
}

function eventsPath(event: RecordedEvent): string {
  return `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespaceOf(event))}/events`;
}

/** Two events with the same key are the same event. */
function keyOf({ regarding, related, type, reason, action, note, namespace }: RecordedEvent): string {
  const about = [identityOf(regarding), related && identityOf(related)];
  return JSON.stringify([...about, type, reason, action, note, namespace]);
}

function identityOf({ apiVersion, kind, namespace, name, uid }: EventSubject): readonly unknown[] {
  return [apiVersion, kind, namespace, name, uid];
}

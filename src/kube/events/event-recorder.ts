// Writes Events about what happened to an object. Callers never wait for an Event, and a lost Event does no harm.
import { fieldManager, group } from '../../schema/names.ts';
import type { Clock } from '../../base/clock.ts';
import type { KubeError } from '../../base/kube-error.ts';
import { pause } from '../../base/abort.ts';
import { kubeErrorOf } from '../http/answers.ts';
import type { KubeClient } from '../http/client.ts';
import { Backoff } from '../../base/backoff.ts';
import type { BusyQueue, EventObject, RecordedEvent, YieldingEvents } from '../../base/recorded-event.ts';
import { subdomainPattern } from '../../base/kubernetes-names.ts';
import type { JsonObject } from '../../base/json.ts';
import { clippedBytes } from '../../base/text.ts';
import { microTime } from '../../base/time.ts';

// Holds the events that wait to be written. The queue is bounded, and Warnings have precedence in a full queue.

/** Why an event was dropped. */
type DropReason =
  /** Too many Normal events about the same object were in the queue. */
  | 'limited'
  /** The queue was full. */
  | 'overflow'
  /** The API server refused the Event. */
  | 'refused'
  /** The API server was unreachable for too long. */
  | 'unreachable';

/** An Event that waits to be written, and how often it has happened. */
interface QueuedEvent {
  readonly key: string;
  /** Identifies the object that the event regards. */
  readonly subject: string;
  readonly event: RecordedEvent;
  name: string;
  count: number;
  first: Date;
  last: Date;
  isStored: boolean;
}

interface Place {
  readonly entry: QueuedEvent;
  /** When the entry was queued. */
  readonly since: number;
}

/**
 * Three limits bound the load on the API server. The recorder sends one request at a time. An event is in the queue at most
 * once, however often it is repeated. A full queue drops events.
 */
const maxQueued = 1000;
/** An object that others keep changing back in different ways must not fill the queue. */
const maxNormalPerObject = 25;

class EventQueue {
  readonly #places = new Map<string, Place>();
  /** Counts by subject. Counting the queue for each event took 2 % of a burst. */
  readonly #normal = new Map<string, number>();
  /** The entry of the request that is being sent. It keeps its place. */
  sending: QueuedEvent | undefined;

  get first(): Place | undefined {
    const [first] = this.#places.values();
    return first;
  }

  get(key: string): Place | undefined {
    return this.#places.get(key);
  }

  entries(): readonly QueuedEvent[] {
    return [...this.#places.values()].map(({ entry }) => entry);
  }

  /** Adds an event that is not in the queue yet. */
  add(entry: QueuedEvent, since: number): void {
    this.#places.set(entry.key, { entry, since });
    this.#count(entry, 1);
  }

  delete(key: string): void {
    const place = this.#places.get(key);
    if (place === undefined) return;
    this.#places.delete(key);
    this.#count(place.entry, -1);
  }

  /** Returns why there is no room, or the entry whose place the new event takes. */
  obstacleTo({ type, regarding }: RecordedEvent): DropReason | QueuedEvent | undefined {
    if (type === 'Normal' && (this.#normal.get(subjectKeyOf(regarding)) ?? 0) >= maxNormalPerObject)
      return 'limited';
    if (this.#places.size < maxQueued) return undefined;
    return (type === 'Warning' ? this.#oldestNormal() : undefined) ?? 'overflow';
  }

  #count({ subject, event }: QueuedEvent, change: 1 | -1): void {
    if (event.type !== 'Normal') return;
    const count = (this.#normal.get(subject) ?? 0) + change;
    if (count === 0) this.#normal.delete(subject);
    else this.#normal.set(subject, count);
  }

  #oldestNormal(): QueuedEvent | undefined {
    for (const { entry } of this.#places.values())
      if (entry.event.type === 'Normal' && entry !== this.sending) return entry;
    return undefined;
  }
}

/** Two events with the same key are the same event. */
function eventKeyOf({ regarding, related, type, reason, action, note }: RecordedEvent): string {
  const about = [identityOf(regarding), related && identityOf(related)];
  return JSON.stringify([...about, type, reason, action, note]);
}

function subjectKeyOf(subject: EventObject): string {
  return JSON.stringify(identityOf(subject));
}

function identityOf({ apiVersion, kind, namespace, name, uid }: EventObject): readonly unknown[] {
  return [apiVersion, kind, namespace, name, uid];
}

interface EventRecorderOptions {
  /** The name of the pod of this process. */
  readonly instance: string;
  readonly clock: Clock;
  onDrop?(reason: DropReason): void;
}

/** A repeat of an event that is no longer remembered becomes a new Event. */
const maxRemembered = 4096;
const requestTimeoutMs = 5000;
/** An Event that could not be written for so long is outdated. */
const giveUpMs = 120_000;

/** The longest wait of an Event while the process is busy, and the interval at which the recorder looks again. */
const maxBusyMs = 5000;
const busyPollMs = 50;

const query = { fieldManager };

export class KubeEventRecorder implements YieldingEvents {
  readonly #client: KubeClient;
  readonly #options: EventRecorderOptions;
  /** The least recently repeated entry is first. */
  readonly #remembered = new Map<string, QueuedEvent>();
  readonly #queue = new EventQueue();
  readonly #backoff: Backoff;
  #resumeAt = -Infinity;
  #flushing = new AbortController();
  #working: Promise<void> | undefined;
  #named = 0;
  #busyQueue: BusyQueue | undefined;

  constructor(client: KubeClient, options: EventRecorderOptions) {
    this.#client = client;
    this.#options = options;
    this.#backoff = new Backoff(options.clock);
  }

  record(event: RecordedEvent): void {
    const key = eventKeyOf(event);
    const queued = this.#queue.get(key)?.entry;
    const obstacle = queued === undefined ? this.#queue.obstacleTo(event) : undefined;
    if (typeof obstacle === 'string') return this.#options.onDrop?.(obstacle);
    if (obstacle !== undefined) this.#drop(obstacle, 'overflow');
    const entry = queued ?? this.#remembered.get(key) ?? this.#newEntry(key, event);
    entry.count += 1;
    entry.last = this.#options.clock.now();
    this.#remember(entry);
    // The next write of a queued entry includes this repeat.
    if (queued === undefined) this.#queue.add(entry, this.#options.clock.monotonic());
    this.#working ??= this.#work();
  }

  yieldTo(queue: BusyQueue): void {
    this.#busyQueue = queue;
  }

  /** Writes everything in the queue, each Event once. Resolves soon even when the API server does not answer. */
  async flush(): Promise<void> {
    this.#flushing.abort();
    await this.#working;
    this.#flushing = new AbortController();
  }

  #newEntry(key: string, event: RecordedEvent): QueuedEvent {
    const first = this.#options.clock.now();
    const subject = subjectKeyOf(event.regarding);
    return { key, subject, event, first, last: first, name: this.#newName(event), count: 0, isStored: false };
  }

  /** Includes a random number, because several processes write Events. */
  #newName(event: RecordedEvent): string {
    this.#named += 1;
    const { clock } = this.#options;
    const chance = Math.floor(clock.random() * 2 ** 40).toString(16);
    return eventName(event, `${clock.now().getTime().toString(16)}${this.#named.toString(16)}${chance}`);
  }

  #remember(entry: QueuedEvent): void {
    this.#remembered.delete(entry.key);
    this.#remembered.set(entry.key, entry);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > maxRemembered && oldest !== undefined) this.#remembered.delete(oldest);
  }

  async #work(): Promise<void> {
    const { clock } = this.#options;
    for (let next = this.#queue.first; next !== undefined; next = this.#queue.first) {
      const waitMs = Math.max(this.#resumeAt - clock.monotonic(), this.#busyWaitMs(next.since));
      const { signal } = this.#flushing;
      if (waitMs > 0 && !signal.aborted) await pause(clock, waitMs, signal);
      else await this.#write(next.entry, next.since);
    }
    this.#working = undefined;
  }

  #busyWaitMs(since: number): number {
    return this.#busyQueue?.isBusy === true && this.#options.clock.monotonic() - since < maxBusyMs
      ? busyPollMs
      : 0;
  }

  async #write(entry: QueuedEvent, since: number): Promise<void> {
    const { count } = entry;
    const sentAt = this.#options.clock.monotonic();
    this.#queue.sending = entry;
    try {
      await (entry.isStored ? this.#patch(entry) : this.#create(entry));
      entry.isStored = true;
      this.#backoff.reset();
      this.#queue.delete(entry.key);
      // The event was repeated during the request.
      if (entry.count > count) this.#queue.add(entry, this.#options.clock.monotonic());
    } catch (cause) {
      const error = kubeErrorOf(cause);
      if (error.retryable) this.#postpone(entry, error, sentAt - since);
      else if (entry.isStored && error.code === 404) this.#createAgain(entry);
      else this.#drop(entry, 'refused');
    } finally {
      this.#queue.sending = undefined;
    }
  }

  async #create(entry: QueuedEvent): Promise<void> {
    const path = eventsPath(entry.event);
    const body = eventBody(entry, this.#options.instance);
    try {
      await this.#client.request({ method: 'POST', path, query, body, timeoutMs: requestTimeoutMs });
    } catch (error) {
      // An earlier request created it, and its answer was lost.
      if (kubeErrorOf(error).reason !== 'AlreadyExists') throw error;
    }
  }

  /** https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/: `series` */
  async #patch({ event, name, ...occurrences }: QueuedEvent): Promise<void> {
    await this.#client.request({
      method: 'PATCH',
      query,
      path: `${eventsPath(event)}/${name}`,
      contentType: 'application/merge-patch+json',
      body: { series: seriesOf(occurrences) },
      timeoutMs: requestTimeoutMs,
    });
  }

  /** Lets all entries wait, because the server is the cause. At the end of the process, nothing waits. */
  #postpone(entry: QueuedEvent, { retryAfterMs }: KubeError, waitedMs: number): void {
    if (this.#flushing.signal.aborted) {
      for (const each of this.#queue.entries()) this.#drop(each, 'unreachable');
      return;
    }
    this.#resumeAt = this.#options.clock.monotonic() + this.#backoff.next(retryAfterMs);
    if (waitedMs >= giveUpMs) this.#drop(entry, 'unreachable');
  }

  /** Creates the Event again, because it expired or was deleted. The new Event starts its own count. */
  #createAgain(entry: QueuedEvent): void {
    entry.isStored = false;
    entry.count = 1;
    entry.first = entry.last;
    entry.name = this.#newName(entry.event);
  }

  #drop(entry: QueuedEvent, reason: DropReason): void {
    this.#queue.delete(entry.key);
    if (!entry.isStored) this.#remembered.delete(entry.key);
    this.#options.onDrop?.(reason);
  }
}

function eventsPath(event: RecordedEvent): string {
  return `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespaceOf(event))}/events`;
}

// Builds an Event in the form that the API server accepts.
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/

/**
 * Limits of the API server.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/events.go
 */
const maxWordBytes = 128;
const maxNoteBytes = 1024;
const maxNameLength = 253;

const reportingController = `${group}/reeve`;

/** The API server takes Events about cluster-scoped objects in this namespace. */
function namespaceOf({ regarding: { namespace = 'default' } }: RecordedEvent): string {
  return namespace;
}

/** Starts with the name of the object, so that people find the Event, and ends with the unique part. */
function eventName({ regarding }: RecordedEvent, unique: string): string {
  // A Role may have a name that is not allowed for an Event.
  // https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
  const base = wholeSubdomain.test(regarding.name) ? regarding.name : regarding.kind.toLowerCase();
  const room = maxNameLength - unique.length - 1;
  return `${base.slice(0, room).replace(/[-.]+$/, '')}.${unique}`;
}

const wholeSubdomain = new RegExp(`^${subdomainPattern}$`);

function eventBody({ event, name, ...occurrences }: QueuedEvent, instance: string): JsonObject {
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace: namespaceOf(event) },
    eventTime: microTime(occurrences.first),
    ...(occurrences.count < 2 ? {} : { series: seriesOf(occurrences) }),
    reportingController,
    reportingInstance: clippedBytes(instance, maxWordBytes),
    regarding: event.regarding,
    ...(event.related === undefined ? {} : { related: event.related }),
    type: event.type,
    reason: clippedBytes(event.reason, maxWordBytes),
    action: clippedBytes(event.action, maxWordBytes),
    note: clippedBytes(event.note, maxNoteBytes),
  };
}

function seriesOf({ count, last }: Pick<QueuedEvent, 'count' | 'last'>): JsonObject {
  return { count, lastObservedTime: microTime(last) };
}

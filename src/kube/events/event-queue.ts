// Holds the events that wait to be written. The queue is bounded, and Warnings have precedence in a full queue.
import type { EventSubject, RecordedEvent } from './event-object.ts';

/** Why an event was dropped. */
export type DropReason =
  /** Too many Normal events about the same object were in the queue. */
  | 'limited'
  /** The queue was full. */
  | 'overflow'
  /** The API server refused the Event. */
  | 'refused'
  /** The API server was unreachable for too long. */
  | 'unreachable';

/** One Event of the API server, and how often it has happened. */
export interface QueuedEvent {
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

interface Room {
  /** Why there is no room. */
  readonly problem?: DropReason;
  /** The entry whose place the event takes. */
  readonly evicts?: QueuedEvent;
}

/**
 * Three limits bound the load on the API server: the recorder sends one request at a time, an event is in the queue at
 * most once however often it is repeated, and the queue drops events when it is full.
 */
const maxQueued = 1000;
/** One object must not fill the queue, for example one that others keep changing back in different ways. */
const maxNormalPerObject = 25;

export class EventQueue {
  readonly #places = new Map<string, Place>();
  /** By subject. Counting them again for each event took 2 % of a burst. */
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

  /** Call it only for an event that is not in the queue. */
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

  /** Call it only for an event that is not in the queue. */
  roomFor({ type, regarding }: RecordedEvent): Room {
    if (type === 'Normal' && (this.#normal.get(subjectKeyOf(regarding)) ?? 0) >= maxNormalPerObject)
      return { problem: 'limited' };
    if (this.#places.size < maxQueued) return {};
    const oldest = type === 'Warning' ? this.#oldestNormal() : undefined;
    return oldest === undefined ? { problem: 'overflow' } : { evicts: oldest };
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
export function eventKeyOf({
  regarding,
  related,
  type,
  reason,
  action,
  note,
  namespace,
}: RecordedEvent): string {
  const about = [identityOf(regarding), related && identityOf(related)];
  return JSON.stringify([...about, type, reason, action, note, namespace]);
}

export function subjectKeyOf(subject: EventSubject): string {
  return JSON.stringify(identityOf(subject));
}

function identityOf({ apiVersion, kind, namespace, name, uid }: EventSubject): readonly unknown[] {
  return [apiVersion, kind, namespace, name, uid];
}

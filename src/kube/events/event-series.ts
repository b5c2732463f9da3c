// Which events are the same as one before, and which come so often that nobody would read them; in bounded memory.
// The figures are those of client-go: https://github.com/kubernetes/client-go/blob/master/tools/record/events_cache.go
import type { EventSubject, RecordedEvent } from './event-object.ts';
import { RecentMap } from './recent-map.ts';

/** One Event of the API server, however often it happens. */
export interface Series {
  readonly event: RecordedEvent;
  readonly first: Date;
  name: string;
  count: number;
  last: Date;
  lastAt: number;
}

/** After so long without another one, the next is a new Event. */
const seriesMs = 360_000;
/** Of one object and type: so many Events at once, and then one in five minutes. */
const burst = 25;
const refillMs = 300_000;
const mostRemembered = 1000;

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

export class EventTable {
  readonly #series = new RecentMap<string, Series>(mostRemembered);
  readonly #buckets = new RecentMap<string, Bucket>(mostRemembered);

  /** The series that it continues; else a new one, with a name that is asked for only then, if its object has room. */
  count(
    event: RecordedEvent,
    time: { readonly at: number; readonly now: Date },
    name: () => string,
  ): Series | undefined {
    const key = keyOf(event);
    const known = this.#series.get(key);
    if (known !== undefined && time.at - known.lastAt < seriesMs) {
      known.count += 1;
      known.last = time.now;
      known.lastAt = time.at;
      return known;
    }
    if (!this.#hasRoom(event, time.at)) return undefined;
    const series = { event, first: time.now, name: name(), count: 1, last: time.now, lastAt: time.at };
    this.#series.set(key, series);
    return series;
  }

  /** However much goes well, what goes wrong has room of its own. */
  #hasRoom({ regarding, type }: RecordedEvent, at: number): boolean {
    const key = JSON.stringify([type, identityOf(regarding)]);
    const before = this.#buckets.get(key) ?? { tokens: burst, at };
    const tokens = Math.min(burst, before.tokens + (at - before.at) / refillMs);
    const hasRoom = tokens >= 1;
    this.#buckets.set(key, { tokens: hasRoom ? tokens - 1 : tokens, at });
    return hasRoom;
  }
}

function keyOf({ regarding, related, type, reason, action, note, namespace }: RecordedEvent): string {
  return JSON.stringify([
    identityOf(regarding),
    related && identityOf(related),
    type,
    reason,
    action,
    note,
    namespace,
  ]);
}

function identityOf({ apiVersion, kind, namespace, name, uid }: EventSubject): readonly unknown[] {
  return [apiVersion, kind, namespace, name, uid];
}

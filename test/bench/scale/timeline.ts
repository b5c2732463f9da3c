// Virtual time: events in the order of their due time, and stations that serve jobs on a number of places.

interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/** Times are milliseconds. Events of the same time run in the order in which they were added. */
export class Timeline {
  now = 0;
  readonly #heap: Event[] = [];
  #added = 0;

  after(milliseconds: number, run: () => void): void {
    this.#added += 1;
    this.#push({ at: this.now + milliseconds, order: this.#added, run });
  }

  /** Runs until no event is left. */
  run(): void {
    for (let event = this.#shift(); event !== undefined; event = this.#shift()) {
      this.now = event.at;
      event.run();
    }
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let index = heap.length;
    while (index > 0) {
      const parent = heap[(index - 1) >> 1];
      if (parent === undefined || isBefore(parent, event)) break;
      heap[index] = parent;
      index = (index - 1) >> 1;
    }
    heap[index] = event;
  }

  #shift(): Event | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      const child = earlierChild(heap, index);
      const below = heap[child];
      if (below === undefined || isBefore(last, below)) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

/** Serves jobs in the order of their arrival, as many at once as it has places. */
export class Station {
  /** The time that all places together have worked. */
  busyMs = 0;
  readonly #timeline: Timeline;
  readonly #places: number;
  readonly #waiting = new Line<{
    readonly msOf: (inProgress: number) => number;
    readonly done: () => void;
  }>();
  #inProgress = 0;

  constructor(timeline: Timeline, places: number) {
    this.#timeline = timeline;
    this.#places = places;
  }

  /** `msOf` returns how long a job takes that starts beside so many others, itself included. */
  serve(msOf: (inProgress: number) => number, done: () => void): void {
    this.#waiting.push({ msOf, done });
    this.#start();
  }

  #start(): void {
    if (this.#inProgress === this.#places) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#inProgress += 1;
    const milliseconds = next.msOf(this.#inProgress);
    this.busyMs += milliseconds;
    this.#timeline.after(milliseconds, () => {
      this.#inProgress -= 1;
      next.done();
      this.#start();
    });
  }
}

/** First in, first out. Array.shift moves all items, which is slow for 200,000. */
export class Line<T> {
  readonly #items: T[] = [];
  #head = 0;

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const first = this.#items[this.#head];
    if (this.#head < this.#items.length) this.#head += 1;
    return first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function earlierChild(heap: readonly Event[], index: number): number {
  const [left, right] = [heap[2 * index + 1], heap[2 * index + 2]];
  return left !== undefined && right !== undefined && isBefore(right, left) ? 2 * index + 2 : 2 * index + 1;
}

// Reads the events of one watch, each when a test asks for it.
import { createInterface } from 'node:readline';
import type { ApiObject, Opened } from './answers.ts';

export interface WatchEvent {
  readonly type: string;
  readonly object: ApiObject;
}

const patienceMs = 30_000;

export class Watch implements AsyncDisposable {
  readonly #close: () => void;
  readonly #lines: AsyncIterator<string>;

  constructor({ response, close }: Opened) {
    this.#close = close;
    // A watch that the test closes ends with an error that says so.
    response.on('error', () => undefined);
    this.#lines = createInterface({ input: response })[Symbol.asyncIterator]();
  }

  async next(): Promise<WatchEvent> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error('the watch brings no event')), patienceMs);
    try {
      const line = await Promise.race([this.#lines.next(), late]);
      if (line.done === true) throw new Error('the watch has ended');
      return JSON.parse(line.value) as WatchEvent;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Returns the given number of events as `ADDED name`. Bookmarks may come at any time and are left out. */
  async take(count: number): Promise<readonly string[]> {
    const seen: string[] = [];
    while (seen.length < count) {
      const { type, object } = await this.next();
      if (type !== 'BOOKMARK') seen.push(`${type} ${object.metadata.name}`);
    }
    return seen;
  }

  /** Returns the first event that fits, and drops the events before it. */
  async find(fits: (event: WatchEvent) => boolean): Promise<WatchEvent> {
    for (;;) {
      const event = await this.next();
      if (fits(event)) return event;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#close();
    return Promise.resolve();
  }
}

// Reads one watch from one version: its lines and events, until it ends for whatever reason.
import { isUtf8 } from 'node:buffer';
import type { Clock } from '../../base/clock.ts';
import type { KubeError } from '../../base/kube-error.ts';
import { pause } from '../../base/pause.ts';
import { kubeErrorOf, noAnswer, malformedAnswer } from '../http/answers.ts';
import type { KubeClient, KubeRequest } from '../http/client.ts';
import { readWatchEvent, type WatchEvent } from './watch-events.ts';

interface WatchOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** How long a watch may be silent. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
  /** If true, the objects keep their managedFields. */
  readonly keepsManagers?: boolean;
  /** Called when the server has accepted the watch. */
  onOpen(): void;
}

/** Ends normally when the server ends the watch or the signal aborts; otherwise the last event is of kind `failed`. */
export async function* watchStream(
  client: KubeClient,
  request: KubeRequest,
  options: WatchOptions,
): AsyncGenerator<WatchEvent> {
  const silence = new SilenceTimer(options);
  const timing = silence.run();
  try {
    const chunks = await client.stream({ ...request, signal: silence.signal });
    options.onOpen();
    for await (const line of linesOf(chunks)) {
      silence.restart();
      const event = readWatchEvent(line, options);
      yield event;
      if (event.kind === 'failed') return;
    }
    if (silence.isOver) yield { kind: 'failed', error: stalled() };
  } catch (error) {
    if (!options.signal.aborted)
      yield { kind: 'failed', error: silence.isOver ? stalled() : kubeErrorOf(error) };
  } finally {
    silence.end();
    await timing;
  }
}

function stalled(): KubeError {
  return noAnswer('Stalled');
}

/** Aborts a watch that is silent too long: the server sends bookmarks, so its connection must be lost. */
class SilenceTimer {
  readonly #options: WatchOptions;
  readonly #ended = new AbortController();
  readonly signal: AbortSignal;
  #lastHeard: number;
  #isOver = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.signal = AbortSignal.any([options.signal, this.#ended.signal]);
    this.#lastHeard = options.clock.monotonic();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  restart(): void {
    this.#lastHeard = this.#options.clock.monotonic();
  }

  end(): void {
    this.#ended.abort();
  }

  async run(): Promise<void> {
    const { clock, stallMs } = this.#options;
    while (!this.signal.aborted) {
      const left = this.#lastHeard + stallMs - clock.monotonic();
      if (left > 0) {
        await pause(clock, left, this.signal);
      } else {
        this.#isOver = true;
        this.#ended.abort();
      }
    }
  }
}

const newline = 0x0a;

/** An object has a few MiB at most. A longer line is not from a watch, and would fill the memory. */
const maxLineBytes = 64 * 1024 * 1024;

/** Yields complete lines and drops an incomplete last one. Throws a KubeError, or the error of the chunks. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes = maxLineBytes,
): AsyncGenerator<string> {
  const line = new LineBuffer(maxBytes);
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      line.add(chunk.subarray(from, end));
      from = end + 1;
      const text = line.take();
      if (text.trim() !== '') yield text;
    }
    line.add(chunk.subarray(from));
  }
}

/** Collects bytes, not text, because a chunk may end inside a character. */
class LineBuffer {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(part: Uint8Array): void {
    this.#length += part.length;
    if (this.#length > this.#maxBytes) throw malformedAnswer();
    if (part.length > 0) this.#parts.push(part);
  }

  take(): string {
    const bytes = Buffer.concat(this.#parts, this.#length);
    this.#parts = [];
    this.#length = 0;
    return decoded(bytes);
  }
}

function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformedAnswer();
  return bytes.toString('utf8');
}

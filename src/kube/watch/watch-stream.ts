// One watch from one version on: its events until it ends, whatever makes it end.
import type { KubeError } from '../../base/kube-error.ts';
import { kubeErrorOf, noAnswer } from '../http/answer-fault.ts';
import type { KubeClient, KubeRequest } from '../http/client.ts';
import { pause } from '../../base/pause.ts';
import type { Clock } from '../../base/clock.ts';
import { readWatchEvent } from './watch-events.ts';
import type { WatchEvent } from './watch-events.ts';
import { linesOf } from './watch-lines.ts';

export interface WatchOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** How long a watch may say nothing. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
  /** The server has accepted the watch. */
  onOpen(): void;
}

/** Ends silently when the server ends it or the signal aborts, and with an event of kind `failed` otherwise. */
export async function* watchStream(
  client: KubeClient,
  request: KubeRequest,
  options: WatchOptions,
): AsyncGenerator<WatchEvent> {
  const watchdog = new Watchdog(options);
  const guarding = watchdog.guard();
  try {
    const chunks = await client.stream({ ...request, signal: watchdog.signal });
    options.onOpen();
    for await (const line of linesOf(chunks)) {
      watchdog.heard();
      const event = readWatchEvent(line);
      yield event;
      if (event.kind === 'failed') return;
    }
    if (watchdog.hasBitten) yield { kind: 'failed', error: stalled() };
  } catch (error) {
    if (!options.signal.aborted)
      yield { kind: 'failed', error: watchdog.hasBitten ? stalled() : kubeErrorOf(error) };
  } finally {
    watchdog.dismiss();
    await guarding;
  }
}

function stalled(): KubeError {
  return noAnswer('Stalled');
}

/** An API server says something from time to time, so a watch that is silent for longer has lost its own untold. */
class Watchdog {
  readonly #options: WatchOptions;
  readonly #ended = new AbortController();
  readonly signal: AbortSignal;
  #lastHeard: number;
  #hasBitten = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.signal = AbortSignal.any([options.signal, this.#ended.signal]);
    this.#lastHeard = options.clock.monotonic();
  }

  get hasBitten(): boolean {
    return this.#hasBitten;
  }

  heard(): void {
    this.#lastHeard = this.#options.clock.monotonic();
  }

  dismiss(): void {
    this.#ended.abort();
  }

  async guard(): Promise<void> {
    const { clock, stallMs } = this.#options;
    while (!this.signal.aborted) {
      const left = this.#lastHeard + stallMs - clock.monotonic();
      if (left > 0) {
        await pause(clock, left, this.signal);
      } else {
        this.#hasBitten = true;
        this.#ended.abort();
      }
    }
  }
}

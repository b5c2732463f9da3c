// Sends spans in batches. It never delays the work that it reports on: when too many wait, spans are dropped.
import { isAborted } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/error-code.ts';
import { pause } from '../base/pause.ts';
import type { MetricsRegistry } from './registry.ts';
import type { Span } from './tracer.ts';

export class TraceMetrics {
  readonly spans;

  constructor(registry: MetricsRegistry) {
    this.spans = registry.counter(
      'reeve_trace_spans_total',
      'With --trace-endpoint: spans sent, failed (the collector did not accept them), or dropped (too many waited).',
      ['result'],
    );
    for (const result of ['sent', 'failed', 'dropped']) this.spans.inc({ result }, 0);
  }
}

export interface TraceExporterPorts {
  /** Rejects when the collector does not accept the spans. */
  readonly send: (spans: readonly Span[], signal: AbortSignal) => Promise<void>;
  readonly metrics: TraceMetrics;
  /** Called when sending begins to fail. */
  readonly failing: (reason: string) => void;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** Some megabytes at most. */
const maxQueued = 4096;
const maxBatch = 512;
const intervalMs = 1000;
const sendMs = 10_000;
const flushMs = 2000;

export class TraceExporter {
  readonly #ports: TraceExporterPorts;
  readonly #closing = new AbortController();
  readonly #queue: Span[] = [];
  readonly #ended: Promise<void>;
  #isFailing = false;

  constructor(ports: TraceExporterPorts) {
    this.#ports = ports;
    this.#ended = this.#run();
  }

  add(span: Span): void {
    if (this.#queue.length < maxQueued) this.#queue.push(span);
    else this.#ports.metrics.spans.inc({ result: 'dropped' });
  }

  /** Sends what waits, for two seconds at most. The signal ends it at once. */
  async close(signal: AbortSignal): Promise<void> {
    this.#closing.abort();
    await Promise.race([this.#ended, pause(this.#ports.clock, flushMs, signal)]);
  }

  /** After a failure the rest waits for the next interval, so a collector that is down is asked once a second. */
  async #run(): Promise<void> {
    do {
      await pause(this.#ports.clock, intervalMs, this.#closing.signal);
      while (this.#queue.length > 0) if (!(await this.#send(this.#queue.splice(0, maxBatch)))) break;
    } while (!isAborted(this.#closing.signal));
  }

  async #send(batch: readonly Span[]): Promise<boolean> {
    const { send, metrics, failing } = this.#ports;
    const reason = await send(batch, AbortSignal.timeout(sendMs)).then(
      () => undefined,
      (error: unknown) => errorCode(error) ?? 'Unknown',
    );
    const hasFailed = reason !== undefined;
    metrics.spans.inc({ result: hasFailed ? 'failed' : 'sent' }, batch.length);
    if (hasFailed && !this.#isFailing) failing(reason);
    this.#isFailing = hasFailed;
    return !hasFailed;
  }
}

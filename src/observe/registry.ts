// Keeps the metrics and renders them as text; the only file that knows prom-client.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Log } from './log.ts';

/**
 * Time between samples of the delay of the event loop. The default of prom-client, 10 ms, wakes an idle process 100 times a
 * second, which took three quarters of its processor time.
 */
const loopSampleMs = 100;

export class MetricsRegistry {
  readonly #registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: loopSampleMs });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  render(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Label values must be chosen by Reeve, never by users. */
  counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  gauge<L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] });
  }

  /** Adds a gauge whose value is read whenever the metrics are read. */
  measured(name: string, help: string, measure: () => number): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect: () => gauge.set(measure()),
    });
  }

  /** Adds a counter whose value is read whenever the metrics are read. */
  counted(name: string, help: string, count: () => number): void {
    const counter: Counter = new Counter({
      name,
      help,
      registers: [this.#registry],
      collect: () => {
        counter.reset();
        counter.inc(count());
      },
    });
  }

  /** As `measured`, with one value for each set of labels. A set that is missing in the result is no longer shown. */
  measuredEach<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    measure: () => Iterable<readonly [labels: Readonly<Record<L, string>>, value: number]>,
  ): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect: () => {
        gauge.reset();
        for (const [labels, value] of measure()) gauge.set(labels, value);
      },
    });
  }

  histogram<L extends string>(name: string, help: string, labelNames: L[], buckets: number[]): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.#registry] });
  }
}

// Counts the lines that the log has dropped.

export function countDroppedLines(registry: MetricsRegistry, log: Pick<Log, 'dropped'>): void {
  registry.counted(
    'reeve_log_dropped_lines_total',
    'Log lines dropped, because their reader was too slow or a disk was full, and 1 MiB of lines waited.',
    () => log.dropped(),
  );
}

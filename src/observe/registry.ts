// Keeps the metrics and renders them as text; the only file that knows prom-client.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export class MetricsRegistry {
  readonly #registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
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

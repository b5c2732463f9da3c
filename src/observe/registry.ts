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

  /** As `measured`, with one value per label. A label value that is missing in the result is no longer shown. */
  measuredEach(name: string, help: string, label: string, measure: () => ReadonlyMap<string, number>): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.#registry],
      collect: () => {
        gauge.reset();
        for (const [value, measured] of measure()) gauge.labels(value).set(measured);
      },
    });
  }

  histogram<L extends string>(name: string, help: string, labelNames: L[], buckets: number[]): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.#registry] });
  }
}

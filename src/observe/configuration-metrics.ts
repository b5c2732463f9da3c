// The metrics of keeping the webhook configurations.
import type { MetricsRegistry } from './registry.ts';

export class ConfigurationMetrics {
  readonly #repairs;

  /** A counter that is there from the start can be alerted on before it first moves. */
  constructor(registry: MetricsRegistry, kinds: readonly string[], faults: readonly string[]) {
    this.#repairs = registry.counter(
      'reeve_webhook_configuration_repairs_total',
      'What others had done to the webhook configurations, and was put right.',
      ['kind', 'found'],
    );
    for (const kind of kinds) for (const found of faults) this.#repairs.inc({ kind, found }, 0);
  }

  repaired(kind: string, found: string): void {
    this.#repairs.inc({ kind, found });
  }
}

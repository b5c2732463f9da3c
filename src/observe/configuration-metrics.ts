// Counts the repairs of the webhook configurations.
import type { MetricsRegistry } from './registry.ts';

export class ConfigurationMetrics {
  readonly #repairs;

  /** Alerts need counters that exist before their first increase, so all labels are set to 0. */
  constructor(registry: MetricsRegistry, kinds: readonly string[], differences: readonly string[]) {
    this.#repairs = registry.counter(
      'reeve_webhook_configuration_repairs_total',
      'Repairs of the webhook configurations after changes by others.',
      ['kind', 'found'],
    );
    for (const kind of kinds) for (const found of differences) this.#repairs.inc({ kind, found }, 0);
  }

  repaired(kind: string, found: string): void {
    this.#repairs.inc({ kind, found });
  }
}

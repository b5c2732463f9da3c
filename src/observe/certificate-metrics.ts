// Reports the expiry, renewals and recoveries of the webhook's certificates.
import type { MetricsRegistry } from './registry.ts';

export class CertificateMetrics {
  readonly #expiry;
  readonly #renewals;
  readonly #recoveries;

  constructor(registry: MetricsRegistry) {
    this.#expiry = registry.gauge(
      'reeve_certificate_expiry_timestamp_seconds',
      'Expiry of the serving certificate and of the signing authority, in seconds since 1970.',
      ['certificate'],
    );
    this.#renewals = registry.counter(
      'reeve_certificate_renewals_total',
      'Renewals of the serving certificate and of the signing authority.',
      ['certificate'],
    );
    this.#recoveries = registry.counter(
      'reeve_certificate_recoveries_total',
      'Recoveries of the Secret of the authority after it was lost, changed or expired.',
      ['cause'],
    );
    for (const certificate of ['serving', 'authority']) this.#renewals.inc({ certificate }, 0);
    for (const cause of ['missing', 'corrupt', 'expired', 'foreign']) this.#recoveries.inc({ cause }, 0);
  }

  expires(certificate: 'serving' | 'authority', notAfter: Date): void {
    this.#expiry.set({ certificate }, notAfter.getTime() / 1000);
  }

  renewed(certificate: 'serving' | 'authority'): void {
    this.#renewals.inc({ certificate });
  }

  recovered(cause: 'missing' | 'corrupt' | 'expired' | 'foreign'): void {
    this.#recoveries.inc({ cause });
  }
}

// Counts the repairs of the webhook configurations.

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

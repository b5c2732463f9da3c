// The metrics of the certificates that the webhook serves with.
import type { MetricsRegistry } from './registry.ts';

export class CertificateMetrics {
  readonly #expiry;
  readonly #renewals;
  readonly #recoveries;

  constructor(registry: MetricsRegistry) {
    this.#expiry = registry.gauge(
      'reeve_certificate_expiry_timestamp_seconds',
      'When the serving certificate, and the authority that signs now, expire, in seconds since 1970.',
      ['certificate'],
    );
    this.#renewals = registry.counter(
      'reeve_certificate_renewals_total',
      'Certificates that took the place of others: serving ones, and authorities that sign.',
      ['certificate'],
    );
    this.#recoveries = registry.counter(
      'reeve_certificate_recoveries_total',
      'How often the Secret of the authority was lost or broken, and was put right.',
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

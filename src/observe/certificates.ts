// Reports what the rooms `certs` and `registration` do: certificates and webhook configurations in the log and as metrics.
import { authoritySecretName } from '../certs/authority/authority-secret.ts';
import type { CertificateObserver } from '../certs/ports.ts';
import { differenceText } from '../registration/configuration-drift.ts';
import type { RegistrationObserver } from '../registration/ports.ts';
import type { ActivityObserver } from './activity.ts';
import type { Log } from './log.ts';
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

export function certificateObserver(log: Log, metrics: CertificateMetrics): CertificateObserver {
  const secret = authoritySecretName;
  return {
    opened: ({ notAfter }) => metrics.expires('serving', notAfter),
    reloaded: (pair) => {
      metrics.expires('serving', pair.notAfter);
      metrics.renewed('serving');
      log.info('certificate reloaded', certificateFields(pair));
    },
    notReloaded: (what, problem) => log.warn(`${what} not reloaded`, { problem }),
    issued: (pair, isFirst) => {
      log.info('serving certificate made', certificateFields(pair));
      metrics.expires('serving', pair.notAfter);
      if (!isFirst) metrics.renewed('serving');
    },
    signs: (authority, isFirst) => {
      log.info('certificate authority signs', certificateFields(authority));
      metrics.expires('authority', authority.notAfter);
      if (!isFirst) metrics.renewed('authority');
    },
    stepped: (kind, cause) => {
      if (cause === undefined) {
        log.info(`certificate authority ${kind}`, { secret });
        return;
      }
      metrics.recovered(cause);
      log.warn('certificate authority replaced', { secret, cause });
    },
    waiting: () => log.info('no certificate authority may sign yet', { secret }),
    notChecked: ({ code, reason }) =>
      log.warn('certificate authority not checked', {
        code,
        reason,
        secret,
        // The Secret is immutable, so no replica can repair it.
        ...(code === 422 ? { remedy: 'delete the Secret' } : {}),
      }),
  };
}

/** Names each field, so that no key gets into the log. */
function certificateFields(certificate: { readonly fingerprint: string; readonly notAfter: Date }) {
  return { fingerprint: certificate.fingerprint, notAfter: certificate.notAfter.toISOString() };
}

export function registrationObserver(
  log: Log,
  metrics: ConfigurationMetrics,
  activity: ActivityObserver,
): RegistrationObserver {
  return {
    applied: (kind) => log.info('webhook configuration applied', { kind }),
    repaired: (kind, differences) => {
      const found = differences.map(differenceText);
      log.warn('webhook configuration was changed by others', { kind, found });
      for (const drift of new Set(differences.map((each) => each.drift))) metrics.repaired(kind, drift);
      activity.repaired?.(kind, found);
    },
    notApplied: ({ code, reason }) => log.warn('webhook configurations not applied', { code, reason }),
    roleMissing: (name) =>
      log.warn('webhook configurations not applied: the install lacks a ClusterRole', { name }),
    leftToNewer: (kind, version) =>
      log.warn('webhook configuration left to a newer version', { kind, version }),
    bundleMissing: (kind, webhooks) =>
      log.warn('webhooks lack a caBundle, and refuse nothing until they have one', { kind, webhooks }),
  };
}

// Writes what happens to certificates to the log and the metrics.
import { authoritySecretName } from '../certs/authority/authority-secret.ts';
import type { CertificateObserver } from '../certs/ports.ts';
import type { CertificateMetrics } from '../observe/certificate-metrics.ts';
import type { Log } from '../observe/log.ts';

const secret = authoritySecretName;

export function certificateObserver(log: Log, metrics: CertificateMetrics): CertificateObserver {
  return {
    opened: ({ notAfter }) => metrics.expires('serving', notAfter),
    reloaded: (pair) => {
      metrics.expires('serving', pair.notAfter);
      metrics.renewed('serving');
      log.info('certificate reloaded', fieldsOf(pair));
    },
    notReloaded: (what, problem) => log.warn(`${what} not reloaded`, { problem }),
    issued: (pair, isFirst) => {
      log.info('serving certificate made', fieldsOf(pair));
      metrics.expires('serving', pair.notAfter);
      if (!isFirst) metrics.renewed('serving');
    },
    signs: (authority, isFirst) => {
      log.info('certificate authority signs', fieldsOf(authority));
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
        // The Secret is immutable or has a type with other keys.
        ...(code === 422 ? { remedy: 'delete the Secret' } : {}),
      }),
  };
}

/** Names each field, so that a key never gets into the log. */
function fieldsOf({ fingerprint, notAfter }: { readonly fingerprint: string; readonly notAfter: Date }) {
  return { fingerprint, notAfter: notAfter.toISOString() };
}

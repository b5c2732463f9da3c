// Writes what each room reports to the log, to the metrics and to the feed of `reeve up`.
import type { AdmissionObserver, DecisionRecord } from '../admission/ports.ts';
import { KubeError } from '../base/kube-error.ts';
import { authoritySecretName } from '../certs/authority/authority-secret.ts';
import type { CertificateObserver } from '../certs/ports.ts';
import type { AdmissionMetrics } from '../observe/admission-metrics.ts';
import type { CertificateMetrics, ConfigurationMetrics } from '../observe/certificate-metrics.ts';
import { traceOf, type Log } from '../observe/log.ts';
import type { ReconcileMetrics } from '../observe/reconcile-metrics.ts';
import { kindOfProvider } from '../policy/terms/provider-id.ts';
import type { Place, ReconcileObserver, WriteVerb } from '../reconcile/ports.ts';
import { differenceText } from '../registration/configuration-drift.ts';
import type { RegistrationObserver } from '../registration/ports.ts';

/** Gets what Reeve does as it happens, for a person at a terminal. */
export interface ActivityObserver {
  decided(record: DecisionRecord): void;
  wrote(verb: WriteVerb, place: Place): void;
  failed(place: Place, reason: string): void;
  /** The provider has deletions that wait for a confirmation. */
  held(provider: string, count: number, limit: number): void;
  /** A webhook configuration was changed or deleted by others, and Reeve has repaired it. */
  repaired(kind: string, found: readonly string[]): void;
}

export const noActivity: ActivityObserver = {
  decided: () => undefined,
  wrote: () => undefined,
  failed: () => undefined,
  held: () => undefined,
  repaired: () => undefined,
};

export function admissionObserver(
  log: Log,
  metrics: AdmissionMetrics,
  activity: ActivityObserver,
): AdmissionObserver {
  return {
    decided: (record) => {
      metrics.decided(record);
      log.info('decision', decisionFields(record));
      activity.decided(record);
    },
    refusedTransport: (code, reason) => {
      metrics.refusedTransport(code);
      log.debug('request refused', { code, reason });
    },
    failed: (error) => {
      metrics.failed();
      const { error: name, frames } = traceOf(error);
      log.error('internal error', { error: name, frames });
    },
    began: () => metrics.began(),
    ended: () => metrics.ended(),
  };
}

const maxRules = 20;

/** Names each field, so that no other content of a review gets into the log. */
function decisionFields(record: DecisionRecord) {
  const broken = [...new Set(record.rules.map(({ policy, rule, action }) => `${action}:${policy}:${rule}`))];
  return {
    uid: record.uid,
    endpoint: record.endpoint,
    resource: record.resource,
    namespace: record.namespace,
    name: record.name,
    operation: record.operation,
    user: record.user,
    decision: record.decision,
    policies: record.policies.slice(0, maxRules),
    ...(broken.length === 0 ? {} : { rules: broken.slice(0, maxRules) }),
    ms: Math.round(record.milliseconds * 1000) / 1000,
  };
}

export function reconcileObserver(
  log: Log,
  metrics: ReconcileMetrics,
  activity: ActivityObserver,
): ReconcileObserver {
  return {
    wrote: (verb, place) => {
      metrics.wrote(verb, place.kind);
      log.info('object written', { verb, ...placeFields(place) });
      activity.wrote(verb, place);
    },
    failed: (place, reason) => {
      metrics.failed(place.kind, reason);
      log.warn('object not written', { ...placeFields(place), reason });
      activity.failed(place, reason);
    },
    rewriteLimited: (place) => {
      metrics.rewriteLimited(place.kind);
      log.warn(
        'object left alone for a while, because another client keeps changing it back',
        placeFields(place),
      );
    },
    reconciled: ({ namespace, milliseconds, writes, willRetry }) => {
      metrics.reconciled(milliseconds, willRetry);
      log.debug('namespace reconciled', { namespace, ms: Math.round(milliseconds), writes, willRetry });
    },
    wroteOwn: (what) => metrics.wroteOwn(what),
    reportNotWritten: (report) => reportNotWritten(report, log, metrics),
    deletionsHeld: (provider, count, limit) => {
      log.warn('deletions held', { owner: provider, count, limit });
      activity.held(provider, count, limit);
    },
    orphaned: (provider, why, count) => {
      metrics.orphaned(kindOfProvider(provider), why, count);
      log.warn('objects of a deleted provider stay', { owner: provider, why, count });
    },
    blocked: (provider, reason) => {
      metrics.failed(kindOfProvider(provider), reason);
      log.warn('provider not ready', { owner: provider, reason });
    },
    guardMissing: (policy, binding) => log.warn('guard or jail not in force', { policy, binding }),
    initialSyncDone: ({ namespaces, milliseconds }) =>
      log.info('initial sync done', { namespaces, ms: Math.round(milliseconds) }),
    unexpectedError: (where, error) => {
      metrics.failedUnexpectedly();
      logUnexpected(log, where, error);
    },
  };
}

function reportNotWritten(
  { namespace, reason, isNew }: Parameters<ReconcileObserver['reportNotWritten']>[0],
  log: Log,
  metrics: ReconcileMetrics,
): void {
  metrics.failed('Report', reason);
  if (isNew) log.warn('report not written', { ...(namespace === '' ? {} : { namespace }), reason });
}

/** An answer of the API server has a code; any other error is one of the program. */
function logUnexpected(log: Log, where: string, error: unknown): void {
  if (error instanceof KubeError) {
    log.warn('request failed', { where, code: error.code, reason: error.reason });
    return;
  }
  const { error: name, frames } = traceOf(error);
  log.error('internal error', { where, error: name, frames });
}

function placeFields({ namespace, kind, name, owner }: Place) {
  return { namespace, kind, name, owner };
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

/** Names each field, so that a key never gets into the log. */
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
      activity.repaired(kind, found);
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

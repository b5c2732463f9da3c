// Tells log, metrics and whoever looks on what the reconciler does.
import { traceOf } from '../observe/error-frames.ts';
import type { Log } from '../observe/log.ts';
import type { ReconcileMetrics } from '../observe/reconcile-metrics.ts';
import { KubeError } from '../base/kube-error.ts';
import { kindOfProvider } from '../policy/terms/provider-id.ts';
import type { Place, ReconcileObserver } from '../reconcile/ports.ts';
import type { Witness } from './witness.ts';

export function reconcileObserver(log: Log, metrics: ReconcileMetrics, witness: Witness): ReconcileObserver {
  return {
    wrote: (verb, place) => {
      metrics.wrote(verb, place.kind);
      log.info('object written', { verb, ...fieldsOf(place) });
      witness.wrote(verb, place);
    },
    failed: (place, reason) => {
      metrics.failed(place.kind, reason);
      log.warn('object not written', { ...fieldsOf(place), reason });
      witness.failed(place, reason);
    },
    rewriteLimited: (place) => {
      metrics.rewriteLimited(place.kind);
      log.warn(
        'object left alone for a while, because another client keeps changing it back',
        fieldsOf(place),
      );
    },
    reconciled: ({ namespace, milliseconds, writes, willRetry }) => {
      metrics.reconciled(milliseconds, willRetry);
      log.debug('namespace reconciled', { namespace, ms: Math.round(milliseconds), writes, willRetry });
    },
    wroteOwn: (what) => metrics.wroteOwn(what),
    deletionsHeld: (owner, count, limit) => {
      log.warn('deletions held', { owner, count, limit });
      witness.held(owner, count, limit);
    },
    blocked: (owner, reason) => {
      metrics.failed(kindOfProvider(owner), reason);
      log.warn('policy or share not ready', { owner, reason });
    },
    initialSyncDone: ({ namespaces, milliseconds }) =>
      log.info('initial sync done', { namespaces, ms: Math.round(milliseconds) }),
    unexpectedError: (where, error) => {
      metrics.failedUnexpectedly();
      // What the API server answered is known by its code; anything else is an error of the program.
      if (error instanceof KubeError) {
        log.warn('request failed', { where, code: error.code, reason: error.reason });
        return;
      }
      const { error: name, frames } = traceOf(error);
      log.error('internal error', { where, error: name, frames });
    },
  };
}

function fieldsOf({ namespace, kind, name, owner }: Place) {
  return { namespace, kind, name, owner };
}

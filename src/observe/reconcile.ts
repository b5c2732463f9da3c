// Reports what the room `reconcile` does: its work in the log, as metrics and in the feed.
import { KubeError } from '../base/kube-error.ts';
import { kindOfProvider, type ProviderId } from '../policy/terms/provider-id.ts';
import type { Place, ReconcileObserver, WriteVerb } from '../reconcile/ports.ts';
import type { ActivityObserver } from './activity.ts';
import { traceOf, type Log } from './log.ts';
import type { MetricsRegistry } from './registry.ts';

/** Called whenever the metrics are read. */
interface ReconcileGauges {
  readonly isLeading: () => boolean;
  readonly queued: () => number;
  readonly oldestUnreconciledMs: () => number;
  /** The bindings of the guard and the jail, and whether each is in force. */
  readonly guards: () => Iterable<readonly [binding: string, isInForce: boolean]>;
}

const bucketSeconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type Round = Parameters<ReconcileObserver['reconciled']>[0];
type UnwrittenReport = Parameters<ReconcileObserver['reportNotWritten']>[0];

export class ReconcileReports implements ReconcileObserver {
  readonly #log: Log;
  readonly #activity: ActivityObserver;
  readonly #writes;
  readonly #failed;
  readonly #rewriteLimited;
  readonly #orphaned;
  readonly #rounds;
  readonly #seconds;
  readonly #ownWrites;
  readonly #unexpected;

  // oxlint-disable-next-line max-params -- log, metrics, feed, and what is measured
  constructor(log: Log, registry: MetricsRegistry, activity: ActivityObserver, gauges: ReconcileGauges) {
    this.#log = log;
    this.#activity = activity;
    this.#writes = registry.counter(
      'reeve_reconcile_writes_total',
      'Objects written for policies, shares and bindings.',
      ['verb', 'kind'],
    );
    this.#failed = registry.counter('reeve_reconcile_failures_total', 'Writes of objects that failed.', [
      'kind',
      'reason',
    ]);
    this.#rewriteLimited = registry.counter(
      'reeve_reconcile_contended_total',
      'Objects that others keep changing back, which are written less often.',
      ['kind'],
    );
    this.#orphaned = registry.counter(
      'reeve_reconcile_orphaned_total',
      'Objects that the deletion of a policy, share or binding left behind.',
      ['kind', 'reason'],
    );
    this.#rounds = registry.counter('reeve_reconcile_rounds_total', 'Namespaces reconciled, by result.', [
      'result',
    ]);
    this.#seconds = registry.histogram(
      'reeve_reconcile_duration_seconds',
      'Time to reconcile one namespace, in seconds.',
      [],
      bucketSeconds,
    );
    this.#ownWrites = registry.counter(
      'reeve_reconcile_own_writes_total',
      'Writes of statuses, finalizers, conditions, defaults and Reports, and ends of temporary access.',
      ['what'],
    );
    this.#unexpected = registry.counter(
      'reeve_reconcile_faults_total',
      'Calls and steps that failed unexpectedly.',
      [],
    );
    this.#unexpected.inc(0);
    measureGauges(registry, gauges);
  }

  wrote(verb: WriteVerb, place: Place): void {
    this.#writes.inc({ verb, kind: place.kind });
    this.#log.info('object written', { verb, ...placeFields(place) });
    this.#activity.wrote?.(verb, place);
  }

  failed(place: Place, reason: string): void {
    this.#failed.inc({ kind: place.kind, reason });
    this.#log.warn('object not written', { ...placeFields(place), reason });
    this.#activity.failed?.(place, reason);
  }

  rewriteLimited(place: Place): void {
    this.#rewriteLimited.inc({ kind: place.kind });
    const message = 'object left alone for a while, because another client keeps changing it back';
    this.#log.warn(message, placeFields(place));
  }

  reconciled({ namespace, milliseconds, writes, willRetry }: Round): void {
    this.#rounds.inc({ result: willRetry ? 'retry' : 'done' });
    this.#seconds.observe(milliseconds / 1000);
    const ms = Math.round(milliseconds);
    this.#log.debug('namespace reconciled', { namespace, ms, writes, willRetry });
  }

  wroteOwn(what: string): void {
    this.#ownWrites.inc({ what });
  }

  reportNotWritten({ namespace, reason, isNew }: UnwrittenReport): void {
    this.#failed.inc({ kind: 'Report', reason });
    if (!isNew) return;
    this.#log.warn('report not written', { ...(namespace === '' ? {} : { namespace }), reason });
  }

  deletionsHeld(provider: ProviderId, count: number, limit: number): void {
    this.#log.warn('deletions held', { owner: provider, count, limit });
    this.#activity.held?.(provider, count, limit);
  }

  orphaned(provider: ProviderId, why: string, count: number): void {
    this.#orphaned.inc({ kind: kindOfProvider(provider), reason: why }, count);
    this.#log.warn('objects of a deleted provider stay', { owner: provider, why, count });
  }

  blocked(provider: ProviderId, reason: string): void {
    this.#failed.inc({ kind: kindOfProvider(provider), reason });
    this.#log.warn('provider not ready', { owner: provider, reason });
  }

  guardMissing(policy: string, binding: string): void {
    this.#log.warn('guard or jail not in force', { policy, binding });
  }

  initialSyncDone({ namespaces, milliseconds }: { namespaces: number; milliseconds: number }): void {
    this.#log.info('initial sync done', { namespaces, ms: Math.round(milliseconds) });
  }

  unexpectedError(where: string, error: unknown): void {
    this.#unexpected.inc();
    logUnexpected(this.#log, where, error);
  }
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

function measureGauges(registry: MetricsRegistry, gauges: ReconcileGauges): void {
  registry.measured('reeve_leader', '1 in the process that leads, 0 in others.', () =>
    gauges.isLeading() ? 1 : 0,
  );
  registry.measured('reeve_reconcile_queued', 'Namespaces in the queue.', gauges.queued);
  registry.measured(
    'reeve_reconcile_oldest_seconds',
    'Seconds for which the oldest namespace in the queue has needed work.',
    () => gauges.oldestUnreconciledMs() / 1000,
  );
  registry.measuredEach(
    'reeve_guard_in_force',
    'From the leader: 1 while the API server enforces this binding of the guard or the jail, 0 when it is missing, no longer denies or selects fewer objects. The expressions are not compared.',
    ['binding'],
    () => [...gauges.guards()].map(([binding, isInForce]) => [{ binding }, isInForce ? 1 : 0] as const),
  );
}

// Counts and times the work of the reconciler.
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

export class ReconcileMetrics {
  readonly #writes;
  readonly #failed;
  readonly #rewriteLimited;
  readonly #orphaned;
  readonly #rounds;
  readonly #seconds;
  readonly #ownWrites;
  readonly #unexpected;

  constructor(registry: MetricsRegistry, gauges: ReconcileGauges) {
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
      'Writes of statuses, finalizers, conditions, defaults and Reports.',
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

  wrote(verb: string, kind: string): void {
    this.#writes.inc({ verb, kind });
  }

  failed(kind: string, reason: string): void {
    this.#failed.inc({ kind, reason });
  }

  rewriteLimited(kind: string): void {
    this.#rewriteLimited.inc({ kind });
  }

  reconciled(milliseconds: number, willRetry: boolean): void {
    this.#rounds.inc({ result: willRetry ? 'retry' : 'done' });
    this.#seconds.observe(milliseconds / 1000);
  }

  orphaned(kind: string, reason: string, count: number): void {
    this.#orphaned.inc({ kind, reason }, count);
  }

  wroteOwn(what: string): void {
    this.#ownWrites.inc({ what });
  }

  failedUnexpectedly(): void {
    this.#unexpected.inc();
  }
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

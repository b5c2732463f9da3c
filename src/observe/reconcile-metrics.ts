// The metrics of the reconciler.
import type { MetricsRegistry } from './registry.ts';

/** Asked whenever somebody reads the metrics. */
interface ReconcileGauges {
  readonly isLeading: () => boolean;
  readonly queued: () => number;
  readonly oldestUnreconciledMs: () => number;
}

const bucketSeconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export class ReconcileMetrics {
  readonly #writes;
  readonly #failures;
  readonly #contended;
  readonly #rounds;
  readonly #seconds;
  readonly #ownWrites;
  readonly #faults;

  constructor(registry: MetricsRegistry, gauges: ReconcileGauges) {
    this.#writes = registry.counter(
      'reeve_reconcile_writes_total',
      'Objects written for policies and shares.',
      ['verb', 'kind'],
    );
    this.#failures = registry.counter(
      'reeve_reconcile_failures_total',
      'Objects that could not be written.',
      ['kind', 'reason'],
    );
    this.#contended = registry.counter(
      'reeve_reconcile_contended_total',
      'Objects that somebody changes back again and again.',
      ['kind'],
    );
    this.#rounds = registry.counter('reeve_reconcile_rounds_total', 'Namespaces that were looked at.', [
      'result',
    ]);
    this.#seconds = registry.histogram(
      'reeve_reconcile_duration_seconds',
      'How long it took to bring a namespace in order.',
      [],
      bucketSeconds,
    );
    this.#ownWrites = registry.counter(
      'reeve_reconcile_own_writes_total',
      'Statuses, finalizers, conditions and defaults that were written.',
      ['what'],
    );
    this.#faults = registry.counter(
      'reeve_reconcile_faults_total',
      'Requests and steps that failed unexpectedly.',
      [],
    );
    this.#faults.inc(0);
    registry.measured('reeve_leader', '1 in the process that writes.', () => (gauges.isLeading() ? 1 : 0));
    registry.measured('reeve_reconcile_queued', 'Namespaces that wait to be looked at.', gauges.queued);
    registry.measured(
      'reeve_reconcile_oldest_seconds',
      'How long the namespace that has waited longest has been known to need work.',
      () => gauges.oldestUnreconciledMs() / 1000,
    );
  }

  wrote(verb: string, kind: string): void {
    this.#writes.inc({ verb, kind });
  }

  failed(kind: string, reason: string): void {
    this.#failures.inc({ kind, reason });
  }

  contended(kind: string): void {
    this.#contended.inc({ kind });
  }

  reconciled(milliseconds: number, willRetry: boolean): void {
    this.#rounds.inc({ result: willRetry ? 'retry' : 'done' });
    this.#seconds.observe(milliseconds / 1000);
  }

  wroteOwn(what: string): void {
    this.#ownWrites.inc({ what });
  }

  faulted(): void {
    this.#faults.inc();
  }
}

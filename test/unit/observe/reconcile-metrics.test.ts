// Checks the counters of the reconciler, and that gauges are read when the metrics are read.
import { expect, test } from 'vitest';
import { ReconcileMetrics } from '../../../src/observe/reconcile-metrics.ts';
import { MetricsRegistry } from '../../../src/observe/registry.ts';

test('writes, errors and rounds are counted, and the queue is measured', async () => {
  const registry = new MetricsRegistry();
  const now = { leads: false, queued: 0, oldestMs: 0 };
  const metrics = new ReconcileMetrics(registry, {
    isLeading: () => now.leads,
    queued: () => now.queued,
    oldestUnreconciledMs: () => now.oldestMs,
    guards: () => [
      ['reeve-guard', true],
      ['reeve-jail', false],
    ],
  });
  expect(await registry.render()).toContain('reeve_leader 0');
  Object.assign(now, { leads: true, queued: 3, oldestMs: 1500 });
  metrics.wrote('create', 'Secret');
  metrics.wrote('create', 'Secret');
  metrics.failed('RoleBinding', 'RefusedByPolicy');
  metrics.rewriteLimited('Secret');
  metrics.orphaned('NamespacePolicy', 'KindDeleted', 10);
  metrics.reconciled(20, false);
  metrics.reconciled(20, true);
  metrics.wroteOwn('status');
  metrics.failedUnexpectedly();
  const lines = (await registry.render()).split('\n');
  for (const line of [
    'reeve_leader 1',
    'reeve_reconcile_queued 3',
    'reeve_reconcile_oldest_seconds 1.5',
    'reeve_reconcile_writes_total{verb="create",kind="Secret"} 2',
    'reeve_reconcile_failures_total{kind="RoleBinding",reason="RefusedByPolicy"} 1',
    'reeve_reconcile_contended_total{kind="Secret"} 1',
    'reeve_reconcile_orphaned_total{kind="NamespacePolicy",reason="KindDeleted"} 10',
    'reeve_reconcile_rounds_total{result="done"} 1',
    'reeve_reconcile_rounds_total{result="retry"} 1',
    'reeve_reconcile_duration_seconds_bucket{le="0.025"} 2',
    'reeve_reconcile_own_writes_total{what="status"} 1',
    'reeve_reconcile_faults_total 1',
    'reeve_guard_in_force{binding="reeve-guard"} 1',
    'reeve_guard_in_force{binding="reeve-jail"} 0',
  ]) {
    expect(lines).toContain(line);
  }
});

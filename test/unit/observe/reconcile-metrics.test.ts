// Checks the counters of the reconciler, and that gauges are read when the metrics are read.
import { expect, test } from 'vitest';
import { KubeError } from '../../../src/base/kube-error.ts';
import type { Log } from '../../../src/observe/log.ts';
import { ReconcileReports } from '../../../src/observe/reconcile.ts';
import { MetricsRegistry } from '../../../src/observe/registry.ts';

const secret = { namespace: 'a', kind: 'Secret', name: 's', owner: 'SecretShare/s' } as const;

test('writes, errors and rounds are counted and logged, and the queue is measured', async () => {
  const lines: string[] = [];
  const say = (message: string): void => void lines.push(message);
  const close = (): Promise<void> => Promise.resolve();
  const log: Log = { info: say, warn: say, error: say, debug: say, close, dropped: () => 0 };
  const registry = new MetricsRegistry();
  const now = { leads: false, queued: 0, oldestMs: 0 };
  const reports = new ReconcileReports(
    log,
    registry,
    {},
    {
      isLeading: () => now.leads,
      queued: () => now.queued,
      oldestUnreconciledMs: () => now.oldestMs,
      guards: () => [
        ['reeve-guard', true],
        ['reeve-jail', false],
      ],
    },
  );
  expect(await registry.render()).toContain('reeve_leader 0');
  Object.assign(now, { leads: true, queued: 3, oldestMs: 1500 });
  reports.wrote('create', secret);
  reports.wrote('create', secret);
  reports.failed({ ...secret, kind: 'RoleBinding' }, 'RefusedByPolicy');
  reports.rewriteLimited(secret);
  reports.orphaned('NamespacePolicy/a', 'KindDeleted', 10);
  const round = { namespace: 'a', milliseconds: 20, writes: 1 };
  reports.reconciled({ ...round, willRetry: false });
  reports.reconciled({ ...round, willRetry: true });
  reports.wroteOwn('status');
  reports.unexpectedError('here', new KubeError({ code: 500, reason: 'InternalError', retryable: true }));
  expect(lines).toEqual([
    'object written',
    'object written',
    'object not written',
    'object left alone for a while, because another client keeps changing it back',
    'objects of a deleted provider stay',
    'namespace reconciled',
    'namespace reconciled',
    'request failed',
  ]);
  const metrics = (await registry.render()).split('\n');
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
    expect(metrics).toContain(line);
  }
});

// The dashboard shows each part of Reeve, and each metric that is not listed here as a detail.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { dashboardRows } from '../../checks/chart/dashboard-panels.ts';

/** Statuses, the log and single investigations show them. */
const details = [
  'reeve_log_dropped_lines_total',
  'reeve_policies',
  'reeve_provider_failed',
  'reeve_provider_matched',
  'reeve_provider_skipped',
  'reeve_reconcile_contended_total',
  'reeve_reconcile_orphaned_total',
  'reeve_reconcile_own_writes_total',
  'reeve_trace_spans_total',
  'reeve_unjudged_policies_total',
];

test('every metric of the reference has a panel, or is a detail', () => {
  const reference = readFileSync('docs/reference/metrics.md', 'utf8');
  const metrics = [...new Set(reference.match(/\breeve_[a-z_]+/gu))];
  const queries = JSON.stringify(dashboardRows);
  expect(metrics.length).toBeGreaterThan(30);
  const withoutPanel = metrics.filter(
    (metric) => !new RegExp(`\\b${metric}(?:_bucket)?\\b`, 'u').test(queries),
  );
  expect(withoutPanel.toSorted()).toEqual(details);
});

test('the rows of the dashboard are admission, reconciler, providers, certificates, leader and API server', () => {
  expect(Object.keys(dashboardRows)).toEqual([
    'Overview',
    'Admission',
    'Reconciler',
    'Policies and shares',
    'Certificates and leader',
    'API server and processes',
  ]);
});

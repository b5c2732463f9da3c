// When the kind of Reports counts as served.
import { expect, test } from 'vitest';
import { unservedVersion } from '../../../../src/base/watch-sink.ts';
import { LiveReports } from '../../../../src/reconcile/reports/report-keeper.ts';

test('the kind of Reports is served from the first list that the API server answers until it serves the kind no more', () => {
  const reports = new LiveReports({ label: 'a', digestOf: () => '', changed: () => undefined });
  const served = [unservedVersion, '7', unservedVersion].map((version) => {
    reports.sink.replaced([], version);
    return reports.isServed;
  });
  expect([
    new LiveReports({ label: 'a', digestOf: () => '', changed: () => undefined }).isServed,
    ...served,
  ]).toEqual([false, false, true, false]);
});

// The report of the soak that ran beside all other tests: Reeve under load and faults holds what it promises.
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { isRunning } from '../cluster/process-identity.ts';
import type { Report } from './report.ts';

const { skipIf } = describe;
const provided = inject('soak');

skipIf(provided.kind === 'none')('three minutes of churn and faults', () => {
  let report: Report;

  beforeAll(async () => {
    if (provided.kind === 'none') return;
    while (isRunning(provided.process)) await sleep(200);
    const text = await readFile(provided.report, 'utf8').catch(async () => {
      throw new Error(`there is no report: ${await readFile(provided.log, 'utf8')}`);
    });
    report = JSON.parse(text) as Report;
  });

  test('people have done everything that they do, and faults have struck', () => {
    const outcomes = Object.keys(report.calls.byOutcome);
    for (const done of [
      'write a namespace: 201',
      'write a policy: 200',
      'write a share: 200',
      'write a source: 200',
      'change a kept object in an emergency: 200',
      'delete a kept object in an emergency: 200',
      'change a kept object: 403',
      'break a rule: 403',
    ])
      expect(outcomes).toContain(done);
    expect(Object.keys(report.trouble.counts).length).toBeGreaterThanOrEqual(8);
  });

  test('certificates have been renewed meanwhile, and the authority too', () => {
    for (const certificate of ['serving', 'authority'])
      expect(
        report.renewals[`reeve_certificate_renewals_total{certificate="${certificate}"}`],
      ).toBeGreaterThan(0);
  });

  test('what a fault broke is whole again when it is over', () => {
    expect(report.trouble.unhealed).toEqual([]);
  });

  test('no call failed that no fault excuses', () => {
    expect(report.calls.failures).toEqual([]);
    expect(report.calls.failed).toBe(0);
  });

  test('at the end the cluster is exactly as policies and shares want it', () => {
    expect(report.deviations).toEqual([]);
  });

  test('no process ended by itself, and each holds as much at the end as at the beginning', () => {
    expect(report.fallen).toEqual([]);
    const names = report.trends.map(({ process }) => process.split(' ')[0]);
    expect(names).toEqual(expect.arrayContaining(['webhook-1', 'reconciler-1']));
    expect(report.trends.filter(({ isFlat }) => !isFlat)).toEqual([]);
  });

  test('no secret byte is in any output', () => {
    expect(report.leaks).toEqual([]);
  });
});

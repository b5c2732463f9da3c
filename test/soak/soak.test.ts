// Three minutes of load and faults on a control plane of its own: Reeve keeps its promises.
import { randomInt } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { describeCluster } from '../support/shared-cluster.ts';
import type { Report } from './report.ts';
import { soak } from './soak.ts';

const load = { minutes: 3, rate: 12 };

describeCluster('three minutes of churn and faults', () => {
  let report: Report;

  beforeAll(async () => {
    const log: string[] = [];
    // Every failure shows the seed, so that `npm run soak -- --seed` repeats the same choices.
    const seed = randomInt(2 ** 31);
    try {
      report = await soak({
        ...load,
        seed,
        say: (text) => void log.push(text),
        signal: new AbortController().signal,
      });
    } catch (error) {
      throw new Error(`seed ${seed}: ${log.join('\n')}`, { cause: error });
    }
  });

  test('users did everything that the soak plans, and faults struck', () => {
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

  test('certificates and the authority were renewed meanwhile', () => {
    for (const certificate of ['serving', 'authority'])
      expect(
        report.renewals[`reeve_certificate_renewals_total{certificate="${certificate}"}`],
      ).toBeGreaterThan(0);
  });

  test('what a fault broke works again when the fault is over', () => {
    expect(report.trouble.unhealed).toEqual([]);
  });

  test('every failed call is excused by a fault', () => {
    expect(report.calls.failures).toEqual([]);
    expect(report.calls.failed).toBe(0);
  });

  test('the cluster is at the end exactly as policies and shares want it', () => {
    expect(report.deviations).toEqual([]);
  });

  test('no process ended by itself, and no process holds more at the end than at the beginning', () => {
    expect(report.fallen).toEqual([]);
    const names = report.trends.map(({ process }) => process.split(' ')[0]);
    expect(names).toEqual(expect.arrayContaining(['webhook-1', 'reconciler-1']));
    expect(report.trends.filter(({ isFlat }) => !isFlat)).toEqual([]);
  });

  test('no secret byte is in any output', () => {
    expect(report.leaks).toEqual([]);
  });
});

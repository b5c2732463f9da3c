// What is counted, and that labels do not grow with what people send.
import { expect, test } from 'vitest';
import { AdmissionMetrics } from '../../../src/observe/metrics.ts';

const decision = {
  operation: 'CREATE',
  resource: 'secrets',
  decision: 'denied',
  overBudget: false,
  milliseconds: 3,
  rules: [],
};

async function sampleOf(metrics: AdmissionMetrics, name: string): Promise<string | undefined> {
  const lines = (await metrics.render()).split('\n');
  return lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
}

test('what can be alerted on is there from the start', async () => {
  const metrics = new AdmissionMetrics();
  for (const name of [
    'reeve_internal_errors_total',
    'reeve_evaluation_budget_refusals_total',
    'reeve_admission_in_flight',
  ]) {
    expect(await sampleOf(metrics, name)).toBe('0');
  }
  expect(await metrics.render()).toContain('process_resident_memory_bytes');
});

test('two servers in one process count apart', async () => {
  const [one, other] = [new AdmissionMetrics(), new AdmissionMetrics()];
  one.failed();
  expect(await sampleOf(one, 'reeve_internal_errors_total')).toBe('1');
  expect(await sampleOf(other, 'reeve_internal_errors_total')).toBe('0');
});

test('counts decisions, rules, refusals and what is in flight', async () => {
  const metrics = new AdmissionMetrics();
  metrics.began();
  metrics.began();
  metrics.ended();
  metrics.setPolicies(3, 1);
  metrics.refusedTransport(413);
  const rules = [{ policy: 'p', rule: 'secrets.tls', action: 'Audit' }];
  metrics.decided({ ...decision, overBudget: true, rules });
  metrics.decided(decision);
  const samples = {
    reeve_admission_in_flight: '1',
    'reeve_policies{state="loaded"}': '3',
    'reeve_policies{state="refused"}': '1',
    'reeve_transport_refusals_total{code="413"}': '1',
    'reeve_admission_requests_total{operation="CREATE",resource="secrets",decision="denied"}': '2',
    'reeve_rule_violations_total{policy="p",rule="secrets.tls",action="Audit"}': '1',
    reeve_evaluation_budget_refusals_total: '1',
    'reeve_admission_duration_seconds_bucket{le="0.005",operation="CREATE",resource="secrets"}': '2',
    'reeve_admission_duration_seconds_bucket{le="0.0025",operation="CREATE",resource="secrets"}': '0',
  };
  for (const [name, value] of Object.entries(samples))
    expect([name, await sampleOf(metrics, name)]).toEqual([name, value]);
});

// Checks the counters of admission.
import { expect, test } from 'vitest';
import { AdmissionMetrics } from '../../../src/observe/admission.ts';
import { MetricsRegistry } from '../../../src/observe/registry.ts';

const decision = {
  operation: 'CREATE',
  resource: 'secrets',
  decision: 'denied',
  overBudget: false,
  unjudged: [],
  milliseconds: 3,
  rules: [],
} as const;

async function sampleOf(registry: MetricsRegistry, name: string): Promise<string | undefined> {
  const lines = (await registry.render()).split('\n');
  return lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
}

test('counters for alerts exist from the start', async () => {
  const registry = new MetricsRegistry();
  expect(new AdmissionMetrics(registry)).toBeDefined();
  for (const name of [
    'reeve_internal_errors_total',
    'reeve_evaluation_budget_refusals_total',
    'reeve_admission_in_flight',
  ]) {
    expect(await sampleOf(registry, name)).toBe('0');
  }
  expect(await registry.render()).toContain('process_resident_memory_bytes');
});

test('two servers in one process count separately', async () => {
  const [one, other] = [new MetricsRegistry(), new MetricsRegistry()];
  const [metrics] = [new AdmissionMetrics(one), new AdmissionMetrics(other)];
  metrics.failed();
  expect(await sampleOf(one, 'reeve_internal_errors_total')).toBe('1');
  expect(await sampleOf(other, 'reeve_internal_errors_total')).toBe('0');
});

test('decisions, rules, refusals and running requests are counted', async () => {
  const registry = new MetricsRegistry();
  const metrics = new AdmissionMetrics(registry);
  metrics.began();
  metrics.began();
  metrics.ended();
  metrics.setPolicies({ loaded: 3, stale: 2, refused: 1 });
  metrics.refusedTransport(413);
  const rules = [{ policy: 'p', rule: 'secrets.tls', action: 'Audit' as const }];
  metrics.decided({ ...decision, overBudget: true, unjudged: ['slow'], rules });
  metrics.decided(decision);
  const samples = {
    reeve_admission_in_flight: '1',
    'reeve_policies{state="loaded"}': '3',
    'reeve_unjudged_policies_total{policy="slow"}': '1',
    'reeve_policies{state="stale"}': '2',
    'reeve_policies{state="refused"}': '1',
    'reeve_transport_refusals_total{code="413"}': '1',
    'reeve_admission_requests_total{operation="CREATE",resource="secrets",decision="denied"}': '2',
    'reeve_rule_violations_total{policy="p",rule="secrets.tls",action="Audit"}': '1',
    reeve_evaluation_budget_refusals_total: '1',
    'reeve_admission_duration_seconds_bucket{le="0.005",operation="CREATE",resource="secrets"}': '2',
    'reeve_admission_duration_seconds_bucket{le="0.0025",operation="CREATE",resource="secrets"}': '0',
  };
  for (const [name, value] of Object.entries(samples))
    expect([name, await sampleOf(registry, name)]).toEqual([name, value]);
});

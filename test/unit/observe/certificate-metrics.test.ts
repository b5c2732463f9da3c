// Checks that the metrics of certificates exist from the start, and that the expiry is in seconds.
import { expect, test } from 'vitest';
import { CertificateMetrics } from '../../../src/observe/certificates.ts';
import { MetricsRegistry } from '../../../src/observe/registry.ts';

test('counters start at 0, and the expiry is a time in seconds', async () => {
  const registry = new MetricsRegistry();
  const metrics = new CertificateMetrics(registry);
  const shown = async (): Promise<readonly string[]> =>
    (await registry.render()).split('\n').filter((line) => line.startsWith('reeve_certificate_'));
  expect(await shown()).toEqual([
    'reeve_certificate_renewals_total{certificate="serving"} 0',
    'reeve_certificate_renewals_total{certificate="authority"} 0',
    'reeve_certificate_recoveries_total{cause="missing"} 0',
    'reeve_certificate_recoveries_total{cause="corrupt"} 0',
    'reeve_certificate_recoveries_total{cause="expired"} 0',
    'reeve_certificate_recoveries_total{cause="foreign"} 0',
  ]);
  metrics.expires('serving', new Date('2026-06-01T12:00:00Z'));
  metrics.renewed('serving');
  metrics.recovered('missing');
  expect(await shown()).toEqual(
    expect.arrayContaining([
      'reeve_certificate_expiry_timestamp_seconds{certificate="serving"} 1780315200',
      'reeve_certificate_renewals_total{certificate="serving"} 1',
      'reeve_certificate_recoveries_total{cause="missing"} 1',
    ]),
  );
});

// The objects for cert-manager and for the Prometheus operator have only fields that the Go types of those projects have.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { renderChart } from '../checks/chart/rendered-chart.ts';
import { builtBy, findGo } from '../cluster/go-program.ts';
import { describeHelm, neededHelm } from './helm-versions.ts';

const groups = /^(?:cert-manager\.io|monitoring\.coreos\.com)\//;

const cases = [
  ['cert-manager', { certificates: { source: 'cert-manager' } }, 4],
  [
    'an issuer of the cluster',
    { certificates: { source: 'cert-manager', issuerRef: { kind: 'ClusterIssuer', name: 'company' } } },
    1,
  ],
  ['the Prometheus operator', { metrics: { podMonitor: true, prometheusRule: true } }, 2],
] as const;

describeHelm('the objects for other projects', () => {
  let program: string;

  beforeAll(async () => {
    const go = (await findGo()) ?? 'go';
    const module = join(import.meta.dirname, 'otherkinds');
    program = await builtBy(go, process.env, {
      name: 'otherkinds',
      module,
      folder: '.',
      files: ['main.go'],
      variables: () => [],
    });
    // The first build takes a minute.
  }, 600_000);

  function decoded(items: readonly JsonObject[]): { readonly code: number | null; readonly said: string } {
    const { status, stdout, stderr } = spawnSync(program, {
      input: JSON.stringify({ items }),
      encoding: 'utf8',
    });
    return { code: status, said: stdout + stderr };
  }

  it.each(cases)('the objects for other projects for %s have only known fields', async (_, values, count) => {
    const { documents } = await renderChart(await neededHelm(4), values);
    const items = documents
      .map(({ object }) => object)
      .filter(({ apiVersion }) => groups.test(String(apiVersion)));
    expect(decoded(items)).toEqual({ code: 0, said: `${count}\n` });
  });

  it('an unknown field is reported', () => {
    const { code, said } = decoded([{ kind: 'PodMonitor', spec: { podMetricsEndpoint: [] } }]);
    expect(code).toBe(1);
    expect(said).toContain('unknown field "podMetricsEndpoint"');
  });
});

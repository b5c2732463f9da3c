// Each query of the dashboard shows something: a real Prometheus scrapes real processes of Reeve and answers the query.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { blocksOf } from '../samples/markdown.ts';
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy.ts';
import { HttpsClient } from '../support/https-client.ts';
import { describePrometheus } from '../support/prometheus.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { Fleet } from './support/fleet.ts';
import { configMap, namespaceObject, policy, roleBinding } from './support/objects.ts';
import { applyPolicies } from './support/policies.ts';
import { PrometheusServer } from './support/prometheus-server.ts';
import { shareOf } from './support/secrets.ts';
import { Stage } from './support/stage.ts';

const prefix = 'db-';
const root = join(import.meta.dirname, '..', '..');
const files = join(root, 'manifests', 'chart', 'files');

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}
const { panels } = JSON.parse(readFileSync(join(files, 'dashboards', 'reeve.json'), 'utf8')) as Dashboard;
const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, legendFormat, expr })),
);
const runbookQueries = globSync('docs/runbooks/*.md', { cwd: root }).flatMap((path) =>
  blocksOf(readFileSync(join(root, path), 'utf8'))
    .filter(({ language }) => language === 'promql')
    .flatMap(({ text }) => text.trim().split('\n')),
);

/** Grafana puts an interval in place of its variable. Five minutes hold all that this test does. */
function withInterval(expr: string): string {
  return expr.replaceAll('$__rate_interval', '5m');
}

describePrometheus('the dashboard', () => {
  describeControllers('on a real install', { timeout: 240_000 }, () => {
    const cluster = sharedCluster();
    const stage = new Stage(cluster, prefix);
    let fleet: Fleet;
    let proxy: FaultProxy;
    let prometheus: PrometheusServer;

    beforeAll(async () => {
      await installReeve(cluster);
      fleet = await Fleet.start(cluster);
      proxy = await startFaultProxy(new URL(cluster.server));
      const account = await cluster.tokenKubeconfig('reeve-system', 'reeve-reconciler');
      await fleet.addReconciler({ kubeconfig: await proxy.kubeconfigLike(account) });
      const processes = [...fleet.webhooks, ...fleet.reconcilers];
      const targets = processes.map(({ probesPort }) => `127.0.0.1:${probesPort}`);
      prometheus = await PrometheusServer.start(targets, join(files, 'alerts.yaml'));
      await useEverything();
    }, 240_000);
    afterAll(async () => {
      await prometheus.stop();
      await stage.cleanUp();
      await fleet.stop();
      proxy.close();
    });

    /** Causes an event for each metric: writes, refusals, a conflict, violations, ends of access, and lost connections. */
    const useEverything = async (): Promise<void> => {
      const inAnHour = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+Z/u, 'Z');
      const conflict = configMap('taken', { a: 'b' });
      await stage.apply(namespaceObject('db-a'), namespaceObject('db-held', { 'db-held': 'yes' }));
      await stage.kubectl('create', 'configmap', 'taken', '-n', 'db-a');
      await applyPolicies(
        prefix,
        [
          policy('db-contents', {
            match: { names: ['db-a'] },
            contents: {
              resources: [conflict, configMap('settings', { a: 'b' })],
              roleBindings: [{ ...roleBinding('readers', 'readers'), expiresAfter: '8h' }],
            },
          }),
          policy('db-rules', {
            match: { names: ['db-*'] },
            namespaces: { required: { labels: { 'db-team': {} } } },
            exceptions: [{ namespaces: ['db-x'], rules: ['namespaces.required'], expiresAt: inAnHour }],
          }),
          policy('db-held', {
            match: { namespaceSelector: { matchLabels: { 'db-held': 'yes' } } },
            contents: { resources: [configMap('held', { a: 'b' })] },
            maxDeletions: 0,
          }),
          shareOf('db-no-source', { names: ['db-a'] }),
        ],
        stage.administrator,
      );
      await stage.kubectl('wait', '--for=create', 'configmap/held', '-n', 'db-held', '--timeout=60s');
      await stage.kubectl('label', 'namespace', 'db-held', 'db-held-');
      const refused = await stage.tryApply([namespaceObject('db-refused')]);
      expect(refused.stderr).toContain('db-team');
      for (const { port } of fleet.webhooks) await new HttpsClient(port).post('/nowhere', '{}');
      proxy.cut();
      await rise();
    };

    /** A rate needs events after the first scrape: reviews and reconciled namespaces. */
    const rise = async (): Promise<void> => {
      const times = queries.filter(({ expr }) => expr.startsWith('histogram_quantile'));
      let round = 0;
      await until(
        async () => {
          round += 1;
          await stage.kubectl('label', 'namespace', 'db-a', `db-round=${round}`, '--overwrite');
          const values = await Promise.all(times.map(({ expr }) => finite(expr)));
          return values.every((each) => each.length > 0);
        },
        () => `times of reviews and namespaces after ${round} changes`,
      );
    };

    const finite = async (expr: string): Promise<readonly number[]> =>
      (await prometheus.query(withInterval(expr)))
        .map(({ value: [, text] }) => Number(text))
        .filter((value) => Number.isFinite(value));

    test('Prometheus loads and evaluates every rule', async () => {
      await expect
        .poll(() => prometheus.rules(), { timeout: 30_000 })
        .toEqual({ count: expect.any(Number) as number, errors: [] });
      expect((await prometheus.rules()).count).toBeGreaterThan(10);
    });

    test.each(queries)('$title ($legendFormat) shows series', async ({ expr }) => {
      await expect.poll(() => finite(expr), { timeout: 60_000 }).not.toEqual([]);
    });

    test.each(queries)(
      '$title ($legendFormat) has all labels of its legend',
      async ({ expr, legendFormat }) => {
        const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/gu)].map(([, label = '']) => label);
        const found = (await prometheus.query(withInterval(expr))).map(({ metric }) => Object.keys(metric));
        expect(found).toContainEqual(expect.arrayContaining(labels));
      },
    );

    test.each(runbookQueries)('the query of a runbook is valid: %s', async (query) => {
      await expect(prometheus.query(query)).resolves.toBeInstanceOf(Array);
    });
  });
});

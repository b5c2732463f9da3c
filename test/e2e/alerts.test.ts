// Each alert fires when it should and is silent otherwise. promtool judges series made from scrapes of real processes.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { installReeve } from '../cluster/reeve-install.ts';
import { describePrometheus, promtool } from '../support/prometheus.ts';
import { spawnReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { Fleet } from './support/fleet.ts';
import { configMap, namespaceObject, policy } from './support/objects.ts';
import {
  afterMinutes,
  changed,
  faultMinutes,
  healthyMinutes,
  samplesOf,
  seriesOf,
  type Samples,
  type Scrape,
} from './support/scrapes.ts';
import { shareOf } from './support/secrets.ts';
import { Stage } from './support/stage.ts';

const prefix = 'al-';
const rulesFile = join(import.meta.dirname, '..', '..', 'manifests', 'chart', 'files', 'alerts.yaml');
const rulesText = readFileSync(rulesFile, 'utf8');

interface Rule {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly runbook: string };
}
const { groups } = parse(rulesText) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const isJudged = (metric: string): boolean => new RegExp(`\\b${metric}\\b`, 'u').test(rulesText);

/** What a person reads of an alert that fires. */
interface Firing {
  readonly alert: string;
  /** Beside the severity. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly summary: string;
}

const guardRef = ['validatingadmissionpolicybinding', 'reeve-guard'];

describePrometheus('the alerts', () => {
  describeControllers('on scrapes of a real install', { timeout: 240_000 }, () => {
    const cluster = sharedCluster();
    const stage = new Stage(cluster, prefix);
    let fleet: Fleet;
    let folder: string;
    let healthy: Samples;
    let faulty: Samples;

    /** Names each process like a Pod, and the leader `leader`. */
    const scrape = async (...more: readonly Reeve[]): Promise<Scrape> => {
      const leader = await fleet.leader();
      const named: (readonly [string, Reeve])[] = [
        ...fleet.webhooks.map((each, index) => [`webhook-${index}`, each] as const),
        ...fleet.reconcilers.map((each) => [each === leader ? 'leader' : 'standby', each] as const),
        ...more.map((each, index) => [`more-${index}`, each] as const),
      ];
      const texts = await Promise.all(
        named.map(async ([name, each]) => [name, await each.metrics()] as const),
      );
      const apiServer = await stage.kubectl('get', '--raw', '/metrics');
      return Object.fromEntries([...texts, ['api-server', apiServer]]);
    };
    /** Times of expiry are relative, because the clock of promtool starts in 1970. */
    const sample = async (...more: readonly Reeve[]): Promise<Samples> =>
      changed(samplesOf(await scrape(...more), isJudged), /^reeve_certificate_expiry/u, (value) =>
        Math.round(value - Date.now() / 1000),
      );

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'reeve-alerts-'));
      await installReeve(cluster);
      fleet = await Fleet.start(cluster);
      await stage.apply(
        namespaceObject('al-a'),
        policy('al-settings', {
          match: { names: ['al-a'] },
          contents: { resources: [configMap('settings', { a: 'b' })] },
        }),
      );
      await until(
        async () => {
          healthy = await sample();
          const isWell = (series: string): boolean => healthy.get(series) === 1;
          const providers = [...healthy.keys()].filter((name) => name.startsWith('reeve_provider_ready'));
          const guards = [...healthy.keys()].filter((name) => name.startsWith('reeve_guard_in_force'));
          const notReady = healthy.get('reeve_namespaces{instance="leader",ready="false"}');
          return [...providers, ...guards].every(isWell) && guards.length > 0 && notReady === 0;
        },
        () => [...healthy].join('\n'),
      );
      await breakThings();
    }, 240_000);
    afterAll(async () => {
      await installReeve(cluster);
      await stage.cleanUp();
      await fleet.stop();
      await rm(folder, { recursive: true, force: true });
    });

    /** Causes all faults that a person or program can cause within seconds. */
    const breakThings = async (): Promise<void> => {
      const inAnHour = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+Z/u, 'Z');
      await stage.apply(
        shareOf('al-no-source', { names: ['al-a'] }),
        policy('al-excepted', {
          match: { names: ['al-a'] },
          namespaces: { required: { labels: { 'al-team': {} } } },
          exceptions: [{ namespaces: ['al-a'], rules: ['namespaces.required'], expiresAt: inAnHour }],
        }),
      );
      await stage.kubectl('delete', ...guardRef);
      await stage.kubectl('delete', 'mutatingwebhookconfiguration', 'reeve');
      await stage.kubectl('delete', 'secret', 'reeve-webhook-ca', '-n', 'reeve-system');
      const is = (series: string, value: number): boolean => faulty.get(series) === value;
      await until(
        async () => {
          faulty = await sample();
          const sum = (metric: RegExp): number =>
            [...faulty].filter(([name]) => metric.test(name)).reduce((total, [, value]) => total + value, 0);
          return (
            is('reeve_guard_in_force{instance="leader",binding="reeve-guard"}', 0) &&
            is('reeve_provider_ready{instance="leader",kind="SecretShare",name="al-no-source"}', 0) &&
            is('reeve_namespaces{instance="leader",ready="false"}', 1) &&
            sum(/^reeve_webhook_configuration_repairs_total\{.*found="deleted"/u) > 0 &&
            sum(/^reeve_certificate_recoveries_total\{.*cause="missing"/u) > 0 &&
            sum(/^reeve_provider_exception_seconds/u) > 0
          );
        },
        () => [...faulty].join('\n'),
        120,
      );
    };

    /** The samples of the fault whose metric is named. All others are healthy. */
    const only = (...metrics: readonly string[]): Samples =>
      new Map([
        ...[...healthy].filter(([name]) => !metrics.some((metric) => name.startsWith(`${metric}{`))),
        ...[...faulty].filter(([name]) => metrics.some((metric) => name.startsWith(`${metric}{`))),
      ]);
    const without = (...instances: readonly string[]): Samples =>
      new Map(
        [...healthy].filter(([name]) => !instances.some((each) => name.includes(`instance="${each}"`))),
      );

    const judge = async (during: Samples, firing: readonly Firing[], before = healthy): Promise<void> => {
      const endOfFault = healthyMinutes + faultMinutes - 1;
      const all = (minute: number, alerts: readonly string[]) => ({
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: `${minute}m`,
        exp_samples: alerts.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
      });
      const file = join(folder, 'test.json');
      await writeFile(
        file,
        JSON.stringify({
          rule_files: [rulesFile],
          evaluation_interval: '1m',
          tests: [
            {
              interval: '1m',
              input_series: seriesOf(before, during),
              promql_expr_test: [
                all(healthyMinutes - 1, []),
                all(
                  endOfFault,
                  firing.map(({ alert }) => alert),
                ),
                all(endOfFault + afterMinutes, []),
              ],
              alert_rule_test: firing.map(({ alert, labels = {}, summary }) => {
                const rule = rules.find((each) => each.alert === alert);
                return {
                  alertname: alert,
                  eval_time: `${endOfFault}m`,
                  exp_alerts: [
                    {
                      exp_labels: { ...rule?.labels, ...labels },
                      exp_annotations: { summary, runbook: rule?.annotations.runbook },
                    },
                  ],
                };
              }),
            },
          ],
        }),
      );
      expect(await promtool('test', 'rules', file)).toMatchObject({
        code: 0,
        output: expect.stringContaining('SUCCESS') as string,
      });
      for (const { alert } of firing) fired.add(alert);
    };
    const fired = new Set<string>();

    test('a healthy install fires no alert', async () => {
      await judge(healthy, []);
    });

    test('a share without its source fires alerts for the share and for the namespace', async () => {
      await judge(only('reeve_provider_ready', 'reeve_namespaces'), [
        {
          alert: 'ReeveProviderNotReady',
          labels: { kind: 'SecretShare', name: 'al-no-source' },
          summary: 'SecretShare al-no-source is not ready.',
        },
        {
          alert: 'ReeveNamespaceNotReady',
          summary: 'Namespaces that are not ready, because objects are missing in them: 1.',
        },
      ]);
    });

    test.each<readonly [string, () => Samples, Firing]>([
      [
        'an exception that ends within a day',
        () =>
          changed(only('reeve_provider_exception_seconds'), /^reeve_provider_exception_seconds/u, () => 3600),
        {
          alert: 'ReeveExceptionEndsSoon',
          labels: { kind: 'NamespacePolicy', name: 'al-excepted' },
          summary: 'An exception of NamespacePolicy al-excepted ends in 1h 0m 0s.',
        },
      ],
      [
        'a deleted binding of the guard',
        () => only('reeve_guard_in_force'),
        {
          alert: 'ReeveGuardNotInForce',
          labels: { binding: 'reeve-guard' },
          summary: 'The API server does not enforce reeve-guard.',
        },
      ],
      [
        'a deleted webhook configuration',
        () => only('reeve_webhook_configuration_repairs_total'),
        {
          alert: 'ReeveWebhookConfigurationRepaired',
          labels: { kind: 'MutatingWebhookConfiguration', found: 'deleted' },
          summary:
            'The MutatingWebhookConfiguration reeve was changed by others (deleted), and Reeve has repaired it.',
        },
      ],
      [
        'a deleted Secret of the authority',
        () => only('reeve_certificate_recoveries_total'),
        {
          alert: 'ReeveAuthorityReplaced',
          labels: { cause: 'missing' },
          summary: "The Secret of Reeve's authority was replaced, because it was missing.",
        },
      ],
      [
        'a leader that is lost, while the standby does not lead',
        () => without('leader'),
        {
          alert: 'ReeveNoLeader',
          summary: 'No reconciler of Reeve leads, so nothing is provided in namespaces.',
        },
      ],
      [
        'the loss of both reconcilers',
        () => without('leader', 'standby'),
        {
          alert: 'ReeveNoLeader',
          summary: 'No reconciler of Reeve leads, so nothing is provided in namespaces.',
        },
      ],
      [
        'the loss of both webhooks',
        () => without('webhook-0', 'webhook-1'),
        {
          alert: 'ReeveNoWebhook',
          summary: 'No webhook of Reeve answers, so namespaces cannot be created.',
        },
      ],
      [
        'a certificate that is not renewed',
        () => changed(healthy, /certificate_expiry.*webhook-1.*serving/u, () => 86_400),
        {
          alert: 'ReeveCertificateExpires',
          labels: { instance: 'webhook-1', certificate: 'serving' },
          summary: 'The serving certificate of webhook-1 expires in 22h 1m 0s.',
        },
      ],
      [
        'a namespace that waits for more than five minutes',
        () => changed(healthy, /^reeve_reconcile_oldest_seconds.*leader/u, () => 301),
        {
          alert: 'ReeveNamespaceWaits',
          summary: 'A namespace has waited for 5m 1s to be reconciled.',
        },
      ],
      [
        'a watch that is silent for more than three minutes',
        () =>
          changed(healthy, /^reeve_watch_silence_seconds.*standby.*path="\/api\/v1\/namespaces"/u, () => 181),
        {
          alert: 'ReeveWatchSilent',
          labels: { instance: 'standby', path: '/api/v1/namespaces' },
          summary: 'standby has heard nothing from the API server for 3m 1s: /api/v1/namespaces.',
        },
      ],
      [
        'an internal error',
        () => changed(healthy, /^reeve_internal_errors_total/u, (value) => value + 1),
        { alert: 'ReeveInternalError', summary: 'Reeve has a bug, and reported an internal error.' },
      ],
      [
        'more than one failed call a minute',
        () => changed(healthy, /^reeve_reconcile_faults_total.*leader/u, (value) => value + 2),
        {
          alert: 'ReeveCallsFail',
          summary: 'Calls and steps of the reconciler fail again and again.',
        },
      ],
      [
        'a review that takes longer than its budget',
        () => changed(healthy, /^reeve_evaluation_budget_refusals_total/u, (value) => value + 1),
        {
          alert: 'ReeveEvaluationBudget',
          summary: 'Writes are refused, because policies take too long to evaluate.',
        },
      ],
      [
        'reviews that take more than a second',
        () =>
          changed(
            healthy,
            /^reeve_admission_duration_seconds_bucket.*le="(?:2.5|5|10|\+Inf)"/u,
            (value) => value + 9,
          ),
        {
          alert: 'ReeveReviewsSlow',
          summary: 'One of 100 reviews takes 2.485s or longer.',
        },
      ],
    ])('%s fires exactly its alert', async (_, during, firing) => {
      await judge(during(), [firing]);
    });

    test('a second process that leads fires exactly its alert', async () => {
      const second = await spawnReeve(cluster, { role: 'reconciler', args: ['--leader-elect=false'] });
      try {
        const leads = (): boolean =>
          [...both].some(([name, value]) => name.includes('"more-0"') && value === 1);
        let both: Samples = new Map();
        await until(
          async () => {
            both = samplesOf(await scrape(second), (metric) => metric === 'reeve_leader');
            return leads();
          },
          () => second.output,
        );
        await judge(new Map([...healthy, ...both]), [
          { alert: 'ReeveTwoLeaders', summary: '2 reconcilers of Reeve lead at the same time.' },
        ]);
      } finally {
        await second.stop();
      }
    });

    test('writes that no webhook answers fire alerts for the webhooks and for the calls', async () => {
      for (const webhook of fleet.webhooks) webhook.kill('SIGKILL');
      const refused = async (): Promise<string> =>
        (await stage.tryApply([namespaceObject('al-refused')])).stderr;
      await until(
        async () => (await refused()).includes('failed calling webhook'),
        () => 'the API server notices that no webhook answers',
      );
      const isCounted = (metric: string): boolean => isJudged(metric) && metric.startsWith('apiserver_');
      const once = samplesOf(await scrape(), isCounted);
      await refused();
      const twice = samplesOf(await scrape(), isCounted);
      const apart = [...healthy].filter(([name]) => !/"webhook-\d"/u.test(name) && !once.has(name));
      await judge(
        new Map([...apart, ...twice]),
        [
          {
            alert: 'ReeveNoWebhook',
            summary: 'No webhook of Reeve answers, so namespaces cannot be created.',
          },
          {
            alert: 'ReeveWebhookCallsFail',
            summary:
              'The API server gets no answer from the webhooks of Reeve, so it refuses writes or lets them pass without a review.',
          },
        ],
        new Map([...healthy, ...once]),
      );
    });

    test('each alert has fired in one of these tests', () => {
      expect([...fired].toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
    });
  });
});

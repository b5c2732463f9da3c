// Each alert fires when it should and is silent otherwise. promtool judges series made from scrapes of real processes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describePrometheus } from '../support/prometheus.ts';
import { spawnReeve } from '../support/reeve.ts';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { alertNames, isInAlerts, judgeAlerts, type Firing } from './support/alert-rules.ts';
import { AlertScene } from './support/alert-scene.ts';
import { namespaceObject } from './support/objects.ts';
import { changed, samplesOf, type Samples } from './support/scrapes.ts';
import { Stage } from './support/stage.ts';

describePrometheus('the alerts', () => {
  describeControllers('on scrapes of a real install', { timeout: 240_000 }, () => {
    // Uses its own cluster: it deletes the guard, and a namespace of another test that is not ready would fire an alert.
    let cluster: ControlPlane;
    const fired = new Set<string>();
    let scene: AlertScene;
    let healthy: Samples;
    let folder: string;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'reeve-alerts-'));
      cluster = await startControlPlane({ audit: false });
      scene = await AlertScene.prepare(new Stage(cluster, 'al-'));
      ({ healthy } = scene);
    }, 240_000);
    afterAll(async () => {
      await scene.fleet.stop();
      await cluster.stop();
      await rm(folder, { recursive: true, force: true });
    });

    const expectAlerts = async (
      during: Samples,
      firing: readonly Firing[],
      before = healthy,
    ): Promise<void> => {
      expect(await judgeAlerts(folder, before, during, firing)).toMatchObject({
        code: 0,
        output: expect.stringContaining('SUCCESS') as string,
      });
      for (const { alert } of firing) fired.add(alert);
    };

    test('a healthy install fires no alert', async () => {
      await expectAlerts(healthy, []);
    });

    test('a share without its source fires alerts for the share and for the namespace', async () => {
      await expectAlerts(scene.only('reeve_provider_ready', 'reeve_namespaces'), [
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
          changed(
            scene.only('reeve_provider_exception_seconds'),
            /^reeve_provider_exception_seconds/u,
            () => 3600,
          ),
        {
          alert: 'ReeveExceptionEndsSoon',
          labels: { kind: 'NamespacePolicy', name: 'al-excepted' },
          summary: 'An exception of NamespacePolicy al-excepted ends in 1h 0m 0s.',
        },
      ],
      [
        'a policy whose deletions are held',
        () =>
          changed(scene.only('reeve_provider_held'), /^reeve_provider_held.*name="al-excepted"/u, () => 38),
        {
          alert: 'ReeveTooManyDeletions',
          labels: { kind: 'NamespacePolicy', name: 'al-excepted' },
          summary:
            'NamespacePolicy al-excepted no longer wants 38 objects, and holds their deletion until a person decides.',
        },
      ],
      [
        'a deleted binding of the guard',
        () => scene.only('reeve_guard_in_force'),
        {
          alert: 'ReeveGuardNotInForce',
          labels: { binding: 'reeve-guard' },
          summary: 'The API server does not enforce reeve-guard.',
        },
      ],
      [
        'a deleted webhook configuration',
        () => scene.only('reeve_webhook_configuration_repairs_total'),
        {
          alert: 'ReeveWebhookConfigurationRepaired',
          labels: { kind: 'MutatingWebhookConfiguration', found: 'deleted' },
          summary:
            'The MutatingWebhookConfiguration reeve was changed by others (deleted), and Reeve has repaired it.',
        },
      ],
      [
        'a deleted Secret of the authority',
        () => scene.only('reeve_certificate_recoveries_total'),
        {
          alert: 'ReeveAuthorityReplaced',
          labels: { cause: 'missing' },
          summary: "The Secret of Reeve's authority was replaced, because it was missing.",
        },
      ],
      [
        'a leader that is lost, while the standby does not lead',
        () => scene.without('leader'),
        {
          alert: 'ReeveNoLeader',
          summary: 'No reconciler of Reeve leads, so nothing is provided in namespaces.',
        },
      ],
      [
        'the loss of both reconcilers',
        () => scene.without('leader', 'standby'),
        {
          alert: 'ReeveNoLeader',
          summary: 'No reconciler of Reeve leads, so nothing is provided in namespaces.',
        },
      ],
      [
        'the loss of both webhooks',
        () => scene.without('webhook-0', 'webhook-1'),
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
        'a review that costs more than its budget',
        () => changed(healthy, /^reeve_evaluation_budget_refusals_total/u, (value) => value + 1),
        {
          alert: 'ReeveEvaluationBudget',
          summary: 'Writes are refused, because policies cost too much to evaluate.',
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
      await expectAlerts(during(), [firing]);
    });

    test('a second process that leads fires exactly its alert', async () => {
      const second = await spawnReeve(cluster, { role: 'reconciler', args: ['--leader-elect=false'] });
      try {
        const leads = (): boolean =>
          [...both].some(([name, value]) => name.includes('"more-0"') && value === 1);
        let both: Samples = new Map();
        await until(
          async () => {
            both = samplesOf(await scene.scrape(second), (metric) => metric === 'reeve_leader');
            return leads();
          },
          () => second.output,
        );
        await expectAlerts(new Map([...healthy, ...both]), [
          { alert: 'ReeveTwoLeaders', summary: '2 reconcilers of Reeve lead at the same time.' },
        ]);
      } finally {
        await second.stop();
      }
    });

    test('writes that no webhook answers fire alerts for the webhooks and for the calls', async () => {
      for (const webhook of scene.fleet.webhooks) webhook.kill('SIGKILL');
      const refused = async (): Promise<string> =>
        (await scene.stage.tryApply([namespaceObject('al-refused')])).stderr;
      await until(
        async () => (await refused()).includes('failed calling webhook'),
        () => 'the API server notices that no webhook answers',
      );
      const isCounted = (metric: string): boolean => isInAlerts(metric) && metric.startsWith('apiserver_');
      const once = samplesOf(await scene.scrape(), isCounted);
      await refused();
      const twice = samplesOf(await scene.scrape(), isCounted);
      const apart = [...healthy].filter(([name]) => !/"webhook-\d"/u.test(name) && !once.has(name));
      await expectAlerts(
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
      expect([...fired].toSorted()).toEqual(alertNames.toSorted());
    });
  });
});

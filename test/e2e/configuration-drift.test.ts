// Others change the webhook configurations: Reeve repairs them, logs the change, and counts it in a metric.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { spawnReeve, startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { must } from './support/attempt.ts';
import { cleanUp } from './support/clean-up.ts';
import { Configurations, type StoredWebhook } from './support/configurations.ts';
import { inTime } from './support/in-time.ts';
import { policy } from './support/objects.ts';
import { file } from './support/ways-to-write.ts';
import { repairTimes } from './support/webhook-writes.ts';

const prefix = 'cd-';
/** The time that a start may take on a busy machine. */
const startSeconds = 150;
const alarm = 'webhook configuration was changed by others';
const foreignBundle = Buffer.from('-----BEGIN CERTIFICATE-----\nof-nobody-we-know\n').toString('base64');

/** A policy that makes Reeve register every webhook it can have. */
const judging = policy('cd-all', {
  match: { names: ['cd-none'] },
  secrets: { maxBytes: 1, defaults: { labels: { a: 'b' } } },
  rbac: { allowedRoleRefs: ['ClusterRole/view'], forbidWildcardRules: true },
});

/** Changes to each of the validating webhooks, by name. */
const tampering: Readonly<Record<string, (webhook: StoredWebhook) => readonly object[]>> = {
  'namespaces.validate.reeve.dev': (webhook) => [
    { ...webhook, failurePolicy: 'Ignore', timeoutSeconds: 1, namespaceSelector: {} },
  ],
  'namespacepolicies.validate.reeve.dev': (webhook) => [{ ...webhook, rules: [] }],
  'secretshares.validate.reeve.dev': () => [],
  'configmapshares.validate.reeve.dev': (webhook) => [webhook],
  'securityintents.validate.reeve.dev': (webhook) => [webhook],
  'clustersecurityintentbindings.validate.reeve.dev': (webhook) => [webhook],
  'securityintentbindings.validate.reeve.dev': (webhook) => [webhook],
  'namespaceclaims.validate.reeve.dev': (webhook) => [webhook],
  'secrets.validate.reeve.dev': (webhook) => [
    { ...webhook, rules: [{ ...webhook.rules[0], resources: ['secrets', 'configmaps'] }] },
  ],
  'roles.validate.reeve.dev': (webhook) => [
    {
      ...webhook,
      objectSelector: { matchLabels: { never: 'there' } },
      matchConditions: [...webhook.matchConditions, { name: 'never', expression: 'false' }],
    },
  ],
  'rolebindings.validate.reeve.dev': (webhook) => [
    { ...webhook, clientConfig: { ...webhook.clientConfig, caBundle: foreignBundle } },
    { ...webhook, name: 'other.example.com' },
  ],
};

describeControllers('webhook configurations that others change', () => {
  const cluster = sharedCluster();
  const configurations = new Configurations(cluster);
  const [validating, mutating] = ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'];
  const audit = cluster.auditLog();
  const replicas: Reeve[] = [];
  let reeve: Reeve;

  /** Returns the number of repairs by their reason. */
  const repairs = async (kind: string | undefined): Promise<Readonly<Record<string, number>>> => {
    const name = `reeve_webhook_configuration_repairs_total{kind="${kind}",found="`;
    const lines = (await reeve.metrics()).split('\n').filter((line) => line.startsWith(name));
    const counts = lines.map((line) => line.slice(name.length).split('"} '));
    return Object.fromEntries(counts.map(([found = '', count]) => [found, Number(count)]));
  };
  const none = {
    deleted: 0,
    emptied: 0,
    'webhook-removed': 0,
    'webhook-added': 0,
    'ca-bundle': 0,
    'webhook-changed': 0,
    metadata: 0,
  };

  const alarms = (): readonly (readonly [kind: string, found: unknown])[] =>
    reeve.output
      .split('\n')
      .filter((line) => line.includes(alarm))
      .map((line) => {
        const { kind, found } = JSON.parse(line) as { readonly kind: string; readonly found: unknown };
        return [kind, found];
      });

  /** Checks the longest repair of both. The clock of the API server keeps a busy machine from mattering. */
  const expectRepairSince = async (since: number): Promise<void> => {
    const times = repairTimes(await audit.records(), since);
    expect(times).toHaveLength(2);
    expect(Math.max(...times)).toBeLessThan(10_000);
  };

  /** Starts another replica behind the same Service. */
  const anotherReplica = async (): Promise<Reeve> => {
    const { webhooks } = await configurations.mustFind('mutating');
    const servicePort = webhooks[0]?.clientConfig.service.port ?? 0;
    const replica = await spawnReeve(cluster, { role: 'webhook', servicePort });
    replicas.push(replica);
    await until(
      () => replica.isReady(),
      () => `ready: ${replica.output}`,
      startSeconds,
    );
    return replica;
  };

  beforeAll(async () => {
    await installReeve(cluster);
    await configurations.remove();
    reeve = await startReeve(cluster, { role: 'webhook' });
    replicas.push(reeve);
  });
  afterAll(async () => {
    await cleanUp(cluster, prefix);
    await Promise.all(replicas.map((replica) => replica.stop()));
    await configurations.remove();
  });

  it('a change by Reeve itself is no drift', async () => {
    await must(file(['create'], judging), cluster);
    await inTime(() => configurations.names('validating')).toEqual(Object.keys(tampering));
    await inTime(() => configurations.names('mutating')).toHaveLength(3);
    expect([await repairs(validating), await repairs(mutating), alarms()]).toEqual([none, none, []]);
  });

  it('drift is repaired webhook by webhook, for every kind of change', async () => {
    const before = await configurations.shown();
    const { webhooks } = await configurations.mustFind('validating');
    const since = Date.now();
    await configurations.patch('validating', 'merge', {
      webhooks: webhooks.flatMap((webhook) => tampering[webhook.name]?.(webhook) ?? []),
    });
    await configurations.patch('mutating', 'merge', { webhooks: [] });
    await inTime(() => configurations.shown()).toEqual(before);
    await expectRepairSince(since);
    await inTime(alarms).toHaveLength(2);
    // A round of repairs can begin between the two changes.
    expect(new Map(alarms())).toEqual(
      new Map([
        [mutating, ['emptied']],
        [
          validating,
          [
            'namespaces.validate.reeve.dev: failurePolicy, namespaceSelector, timeoutSeconds',
            'namespacepolicies.validate.reeve.dev: rules',
            'secretshares.validate.reeve.dev: webhook-removed',
            'secrets.validate.reeve.dev: rules',
            'roles.validate.reeve.dev: objectSelector, matchConditions',
            'rolebindings.validate.reeve.dev: clientConfig.caBundle',
            'other.example.com: webhook-added',
          ],
        ],
      ]),
    );
    expect(await repairs(mutating)).toEqual({ ...none, emptied: 1 });
    const once = { 'webhook-removed': 1, 'webhook-added': 1, 'ca-bundle': 1, 'webhook-changed': 1 };
    expect(await repairs(validating)).toEqual({ ...none, ...once });
    expect(reeve.output).not.toContain(foreignBundle);
  });

  it('deleted configurations are created again, with the same ownerReference', async () => {
    const before = await configurations.shown();
    const counted = await repairs(validating);
    const since = Date.now();
    await configurations.remove('mutating');
    await configurations.patch('validating', 'merge', {
      metadata: { annotations: { 'reeve.dev/version': null }, labels: null, ownerReferences: null },
    });
    await inTime(() => configurations.shown()).toEqual(before);
    await expectRepairSince(since);
    await inTime(alarms).toHaveLength(4);
    expect(await repairs(mutating)).toEqual({ ...none, emptied: 1, deleted: 1 });
    expect(await repairs(validating)).toEqual({ ...counted, metadata: 1 });
  });

  it('a replica that takes over leaves correct configurations as they are', async () => {
    const before = await configurations.resourceVersions();
    const standby = await anotherReplica();
    await reeve.stop();
    reeve = standby;
    await inTime(() => standby.output).toContain('"leading"');
    // A repair proves that Reeve has compared the stored configuration with the wanted one.
    await configurations.patch('mutating', 'json', [
      { op: 'replace', path: '/webhooks/0/timeoutSeconds', value: 1 },
    ]);
    await inTime(async () => (await repairs(mutating))['webhook-changed']).toBe(1);
    const [, after] = await configurations.resourceVersions();
    expect(after).toBe(before[1]);
    await inTime(() => standby.output.split('webhook configuration applied')).toHaveLength(2);
  });

  it('drift from the time without a running replica is repaired and reported', async () => {
    const before = await configurations.shown();
    await reeve.stop();
    await configurations.patch('validating', 'json', [{ op: 'remove', path: '/webhooks/0' }]);
    reeve = await anotherReplica();
    await inTime(() => configurations.shown()).toEqual(before);
    await inTime(alarms).toHaveLength(1);
    expect(alarms()).toEqual([[validating, ['namespaces.validate.reeve.dev: webhook-removed']]]);
  });

  it('configurations are not created again once their ClusterRole is deleted', async () => {
    await mustKubectl(['delete', 'clusterrole', 'reeve-webhook'], cluster);
    await inTime(() => configurations.resourceVersions()).toEqual([undefined, undefined]);
    await inTime(() => reeve.output).toContain('webhook configurations not applied');
    const label = ['label', 'namespace', 'default', '--overwrite', 'cd=gone', '--dry-run=server'];
    await mustKubectl(label, cluster);
    expect(await configurations.resourceVersions()).toEqual([undefined, undefined]);
    await installReeve(cluster);
    await inTime(() => configurations.names('mutating')).toHaveLength(3);
  });
});

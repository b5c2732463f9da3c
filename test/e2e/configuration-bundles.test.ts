// The authorities in the webhook configurations: Reeve keeps and reads back its own, and leaves those of others alone.
import { installOf } from '../../src/policy/terms/install.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findApiServer } from '../../src/kube/auth/find-api-server.ts';
import type { Log } from '../../src/observe/log.ts';
import { MetricsRegistry } from '../../src/observe/registry.ts';
import type { CaBundle } from '../../src/certs/ports.ts';
import { connect, type ClusterConnection } from '../../src/app/cluster-connection.ts';
import { watchCluster } from '../../src/app/cluster-view.ts';
import type { Election } from '../../src/app/election.ts';
import { Watches } from '../../src/app/watches.ts';
import { startRegistration } from '../../src/app/registration.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { configurationKinds, Configurations, type StoredWebhook } from './support/configurations.ts';
import { inTime } from './support/in-time.ts';
import { repairTimes } from './support/webhook-writes.ts';

const namespace = 'reeve-system';
const settings = {
  namespace,
  serviceName: 'reeve-webhook',
  servicePort: 443,
  secretsRbacFailurePolicy: 'Fail',
  leaderElect: false,
} as const;
const install = installOf({
  namespace,
  sharedNamespace: ['reeve-shared'],
  excludeNamespace: [],
  intentAdapter: [],
  resourceKind: [],
});

const [first, second, theirs] = ['first', 'second', 'theirs'].map(
  (name) => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`,
);
const encoded = (pem = ''): string => Buffer.from(pem).toString('base64');

/** The wanted bundle, and the log lines about it. */
class Authority implements CaBundle {
  readonly confirmations: string[] = [];
  doubts = 0;
  #pem: string | undefined;
  #tell: () => void = () => undefined;

  constructor(pem: string | undefined) {
    this.#pem = pem;
  }

  wanted(): Promise<string | undefined> {
    return Promise.resolve(this.#pem);
  }

  confirmed(bundle: string): void {
    if (this.confirmations.at(-1) !== bundle) this.confirmations.push(bundle);
  }

  doubted(): void {
    this.doubts += 1;
  }

  subscribe(listener: () => void): () => void {
    this.#tell = listener;
    return () => (this.#tell = () => undefined);
  }

  change(pem: string | undefined): void {
    this.#pem = pem;
    this.haveALook();
  }

  /** Triggers the round that would otherwise follow some seconds later. */
  haveALook(): void {
    this.#tell();
  }
}

describeControllers('the authorities in the webhook configurations', () => {
  const cluster = sharedCluster();
  const configurations = new Configurations(cluster);
  let connection: ClusterConnection;
  let watches: Watches;
  let view: ReturnType<typeof watchCluster> | undefined;
  let keeper: Election | undefined;
  let warnings: string[];
  let registry: MetricsRegistry;

  /** Keeps the configurations with the account of the webhook, as its process does. */
  const keep = (authority: Authority): void => {
    const log: Log = {
      debug: () => undefined,
      info: () => undefined,
      warn: (message) => warnings.push(message),
      error: (message) => warnings.push(message),
      close: () => Promise.resolve(),
      dropped: () => 0,
    };
    const fail = (error: unknown): void => void warnings.push(String(error));
    watches = new Watches(connection.client, log, registry, fail);
    view = watchCluster(install, watches, { connection, log, fail });
    const context = { connection, cluster: view.cluster, install, registry, log, activity: {}, fail };
    keeper = startRegistration(settings, authority, context);
  };

  /** Returns the bundles of both configurations, each value once. */
  const eachOnce = async (read: (webhook: StoredWebhook) => unknown): Promise<readonly unknown[]> => {
    const found = await Promise.all(configurationKinds.map((kind) => configurations.find(kind)));
    return [...new Set(found.flatMap((each) => (each === undefined ? ['none'] : each.webhooks.map(read))))];
  };
  const bundles = (): Promise<readonly unknown[]> => eachOnce(({ clientConfig }) => clientConfig.caBundle);
  const failurePolicies = (): Promise<readonly unknown[]> => eachOnce(({ failurePolicy }) => failurePolicy);
  /** Writes a bundle as another controller does. */
  const write = async (kind: 'mutating' | 'validating', pem: string | undefined): Promise<void> => {
    const { webhooks } = await configurations.mustFind(kind);
    const value = encoded(pem);
    const steps = webhooks.map((_, index) => ({
      op: 'add',
      path: `/webhooks/${index}/clientConfig/caBundle`,
      value,
    }));
    await configurations.patch(kind, 'json', steps);
  };
  /** Waits until another round has run. */
  const passARound = async (authority: Authority): Promise<void> => {
    await configurations.patch('validating', 'json', [
      { op: 'replace', path: '/webhooks/0/timeoutSeconds', value: 1 },
    ]);
    authority.haveALook();
    await inTime(async () => (await configurations.mustFind('validating')).webhooks[0]?.timeoutSeconds).toBe(
      5,
    );
  };

  beforeEach(async () => {
    await installReeve(cluster);
    await configurations.remove();
    const kubeconfig = await cluster.tokenKubeconfig('reeve-system', 'reeve-webhook');
    connection = await connect(() => findApiServer({ kubeconfig, environment: {} }), 1);
    [warnings, registry] = [[], new MetricsRegistry()];
  });
  afterEach(async () => {
    await keeper?.stop();
    view?.stop();
    await watches.stop();
    connection.client.close();
    await configurations.remove();
  });

  it('a new authority is confirmed as soon as every webhook of both configurations has it, and not before', async () => {
    const authority = new Authority(first);
    keep(authority);
    await inTime(() => authority.confirmations).toEqual([first]);
    expect(await bundles()).toEqual([encoded(first)]);
    // One configuration now belongs to a newer version. Reeve must still keep its authorities.
    const both = `${first}${second}`;
    await configurations.sealAs('validating', '99.0.0');
    authority.change(both);
    await inTime(() => authority.confirmations).toEqual([first, both]);
    expect(await bundles()).toEqual([encoded(both)]);
    // Reeve has no say in a configuration that calls another Service.
    await configurations.sealAs('validating', '99.0.0', 'elsewhere');
    authority.change(second);
    await inTime(bundles).toEqual([encoded(second), encoded(both)]);
    await configurations.remove('mutating');
    authority.haveALook();
    await inTime(bundles).toEqual([encoded(second), encoded(both)]);
    expect(authority.confirmations).toEqual([first, both]);
    await configurations.patch('validating', 'merge', {
      metadata: { annotations: { 'reeve.dev/version': '0.0.1' } },
    });
    authority.haveALook();
    await inTime(() => authority.confirmations).toEqual([first, both, second]);
    expect(await bundles()).toEqual([encoded(second)]);
  });

  it('a caBundle that others changed or emptied is repaired and reported, and our own change is not reported', async () => {
    const authority = new Authority(first);
    keep(authority);
    await inTime(() => authority.confirmations).toEqual([first]);
    authority.change(second);
    await inTime(() => authority.confirmations).toEqual([first, second]);
    expect(warnings).toEqual([]);
    const since = Date.now();
    await write('validating', theirs);
    await write('mutating', undefined);
    await inTime(bundles).toEqual([encoded(second)]);
    const repairs = repairTimes(await cluster.auditLog().records(), since);
    expect(repairs).toHaveLength(2);
    expect(Math.max(...repairs)).toBeLessThan(10_000);
    await inTime(() => warnings).toHaveLength(2);
    const metrics = await registry.render();
    for (const kind of ['Validating', 'Mutating'])
      expect(metrics).toContain(`{kind="${kind}WebhookConfiguration",found="ca-bundle"} 1`);
  });

  it('a caBundle of another program is waited for, with webhooks that refuse nothing before, and then kept', async () => {
    const authority = new Authority(undefined);
    keep(authority);
    await inTime(failurePolicies).toEqual(['Ignore']);
    expect(await bundles()).toEqual([undefined]);
    await inTime(() => warnings).toHaveLength(2);
    await write('validating', theirs);
    await write('mutating', theirs);
    authority.haveALook();
    // The failure policy of the mutating configuration is always Ignore.
    await inTime(failurePolicies).toEqual(['Ignore', 'Fail']);
    const { webhooks } = await configurations.mustFind('validating');
    expect(webhooks.every(({ failurePolicy }) => failurePolicy === 'Fail')).toBe(true);
    await passARound(authority);
    await write('validating', second);
    await passARound(authority);
    expect(await bundles()).toEqual([encoded(theirs), encoded(second)]);
    await write('validating', undefined);
    authority.haveALook();
    await inTime(failurePolicies).toEqual(['Ignore']);
    // Only the changed timeout is reported.
    expect(new Set(warnings)).toEqual(
      new Set([
        'webhooks lack a caBundle, and refuse nothing until they have one',
        'webhook configuration was changed by others',
      ]),
    );
    expect(await registry.render()).not.toMatch(/found="ca-bundle"} [^0]/);
  });
});

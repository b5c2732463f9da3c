// Certificates need no person: replicas agree on them, renew them in time, and repair any damage to their Secret.
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorityOf, bundleOf, encodeState } from '../../src/certs/authority/authority-state.ts';
import { issueAuthority, issueCertificates, type IssuedCertificates } from '../../src/certs/issue/issue.ts';
import { installReeve, removeWebhooks } from '../cluster/reeve-install.ts';
import { ApiCalls } from '../soak/api-calls.ts';
import { Balancer } from '../support/balancer.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { spawnReeve, startReeve, webhookIsAsked, type Reeve } from '../support/reeve.ts';
import { SettableClock } from '../support/settable-clock.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { Configurations } from './support/configurations.ts';
import { inTime } from './support/in-time.ts';
import { PacedWrites } from './support/paced-writes.ts';
import { dataKey, fingerprintOf, servedBy, SharedAuthoritySecret } from './support/shared-authority.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;
const quick = ['--ca-lifetime=1h', '--cert-lifetime=20m', '--ca-settling=1s'];

describeControllers('the certificates of the webhook', () => {
  const cluster = sharedCluster();
  const secret = new SharedAuthoritySecret(cluster);
  const configurations = new Configurations(cluster);

  beforeAll(async () => {
    await installReeve(cluster);
    await removeWebhooks(cluster);
    await secret.remove();
  });
  afterAll(async () => {
    await removeWebhooks(cluster);
    await secret.remove();
  });

  describe('of replicas that share an authority', () => {
    const clocks = Array.from({ length: 5 }, () => new SettableClock(cluster.folder));
    const balancer = new Balancer([]);
    let replicas: readonly Reeve[] = [];
    let firstServed: readonly string[];
    let client: ApiCalls;
    let writes: PacedWrites | undefined;

    beforeAll(async () => {
      const servicePort = await balancer.listen();
      replicas = await Promise.all(
        clocks.map(({ env }) => spawnReeve(cluster, { role: 'webhook', args: quick, servicePort, env })),
      );
      balancer.setReplicas(replicas);
      await until(
        async () => (await Promise.all(replicas.map((each) => each.isReady()))).every(Boolean),
        () => replicas.map(({ output }) => output).join('\n'),
        120,
      );
      client = await ApiCalls.of(cluster);
    });
    afterAll(async () => {
      await writes?.stop();
      client.close();
      await Promise.all(replicas.map((each) => each.stop()));
      await balancer.close();
    });

    const fingerprints = async (): Promise<readonly string[]> =>
      (await Promise.all(replicas.map((each) => servedBy(each)))).map(({ fingerprint }) => fingerprint);
    /** Starts writes until the test ends, more at once than the API server keeps idle connections. */
    const startWriting = (): PacedWrites =>
      new PacedWrites({
        perSecond: 16,
        atOnce: 32,
        write: (turn) =>
          client.send({
            method: 'POST',
            path: '/api/v1/namespaces?dryRun=All',
            body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `certificates-${turn}` } },
          }),
        outcome: ({ status, message }) => (status === 201 ? 'made' : `${status} ${message}`),
      });

    it('replicas that start at the same time without a Secret agree on one authority', async () => {
      const state = await secret.state();
      expect(state).toMatchObject({ retired: [] });
      expect(state?.next).toBeUndefined();
      const bundle = state === undefined ? '' : bundleOf(state);
      const served = await Promise.all(replicas.map((each) => servedBy(each, bundle)));
      firstServed = served.map(({ fingerprint }) => fingerprint);
      expect(new Set(firstServed).size).toBe(replicas.length);
      await inTime(() => configurations.bundles()).toEqual([bundle]);
      await webhookIsAsked(cluster);
      writes = startWriting();
      expect(await secret.stored()).toMatchObject({
        type: 'Opaque',
        metadata: { labels: { 'app.kubernetes.io/part-of': 'reeve' } },
      });
    });

    it('replicas whose clocks jump go on serving, and all trust the same authority', async () => {
      const before = await secret.state();
      const [early, late] = replicas;
      if (early === undefined || late === undefined) throw new Error('there are not two');
      // By the clock of this replica, its certificate is due for renewal.
      await clocks[0]?.shift(early, 14 * minuteMs);
      await clocks[1]?.shift(late, -5 * minuteMs);
      const [earlyServed, ...others] = firstServed;
      await inTime(async () => (await servedBy(early)).fingerprint).not.toBe(earlyServed);
      expect((await fingerprints()).slice(1)).toEqual(others);
      expect(await secret.state()).toEqual(before);
      expect(await signedBy(replicas, before?.signing?.certPem ?? '')).toBe(true);
    });

    const newSigner = async (before: string | undefined): Promise<boolean> => {
      const { certPem = '', notAfter = 0 } = (await secret.state())?.signing ?? {};
      return notAfter > Date.now() && fingerprintOf(certPem) !== before;
    };
    const expired = async (): Promise<void> => {
      const long = new Date(Date.now() - 3 * hourMs);
      const signing = authorityOf(await issueAuthority(hourMs, long));
      await secret.putState(encodeState({ signing, retired: [] }));
    };
    const tooLarge = async (): Promise<void> => {
      const state = await secret.state();
      const certPem = `-----BEGIN CERTIFICATE-----\n${'A'.repeat(900_000)}\n-----END CERTIFICATE-----\n`;
      const large = encodeState({ ...state, retired: [{ certPem, until: Date.now() + hourMs }] });
      await secret.put({ x: 'of no use', [dataKey]: large });
    };
    const truncated = async (): Promise<void> => {
      const state = await secret.state();
      await secret.putState(state === undefined ? '' : encodeState(state).slice(0, 500));
    };
    it.each([
      { what: 'deleted', cause: 'missing', damage: () => secret.remove() },
      { what: 'truncated', cause: 'corrupt', damage: truncated },
      { what: 'far too large', cause: 'corrupt', damage: tooLarge },
      { what: 'expired', cause: 'expired', damage: expired },
    ])('Reeve repairs a Secret that is $what, and replicas keep serving', async ({ cause, damage }) => {
      const before = await secret.signer();
      const recoveries = await recoveriesOf(replicas, cause);
      await damage();
      // All API servers know the new authority before it signs.
      await inTime(() => newSigner(before)).toBe(true);
      const state = await secret.state();
      expect(state?.retired.map(({ certPem }) => fingerprintOf(certPem))).toContain(before);
      const signer = state?.signing?.certPem ?? '';
      // Every replica gets another certificate as soon as another authority signs.
      await inTime(() => signedBy(replicas, signer)).toBe(true);
      expect(await recoveriesOf(replicas, cause)).toBe(recoveries + 1);
      expect(replicas.map((each) => each.hasEnded)).toEqual(replicas.map(() => false));
      expect(Object.keys((await secret.stored())?.data ?? {})).toContain(dataKey);
      await webhookIsAsked(cluster);
    });

    it('a replica that starts while the API server is away waits, and ends on SIGTERM', async () => {
      using proxy = await startFaultProxy(new URL(cluster.server));
      proxy.refuse();
      const account = await cluster.tokenKubeconfig('reeve-system', 'reeve-webhook');
      const waiting = await spawnReeve(cluster, {
        role: 'webhook',
        args: quick,
        kubeconfig: await proxy.kubeconfigLike(account),
      });
      await inTime(() => waiting.output).toContain('certificate authority not checked');
      expect(await waiting.isReady()).toBe(false);
      const { code, stdout } = await waiting.stop();
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    });

    it('the metrics report when the certificates end', async () => {
      const expiry = 'reeve_certificate_expiry_timestamp_seconds';
      const last = replicas.at(-1);
      if (last === undefined) throw new Error('there is none');
      const [{ notAfter }, state] = await Promise.all([servedBy(last), secret.state()]);
      expect(await last.metric(`${expiry}{certificate="serving"}`)).toBe(notAfter / 1000);
      const signing = state?.signing?.notAfter ?? 0;
      expect(await last.metric(`${expiry}{certificate="authority"}`)).toBe(signing / 1000);
      const renewals = await last.metric('reeve_certificate_renewals_total{certificate="serving"}');
      expect(renewals).toBeGreaterThan(3);
    });

    it('no output holds a private key', async () => {
      const told = await Promise.all(replicas.map(async (each) => `${each.output}${await each.metrics()}`));
      expect(secret.keys.size).toBeGreaterThan(4);
      for (const text of told) {
        expect(text).not.toContain('PRIVATE KEY');
        for (const key of secret.keys)
          for (const line of key.split('\n').slice(1, 3)) expect(text).not.toContain(line);
      }
      expect(told.join('')).toMatch(/"fingerprint":"[0-9A-F:]{95}","notAfter":"2/);
    });

    it('no write failed meanwhile, and no replica reported the authority of another replica as foreign', async () => {
      const { made = 0, ...failed } = (await writes?.stop()) ?? {};
      expect(failed).toEqual({});
      expect(made).toBeGreaterThan(100);
      expect(await recoveriesOf(replicas, 'foreign')).toBe(0);
    });

    it('an expired Secret is repaired by the replica that starts with it', async () => {
      await Promise.all(replicas.map((each) => each.stop()));
      await expired();
      const before = await secret.signer();
      await using starting = await startReeve(cluster, { role: 'webhook', args: quick });
      const state = await secret.state();
      expect(await newSigner(before)).toBe(true);
      expect(await configurations.bundles()).toEqual([state === undefined ? '' : bundleOf(state)]);
      expect(await recoveriesOf([starting], 'expired')).toBe(1);
      expect(starting.output).not.toContain('no certificate authority may sign yet');
    });
  });

  describe('from files', () => {
    let folder: string;
    let reeve: Reeve | undefined;
    let issued: IssuedCertificates;

    const make = async (): Promise<IssuedCertificates> =>
      await issueCertificates({
        namespace: 'reeve-system',
        now: new Date(),
        caLifetimeDays: 2,
        leafLifetimeDays: 1,
      });
    const put = async (name: string, content: string): Promise<void> => {
      await writeFile(join(folder, `${name}.new`), content);
      await rename(join(folder, `${name}.new`), join(folder, name));
    };
    const putPair = async ({ serving }: IssuedCertificates): Promise<void> => {
      await put('tls.crt', serving.certPem);
      await put('tls.key', serving.keyPem);
    };
    const flag = (name: string, file: string): string => `--${name}=${join(folder, file)}`;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'reeve-mounted-'));
      issued = await make();
      await putPair(issued);
      await put('ca.crt', issued.ca.certPem);
      await secret.remove();
    });
    afterAll(async () => {
      await reeve?.stop();
      await rm(folder, { recursive: true, force: true });
    });

    it('the caBundle follows its file, and the serving pair follows its files', async () => {
      const args = [flag('tls-cert', 'tls.crt'), flag('tls-key', 'tls.key'), flag('tls-ca', 'ca.crt')];
      reeve = await startReeve(cluster, { role: 'webhook', args });
      expect(await configurations.bundles()).toEqual([issued.ca.certPem]);
      const renewed = await make();
      await put('ca.crt', `${issued.ca.certPem}${renewed.ca.certPem}`);
      await inTime(() => configurations.bundles()).toEqual([`${issued.ca.certPem}${renewed.ca.certPem}`]);
      await webhookIsAsked(cluster);
      await putPair(renewed);
      const served = async (): Promise<string> => (await servedBy({ port: reeve?.port ?? 0 })).fingerprint;
      await inTime(served).toBe(fingerprintOf(renewed.serving.certPem));
      await put('ca.crt', 'half of it');
      await inTime(() => reeve?.output).toContain('certificate authority not reloaded');
      expect(await configurations.bundles()).toEqual([`${issued.ca.certPem}${renewed.ca.certPem}`]);
      await put('ca.crt', renewed.ca.certPem);
      await inTime(() => configurations.bundles()).toEqual([renewed.ca.certPem]);
      await webhookIsAsked(cluster);
      expect(await secret.stored()).toBeUndefined();
      issued = renewed;
    });

    it('without a CA file, the caBundle that another program wrote stays', async () => {
      await reeve?.stop();
      const args = [flag('tls-cert', 'tls.crt'), flag('tls-key', 'tls.key')];
      reeve = await startReeve(cluster, { role: 'webhook', args });
      expect(await configurations.bundles()).toEqual([issued.ca.certPem]);
      expect(await secret.stored()).toBeUndefined();
    });
  });
});

async function recoveriesOf(replicas: readonly Reeve[], cause: string): Promise<number> {
  const sample = `reeve_certificate_recoveries_total{cause="${cause}"}`;
  const counts = await Promise.all(replicas.map((each) => each.metric(sample)));
  return counts.reduce<number>((sum, count = 0) => sum + count, 0);
}

async function signedBy(replicas: readonly Reeve[], authority: string): Promise<boolean> {
  const served = await Promise.allSettled(replicas.map((each) => servedBy(each, authority)));
  return served.every(({ status }) => status === 'fulfilled');
}

// Certificates that need no person: agreed on by all who start, renewed in time, and put right whatever is done to their Secret.
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorityOf, bundleOf, encodeState } from '../../src/certs/authority-state.ts';
import { issueAuthority, issueCertificates } from '../../src/certs/issue.ts';
import type { IssuedCertificates } from '../../src/certs/issued.ts';
import { installReeve, removeWebhooks } from '../cluster/reeve-install.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { spawnReeve, startReeve, webhookIsAsked, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { configurationKinds, Configurations } from './support/configurations.ts';
import { inTime } from './support/in-time.ts';
import { fingerprintOf, servedBy, SharedAuthoritySecret } from './support/shared-authority.ts';

const hourMs = 3_600_000;
const quick = ['--ca-lifetime=1h', '--cert-lifetime=1m', '--ca-settling=1s'];

describeControllers('the certificates of the webhook', () => {
  const cluster = sharedCluster();
  const secret = new SharedAuthoritySecret(cluster);
  const configurations = new Configurations(cluster);

  /** The caBundles of both configurations, each once. */
  const bundles = async (): Promise<readonly string[]> => {
    const found = await Promise.all(configurationKinds.map((kind) => configurations.find(kind)));
    const all = found.flatMap((each) => each?.webhooks ?? []);
    return [
      ...new Set(
        all.map(({ clientConfig: { caBundle = '' } }) => Buffer.from(caBundle, 'base64').toString()),
      ),
    ];
  };

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
    let replicas: readonly Reeve[] = [];
    let first: Reeve;
    let firstServed: readonly string[];

    beforeAll(async () => {
      const options = { role: 'webhook', args: quick } as const;
      first = await spawnReeve(cluster, options);
      const others = Array.from({ length: 4 }, () =>
        spawnReeve(cluster, { ...options, servicePort: first.port }),
      );
      replicas = [first, ...(await Promise.all(others))];
      await until(
        async () => (await Promise.all(replicas.map((each) => each.isReady()))).every(Boolean),
        () => replicas.map(({ output }) => output).join('\n'),
        120,
      );
    });
    afterAll(async () => {
      await Promise.all(replicas.map((each) => each.stop()));
    });

    it('who start on nothing at the same time is agreed on', async () => {
      const state = await secret.state();
      expect(state).toMatchObject({ retired: [] });
      expect(state?.next).toBeUndefined();
      const bundle = state === undefined ? '' : bundleOf(state);
      const served = await Promise.all(replicas.map((each) => servedBy(each, bundle)));
      firstServed = served.map(({ fingerprint }) => fingerprint);
      expect(new Set(firstServed).size).toBe(replicas.length);
      await inTime(bundles).toEqual([bundle]);
      await webhookIsAsked(cluster);
      expect(await secret.stored()).toMatchObject({
        type: 'Opaque',
        metadata: { labels: { 'app.kubernetes.io/part-of': 'reeve' } },
      });
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
    const truncated = async (): Promise<void> => {
      const state = await secret.state();
      await secret.putState(state === undefined ? '' : encodeState(state).slice(0, 500));
    };
    it.each([
      { what: 'deleted', cause: 'missing', damage: () => secret.remove() },
      { what: 'truncated', cause: 'corrupt', damage: truncated },
      { what: 'full of rubbish', cause: 'corrupt', damage: () => secret.put({ x: 'y'.repeat(900_000) }) },
      { what: 'one that expired long ago', cause: 'expired', damage: expired },
    ])('a Secret that is $what is put right, and who serves goes on', async ({ cause, damage }) => {
      const before = await secret.signer();
      const recoveries = await recoveriesOf(replicas, cause);
      await damage();
      // It has become known everywhere by the time it signs.
      await inTime(() => newSigner(before)).toBe(true);
      const state = await secret.state();
      expect(state?.retired.map(({ certPem }) => fingerprintOf(certPem))).toContain(before);
      const signer = state?.signing?.certPem ?? '';
      // Everybody has another certificate as soon as another authority signs.
      await inTime(() => signedBy(replicas, signer)).toBe(true);
      expect(await recoveriesOf(replicas, cause)).toBe(recoveries + 1);
      expect(replicas.map((each) => each.hasEnded)).toEqual(replicas.map(() => false));
      expect(Object.keys((await secret.stored())?.data ?? {})).toContain('authorities.json');
      await webhookIsAsked(cluster);
    });

    it('while the API server is away, who starts waits, and ends when told to', async () => {
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

    it('the metrics tell when they end', async () => {
      const expiry = 'reeve_certificate_expiry_timestamp_seconds';
      const [{ notAfter }, state] = await Promise.all([servedBy(first), secret.state()]);
      expect(await first.metric(`${expiry}{certificate="serving"}`)).toBe(notAfter / 1000);
      const signing = state?.signing?.notAfter ?? 0;
      expect(await first.metric(`${expiry}{certificate="authority"}`)).toBe(signing / 1000);
      const renewals = await first.metric('reeve_certificate_renewals_total{certificate="serving"}');
      expect(renewals).toBeGreaterThan(3);
    });

    it('nothing secret is told', async () => {
      const told = await Promise.all(replicas.map(async (each) => `${each.output}${await each.metrics()}`));
      expect(secret.keys.size).toBeGreaterThan(4);
      for (const text of told) {
        expect(text).not.toContain('PRIVATE KEY');
        for (const key of secret.keys)
          for (const line of key.split('\n').slice(1, 3)) expect(text).not.toContain(line);
      }
      expect(told.join('')).toMatch(/"fingerprint":"[0-9A-F:]{95}","notAfter":"2/);
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

    it('the bundle is the one of a file, also when that changes, and the pair follows its own files', async () => {
      const args = [flag('tls-cert', 'tls.crt'), flag('tls-key', 'tls.key'), flag('tls-ca', 'ca.crt')];
      reeve = await startReeve(cluster, { role: 'webhook', args });
      expect(await bundles()).toEqual([issued.ca.certPem]);
      const renewed = await make();
      await put('ca.crt', `${issued.ca.certPem}${renewed.ca.certPem}`);
      await inTime(bundles).toEqual([`${issued.ca.certPem}${renewed.ca.certPem}`]);
      await webhookIsAsked(cluster);
      await putPair(renewed);
      const served = async (): Promise<string> => (await servedBy({ port: reeve?.port ?? 0 })).fingerprint;
      await inTime(served).toBe(fingerprintOf(renewed.serving.certPem));
      await put('ca.crt', 'half of it');
      await inTime(() => reeve?.output).toContain('certificate authority not reloaded');
      expect(await bundles()).toEqual([`${issued.ca.certPem}${renewed.ca.certPem}`]);
      await put('ca.crt', renewed.ca.certPem);
      await inTime(bundles).toEqual([renewed.ca.certPem]);
      await webhookIsAsked(cluster);
      expect(await secret.stored()).toBeUndefined();
      issued = renewed;
    });

    it('without such a file, the bundle that somebody else has written stays', async () => {
      await reeve?.stop();
      const args = [flag('tls-cert', 'tls.crt'), flag('tls-key', 'tls.key')];
      reeve = await startReeve(cluster, { role: 'webhook', args });
      expect(await bundles()).toEqual([issued.ca.certPem]);
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

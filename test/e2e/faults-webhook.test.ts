// A webhook that is killed, hanging, unreachable, not ready, or has an unread log: what is refused, what passes, and how fast.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { freePorts } from '../cluster/ports.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { isList, isWatch, startAnswerProxy, type AnswerProxy, type Choice } from '../support/answer-proxy.ts';
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy.ts';
import { fullDisk, fullPipe } from '../support/full-output.ts';
import { HttpsClient } from '../support/https-client.ts';
import { spawnReeve, startReeve, webhookIsAsked, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { namespaceObject, policy } from './support/objects.ts';
import { ReviewTraffic } from './support/review-traffic.ts';
import { Stage } from './support/stage.ts';
import { TrackedContents } from './support/tracked-contents.ts';

const prefix = 'fa-wh-';
const tenant = `${prefix}tenant`;

describeControllers('the webhook', () => {
  const cluster = sharedCluster();
  const { admin } = cluster;
  const stage = new Stage(cluster, prefix);
  const audit = cluster.auditLog();
  let port = 0;
  let proxy: FaultProxy;
  /** The proxy before the API server, for some of the tests. */
  let answers: AnswerProxy;
  let webhook: Reeve;

  /** Each webhook has the same port, which API servers reach through the proxy. */
  const options = () => ({ role: 'webhook', port, servicePort: proxy.port }) as const;

  beforeAll(async () => {
    await installReeve(cluster);
    [port = 0] = await freePorts(1);
    proxy = await startFaultProxy(new URL(`https://127.0.0.1:${port}`));
    answers = await startAnswerProxy(cluster);
    webhook = await startReeve(cluster, options());
    await stage.apply(
      namespaceObject(tenant),
      policy(`${prefix}rules`, {
        match: { names: [`${prefix}*`], excludeNames: [`${prefix}kept-*`] },
        namespaces: { name: { pattern: `^${prefix}[a-z]+$` } },
        secrets: { maxBytes: 8 },
      }),
    );
    // Rules for Secrets are in force.
    await until(
      async () => (await writeSecret('large', 'x'.repeat(9), '?dryRun=All')).status === 403,
      () => 'a Secret that is refused',
    );
  });
  afterAll(async () => {
    await stage.cleanUp();
    await webhook.stop();
    await answers.close();
    proxy.close();
  });

  const writeNamespace = (name: string, query = '?dryRun=All') =>
    admin.send('POST', `/api/v1/namespaces${query}`, namespaceObject(name));
  const writeSecret = (name: string, value: string, query = '', namespace = tenant) =>
    admin.send('POST', `/api/v1/namespaces/${namespace}/secrets${query}`, {
      metadata: { name },
      stringData: { value },
    });
  /** Returns the webhooks that failed for the write of that object and were ignored. */
  const failedOpen = async (name: string): Promise<readonly string[]> => {
    const records = (await audit.records()).filter((each) => each.verb === 'create' && each.name === name);
    return records
      .flatMap(({ annotations }) => Object.entries(annotations))
      .filter(([key]) => key.startsWith('failed-open.validating.webhook.admission.k8s.io/'))
      .map(([, hook]) => hook);
  };
  /** A deletion calls only one webhook, so it takes at most the timeout of one webhook. */
  const expectRefusedAndLetThrough = async (name: string, why: RegExp): Promise<void> => {
    const [deletion, secret] = await Promise.all([
      admin.send('DELETE', `/api/v1/namespaces/${tenant}?dryRun=All`),
      writeSecret(name, 'small'),
    ]);
    expect([deletion.status, secret.status]).toEqual([500, 201]);
    const { message } = deletion.body as { readonly message: string };
    expect(message).toContain('failed calling webhook "namespaces.validate.reeve.dev"');
    expect(message).toMatch(why);
    expect(await failedOpen(name)).toEqual(['secrets.validate.reeve.dev']);
  };

  test('with the webhook killed, Fail refuses with a clear text, and Ignore lets the write through with a note in the audit log', async () => {
    webhook.kill('SIGKILL');
    await webhook.ended();
    await expectRefusedAndLetThrough('killed', /connection refused|EOF|connection reset/);
    const elsewhere = { metadata: { name: 'fa-wh-elsewhere' }, data: {} };
    const [read, other, system] = await Promise.all([
      admin.send('GET', `/api/v1/namespaces/${tenant}`),
      admin.send('POST', `/api/v1/namespaces/${tenant}/configmaps`, elsewhere),
      admin.send('POST', '/api/v1/namespaces/kube-system/secrets?dryRun=All', elsewhere),
    ]);
    expect([read.status, other.status, system.status]).toEqual([200, 201, 201]);
    expect(await failedOpen('fa-wh-elsewhere')).toEqual([]);
    webhook = await startReeve(cluster, options());
    expect((await writeNamespace(`${prefix}good`)).status).toBe(201);
  });

  test('a webhook that stops for five seconds delays a write until its timeout, and is not restarted', async () => {
    webhook.kill('SIGSTOP');
    const alive = webhook.isReady();
    await expectRefusedAndLetThrough('standing', /context deadline exceeded|Client.Timeout exceeded/);
    webhook.kill('SIGCONT');
    // The webhook got the probe while it was paused, and answered after it continued.
    expect(await alive).toBe(true);
    await webhookIsAsked(cluster);
    expect((await writeNamespace(`${prefix}good`)).status).toBe(201);
    for (const file of ['60-webhook', '61-reconciler']) expect(await toleranceOf(file)).toBeGreaterThan(15);
  });

  test('a write waits until its timeout when nothing answers on the way to the webhook', async () => {
    proxy.silence('all');
    await expectRefusedAndLetThrough('unheard', /context deadline exceeded|Client.Timeout exceeded/);
    proxy.cut();
    await proxy.heal();
    expect((await writeNamespace(`${prefix}good`)).status).toBe(201);
  });

  test('a webhook that does not know the policies yet answers 503 with Retry-After, and lets nothing through', async () => {
    await webhook.stop();
    const account = await cluster.tokenKubeconfig('reeve-system', 'reeve-webhook');
    const kubeconfig = await answers.kubeconfigLike(account);
    using loading = answers.hold((exchange) => isList(exchange) && exchange.path.includes('reeve.dev'));
    webhook = await spawnReeve(cluster, { ...options(), kubeconfig });
    const client = new HttpsClient(port);
    const answer = async () => await client.post('/validate', '{}').catch(() => undefined);
    await until(
      async () => (await answer()) !== undefined,
      () => webhook.output,
    );
    expect(await answer()).toMatchObject({ code: 503, headers: { 'retry-after': '1' } });
    client.close();
    expect(await webhook.isReady()).toBe(false);
    const refused = async (): Promise<number> =>
      (await webhook.metric('reeve_transport_refusals_total{code="503"}')) ?? 0;
    const before = await refused();
    const writes = Promise.all([writeNamespace(`${prefix}good`), writeNamespace(`${prefix}bad-1`)]);
    await until(
      async () => (await refused()) > before,
      async () => `a review that is answered with 503: ${await webhook.metrics()}`,
    );
    loading[Symbol.dispose]();
    expect((await writes).map(({ status }) => status)).toEqual([201, 403]);
    expect(await webhook.isReady()).toBe(true);
  });

  test('a write in a Namespace that cannot be looked up is answered with 503, and judged as soon as the lookup works', async () => {
    const name = `${prefix}unheard`;
    using _ = answers.hold((exchange) => isWatch(exchange) && exchange.path === '/api/v1/namespaces');
    await admin.mustSend('POST', '/api/v1/namespaces', namespaceObject(name));
    const write = (value: string) => writeSecret('small', value, '?dryRun=All', name);
    {
      const lookUp: Choice = ({ method, path }) => method === 'GET' && path === `/api/v1/namespaces/${name}`;
      using failing = answers.refuse(lookUp, {
        status: 500,
        body: { kind: 'Status', reason: 'InternalError' },
      });
      const { status, body } = await write('x');
      const message: unknown = expect.stringContaining(`namespace ${name} is not known`);
      expect({ status, body }).toMatchObject({ status: 503, body: { message } });
      expect(failing.count).toBeGreaterThan(0);
    }
    expect((await Promise.all(['x', 'x'.repeat(9)].map(write))).map(({ status }) => status)).toEqual([
      201, 403,
    ]);
    await webhook.stop();
  });

  test.for([
    ['a log that is not read', 'kept', fullPipe],
    ['a full disk under the log', 'kept-too', fullDisk],
  ] as const)(
    'with %s and no writable file, reviews are answered and contents are kept',
    async ([, name, output]) => {
      await using log = output();
      await using reeve = await startReeve(cluster, {
        env: { NODE_OPTIONS: '--permission --allow-fs-read=*' },
        log: log.fd,
      });
      const contents = await TrackedContents.prepare(stage, `${prefix}${name}`);
      const traffic = new ReviewTraffic(cluster, `${prefix}${name}-asked-`);
      await traffic.answered(300);
      expect(Object.keys(await traffic.stop())).toEqual(['201 {}']);
      await contents.strip(`${prefix}${name}-0`);
      await contents.settled();
      expect(await contents.writtenInVain()).toEqual([]);
      expect(await reeve.isReady()).toBe(true);
      await stage.cleanUp();
    },
  );
});

interface LivenessProbe {
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

/** Returns the least number of seconds without an answer after which Kubernetes restarts a process. */
async function toleranceOf(manifest: string): Promise<number> {
  const deployment = parse(await readFile(`manifests/install/${manifest}.yaml`, 'utf8')) as {
    readonly spec: { template: { spec: { containers: readonly { livenessProbe: LivenessProbe }[] } } };
  };
  const [container] = deployment.spec.template.spec.containers;
  const { periodSeconds = 0, failureThreshold = 0 } = container?.livenessProbe ?? {};
  return periodSeconds * (failureThreshold - 1);
}

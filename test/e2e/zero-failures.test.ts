// The promise about certificates: while they are renewed and rotated, replicas restart and leaders change, no call fails.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installReeve, removeWebhooks } from '../cluster/reeve-install.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { ApiCalls, type CallAnswer } from '../soak/api-calls.ts';
import { Fleet } from './support/fleet.ts';
import { inTime } from './support/in-time.ts';
import { policy } from './support/objects.ts';
import { PacedWrites } from './support/paced-writes.ts';
import { servedBy, SharedAuthoritySecret } from './support/shared-authority.ts';
import { Stage } from './support/stage.ts';

const prefix = 'zf-';
const perSecond = 100;
/** More than the API server keeps connections for, so that every time some begin. */
const atOnce = 50;
const namespaces = Array.from({ length: 20 }, (_, index) => `${prefix}${index}`);
const flags = [
  '--ca-lifetime=10m',
  '--cert-lifetime=1m',
  '--ca-settling=2s',
  // Long enough that every connection is used once more, and told to close by that answer.
  '--drain-grace=4s',
];
/** Of those that are not in this list, every one is a failure. */
const [done, refused] = ['written', 'refused by the policy'];

/** Every tenth write is one that the policy refuses: none is let through because nobody was asked. */
const isForbidden = (turn: number): boolean => turn % 10 === 0;

describeControllers('100 writes a second', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const secret = new SharedAuthoritySecret(cluster);
  let fleet: Fleet;
  /** One alone would hold back those that are at once. */
  let clients: readonly ApiCalls[] = [];

  const write = async (turn: number): Promise<CallAnswer> => {
    const client = clients[turn % clients.length];
    if (client === undefined) throw new Error('there is no client');
    return await client.send({
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      path: `/api/v1/namespaces/${namespaces[turn % namespaces.length]}`,
      body: { metadata: { labels: { turn: isForbidden(turn) ? 'none' : String(turn) } } },
    });
  };

  const holderOf = async (name: string): Promise<string> =>
    await stage.kubectl('get', 'lease', name, '-n', 'reeve-system', '-o=jsonpath={.spec.holderIdentity}');
  /** Of each webhook, only if it is signed by the authority that signs now. */
  const served = async (): Promise<readonly string[]> => {
    const { signing } = (await secret.state()) ?? {};
    if (signing === undefined) return [];
    const found = await Promise.allSettled(fleet.webhooks.map((each) => servedBy(each, signing.certPem)));
    return found.map((each) => (each.status === 'fulfilled' ? each.value.fingerprint : 'of another'));
  };
  const areNew = async (before: readonly string[]): Promise<boolean> => {
    const now = await served();
    return now.length === 2 && !now.some((each) => before.includes(each) || each === 'of another');
  };

  beforeAll(async () => {
    await installReeve(cluster);
    await removeWebhooks(cluster);
    await secret.remove();
    clients = await Promise.all([ApiCalls.of(cluster), ApiCalls.of(cluster)]);
    await stage.applyInEmergency(
      policy('zf-turns', {
        match: { names: [`${prefix}*`] },
        namespaces: { required: { labels: { turn: { pattern: '^[0-9]+$' } } } },
      }),
    );
    for (const name of namespaces)
      await cluster.admin.mustSend('POST', '/api/v1/namespaces', {
        metadata: { name, labels: { turn: '0' } },
      });
    fleet = await Fleet.start(cluster, flags);
  });
  afterAll(async () => {
    await stage.cleanUp();
    await fleet.stop();
    for (const client of clients) client.close();
    await removeWebhooks(cluster);
    await secret.remove();
  });

  it('go on without one that fails, through every change of certificates and replicas', async ({
    annotate,
  }) => {
    const began = performance.now();
    const writes = new PacedWrites({
      perSecond,
      atOnce,
      write,
      outcome: ({ status, message }) => {
        if (status === 200) return done;
        return status === 403 && message.includes('policy zf-turns') ? refused : `${status} ${message}`;
      },
    });
    const onNewConnections = async (): Promise<void> => {
      const before = fleet.connections;
      await writes.answered(2 * perSecond);
      expect(fleet.connections).toBeGreaterThan(before);
    };
    await onNewConnections();

    // The authority is lost, and another one takes its place.
    const [firstSigner, firstServed] = await Promise.all([secret.signer(), served()]);
    expect(new Set(firstServed).size).toBe(2);
    await secret.remove();
    await inTime(() => areNew(firstServed)).toBe(true);
    const secondSigner = await secret.signer();
    expect(secondSigner).not.toBe(firstSigner);
    const secondServed = await served();
    await onNewConnections();

    // The reconciler that leads goes, and another one leads.
    const reconciling = await holderOf('reeve-reconciler');
    const leader = await fleet.leader();
    fleet.takeAway(leader);
    await leader.stop();
    await fleet.leader();
    expect(await holderOf('reeve-reconciler')).not.toBe(reconciling);

    // Serving certificates come of age, under the same authority.
    await inTime(() => areNew(secondServed)).toBe(true);
    expect(await secret.signer()).toBe(secondSigner);
    for (const webhook of fleet.webhooks)
      expect(await webhook.metric('reeve_certificate_renewals_total{certificate="serving"}')).toBe(2);
    const thirdServed = await served();
    await onNewConnections();

    // Every webhook is replaced, and with it whoever keeps the webhook configurations.
    const keeping = await holderOf('reeve-webhook');
    for (const old of fleet.webhooks) {
      await fleet.addWebhook();
      old.kill('SIGTERM');
      await fleet.noMoreFor(old);
      expect((await old.ended()).code).toBe(0);
      await onNewConnections();
    }
    expect(await areNew(thirdServed)).toBe(true);
    await inTime(() => holderOf('reeve-webhook')).not.toBe(keeping);

    const seconds = (performance.now() - began) / 1000;
    const outcomes = await writes.stop();
    const forbidden = Math.ceil(writes.sent / 10);
    expect(outcomes).toEqual({ [done]: writes.sent - forbidden, [refused]: forbidden });
    expect(writes.sent).toBeGreaterThan(1000);
    await annotate(`${writes.sent} writes in ${Math.round(seconds)} s`);
  });
});

// The promise about certificates: while they are renewed and rotated, replicas restart and leaders change, no call fails.
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  authorityOf,
  bundleOf,
  encodeState,
  type Authority,
} from '../../src/certs/authority/authority-state.ts';
import { issueAuthority } from '../../src/certs/issue/issue.ts';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import type { Reeve } from '../support/reeve.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { ApiCalls, type CallAnswer } from '../soak/api-calls.ts';
import { Configurations } from './support/configurations.ts';
import { Fleet } from './support/fleet.ts';
import { inTime } from './support/in-time.ts';
import { policy } from './support/objects.ts';
import { PacedWrites } from './support/paced-writes.ts';
import { servedBy, SharedAuthoritySecret } from './support/shared-authority.ts';
import { Stage } from './support/stage.ts';
import { authorityWrites, configurationWrites, timeOf } from './support/webhook-writes.ts';

const prefix = 'zf-';
const perSecond = 100;
/** The API server keeps fewer idle connections than this, so every burst opens new ones. */
const atOnce = 40;
const namespaces = Array.from({ length: 20 }, (_, index) => `${prefix}${index}`);
const [caMs, leafMs, settlingMs] = [600_000, 60_000, 5000];
/** The time until the signing authority is due for rotation. It is longer than the time until its first certificate is due. */
const comingOfAgeMs = 52_000;
const flags = [
  `--ca-lifetime=${caMs / 1000}s`,
  `--cert-lifetime=${leafMs / 1000}s`,
  `--ca-settling=${settlingMs / 1000}s`,
  // Gives every connection time for one more request, whose answer closes the connection.
  '--drain-grace=4s',
];
/** Every write that is not in this list is a failure. */
const [done, refused] = ['written', 'refused by the policy'];

/** The policy refuses every tenth write, so a write that passes unjudged is noticed. */
const isForbidden = (turn: number): boolean => turn % 10 === 0;

describeControllers('100 writes a second', () => {
  let cluster: ControlPlane;
  let stage: Stage;
  let secret: SharedAuthoritySecret;
  let configurations: Configurations;
  let fleet: Fleet;
  /** A single client would delay the writes of one burst. */
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
  /** Writes an authority that was created long ago into the Secret as the next one to sign. */
  const putAged = async (): Promise<Authority> => {
    const age = (caMs * 2) / 3 - comingOfAgeMs;
    const next = authorityOf(await issueAuthority(caMs, new Date(Date.now() - age)));
    const state = await secret.state();
    await secret.putState(encodeState({ retired: [], ...state, next }));
    return next;
  };
  /** Waits until the Secret and every webhook of both configurations hold the next authority, and returns it. */
  const besideOf = async ({ certPem }: Authority): Promise<string> => {
    let found = '';
    const isBeside = async (): Promise<boolean> => {
      // A pause, because polling slows down the machine that writes.
      await sleep(300);
      const [state, bundles] = [await secret.state(), await configurations.bundles()];
      found = state?.signing?.certPem === certPem ? (state.next?.certPem ?? '') : '';
      return state !== undefined && found !== '' && isDeepStrictEqual(bundles, [bundleOf(state)]);
    };
    await until(isBeside, () => `another authority beside the one that signs: ${found}`, 150);
    return found;
  };
  const isServedUnder = async (certPem: string): Promise<boolean> => {
    const served = await Promise.allSettled(fleet.webhooks.map((each) => servedBy(each, certPem)));
    return served.every(({ status }) => status === 'fulfilled');
  };
  /** Replaces a webhook by a new one. If the webhook holds the Lease, another replica keeps the webhook configurations. */
  const replace = async (old: Reeve): Promise<void> => {
    await fleet.addWebhook();
    old.kill('SIGTERM');
    await fleet.noMoreFor(old);
    expect((await old.ended()).code).toBe(0);
  };

  beforeAll(async () => {
    cluster = await startControlPlane();
    stage = new Stage(cluster, prefix);
    secret = new SharedAuthoritySecret(cluster);
    configurations = new Configurations(cluster);
    await installReeve(cluster);
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
    await fleet.stop();
    for (const client of clients) client.close();
    await cluster.stop();
  });

  it('no write fails through every change of certificates and replicas', async ({ annotate }) => {
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
    const since = Date.now();
    const aged = await putAged();
    const rotation = besideOf(aged);
    // Any earlier failure explains more than a rejection of the rotation.
    rotation.catch(() => undefined);
    await onNewConnections();

    // Stops the leading reconciler, and another one leads.
    const reconciling = await holderOf('reeve-reconciler');
    const leader = await fleet.leader();
    fleet.takeAway(leader);
    await leader.stop();
    await fleet.leader();
    expect(await holderOf('reeve-reconciler')).not.toBe(reconciling);

    // Replaces every webhook, and with them the replica that keeps the webhook configurations.
    const keeping = await holderOf('reeve-webhook');
    const [oldest, older] = fleet.webhooks;
    if (oldest === undefined || older === undefined) throw new Error('there are not two webhooks');
    await replace(older);
    await onNewConnections();
    // Meanwhile a serving certificate is renewed because of its age.
    await inTime(() => renewedByAge(oldest, since)).not.toEqual([]);
    for (const leftMs of renewedByAge(oldest, since)) {
      expect(leftMs).toBeLessThanOrEqual(leafMs / 3);
      expect(leftMs).toBeGreaterThan(0);
    }
    await onNewConnections();
    await replace(oldest);
    await inTime(() => holderOf('reeve-webhook')).not.toBe(keeping);

    // Then the authority is rotated.
    const next = await rotation;
    await inTime(() => isServedUnder(next)).toBe(true);
    await onNewConnections();
    const state = await secret.state();
    expect(state?.signing?.certPem).toBe(next);
    expect(state?.retired.map(({ certPem }) => certPem)).toContain(aged.certPem);

    const seconds = (performance.now() - began) / 1000;
    const { sent, missed } = writes;
    const outcomes = await writes.stop();
    const forbidden = Math.ceil(writes.sent / 10);
    expect(outcomes).toEqual({ [done]: writes.sent - forbidden, [refused]: forbidden });
    await expectOneOfAllToWrite(since);
    expect((sent + missed) / seconds).toBeGreaterThan(95);
    await annotate(`${sent} writes in ${Math.round(seconds)} s`);
    expect(sent, 'the machine was too busy').toBeGreaterThan(0.6 * (sent + missed));
  });

  /** Only the audit log shows writes of a second replica: they change nothing, or are refused as a conflict. */
  const expectOneOfAllToWrite = async (since: number): Promise<void> => {
    const records = (await cluster.auditLog().records()).filter((each) => timeOf(each) >= since);
    const steps = authorityWrites(records).map(timeOf);
    // The steps are: the aged authority signs, the next one is added, and the next one signs.
    const [first = 0, added = 0, released = 0] = steps;
    const written = configurationWrites(records)
      .map(timeOf)
      .filter((time) => time < released);
    expect(written.filter((time) => time < first)).toHaveLength(2);
    const known = written.filter((time) => time > added);
    expect(known).toHaveLength(2);
    expect(written).toHaveLength(4);
    expect(first - Math.max(...written.slice(0, 2))).toBeGreaterThanOrEqual(settlingMs);
    expect(released - Math.max(...known)).toBeGreaterThanOrEqual(settlingMs);
  };
});

/** Returns the remaining lifetime of each certificate in the log that was replaced while its authority kept signing. */
function renewedByAge({ output }: Reeve, since: number): readonly number[] {
  const lines = output
    .split('\n')
    .filter((line) => /"msg":"(?:serving certificate made|certificate authority signs)"/.test(line))
    .map(
      (line) =>
        JSON.parse(line) as { readonly msg: string; readonly time: string; readonly notAfter: string },
    );
  return lines.flatMap(({ msg, time }, index) => {
    const before = lines[index - 1];
    const isRenewal = msg === 'serving certificate made' && before?.msg === msg;
    return isRenewal && Date.parse(time) > since ? [Date.parse(before.notAfter) - Date.parse(time)] : [];
  });
}

// The faults that strike while people work, one after the other, each with the failures of calls that it excuses.
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { rescuer } from './api-calls.ts';
import type { Arena } from './arena.ts';
import type { Excuse } from './call-ledger.ts';
import type { Stored } from './stored.ts';
import type { Random } from './random.ts';
import type { Replica } from './replica.ts';
import { counts, namespacePath } from './world.ts';

export interface Fault {
  readonly name: string;
  /** Default: no call may fail. */
  readonly excuse?: Excuse;
  /** How long calls may still fail after the fault: open calls, and calls that were told to retry later. */
  readonly afterMs?: number;
  /** Resolves when the fault has repaired its damage, as far as it can know. */
  readonly strike: (arena: Arena, random: Random) => Promise<void>;
}

const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/reeve';
const authority = '/api/v1/namespaces/reeve-system/secrets/reeve-webhook-ca';
/** A Lease is valid for 15 s, and replicas check it every other second. */
const leaseMs = 19_000;

/** The API server could not call a webhook. If only the webhook for defaults failed, the defaults are missing. */
const webhookNotReached: Excuse = ({ message }) =>
  /failed calling webhook|namespaces\.defaults/.test(message);
/** While one webhook starts, the other one reviews all writes, and a busy machine has no second core for both. */
const toldToTryAgain: Excuse = ({ status, message }) =>
  (status === 503 && message.includes('Try again later')) ||
  (status === 504 && message.includes('short of processor time'));
/** Reeve could not check the rights of the user, so it refused the call or did not answer in time. */
const rightsUnknown: Excuse = ({ message }) => /admission webhook|failed calling webhook/.test(message);
const anything: Excuse = () => true;

export const faults: readonly Fault[] = [
  {
    name: 'connections to the API server cut',
    excuse: rightsUnknown,
    afterMs: 1000,
    strike: async ({ replicas }) => {
      for (const { proxy } of replicas) proxy.cutAgainAndAgain(700);
      await sleep(5000);
      await Promise.all(replicas.map(({ proxy }) => proxy.heal()));
    },
  },
  {
    name: 'a connection of a reconciler goes silent',
    strike: ({ reconcilers }, random) => {
      random.pick(reconcilers).proxy.silence('open');
      return Promise.resolve();
    },
  },
  {
    name: 'a reconciler is cut off without a word',
    strike: async ({ reconcilers }, random) => await cutOff(random.pick(reconcilers), 8000),
  },
  {
    name: 'a webhook is cut off without a word',
    excuse: rightsUnknown,
    afterMs: 12_000,
    strike: async ({ webhooks }, random) => await cutOff(random.pick(webhooks), 8000),
  },
  {
    name: 'the way to the API server is slow',
    strike: async ({ replicas }) => {
      for (const { proxy } of replicas) proxy.delay(100);
      await sleep(6000);
      for (const { proxy } of replicas) proxy.delay(0);
    },
  },
  {
    name: 'etcd compacted while watches are away',
    strike: async ({ plane, reconcilers }) => {
      for (const { proxy } of reconcilers) proxy.refuse();
      for (const { proxy } of reconcilers) proxy.cut();
      await sleep(1000);
      await plane.compact();
      for (const { proxy } of reconcilers) await proxy.heal();
    },
  },
  {
    name: 'a webhook restarted',
    excuse: toldToTryAgain,
    afterMs: 1000,
    strike: async ({ webhooks: [, second] }) => await restarted(second),
  },
  {
    name: 'a webhook killed',
    excuse: (answer) => webhookNotReached(answer) || toldToTryAgain(answer),
    afterMs: 1000,
    strike: async ({ webhooks: [, second] }) => {
      await second.stop('SIGKILL');
      await second.start();
    },
  },
  {
    name: 'the leader killed or paused',
    strike: async (arena) => {
      const [first] = arena.reconcilers;
      const leader = await arena.leader();
      // The first replica must run until the soak ends.
      if (leader === first) {
        await paused(leader, leaseMs);
        return;
      }
      await leader.stop('SIGKILL');
      await leader.start();
    },
  },
  {
    name: 'a reconciler restarted',
    strike: async ({ reconcilers: [, second] }) => await restarted(second),
  },
  {
    name: 'the API server restarted',
    excuse: anything,
    afterMs: 3000,
    strike: async ({ plane, calls }) => {
      await plane.stopApiServer();
      await sleep(2000);
      // On a busy machine the API server may need longer than its usual start timeout.
      await plane.startApiServer().catch(() => undefined);
      await until(
        async () => (await calls.send({ method: 'GET', path: '/readyz' })).status === 200,
        () => 'the API server is ready',
        300,
      );
    },
  },
  {
    name: 'etcd stands still',
    excuse: anything,
    afterMs: 3000,
    strike: async ({ plane }) => {
      plane.pause('etcd');
      await sleep(3000);
      plane.resume('etcd');
    },
  },
  {
    name: 'the tokens replaced',
    strike: async ({ tokens }) => {
      await Promise.all([tokens.webhook.replace(), tokens.reconciler.replace()]);
      // The API server remembers valid tokens for this long.
      await sleep(10_000);
    },
  },
  {
    name: 'all that is kept in some namespaces deleted',
    strike: async ({ calls }, random) => {
      for (let times = 0; times < 5; times += 1) {
        const place = namespacePath(`soak-${random.below(counts.namespaces)}`);
        const kept = '?labelSelector=app.kubernetes.io%2Fmanaged-by%3Dreeve';
        for (const resource of ['secrets', 'configmaps'])
          await calls.send({ method: 'DELETE', path: `${place}/${resource}${kept}`, as: rescuer });
      }
    },
  },
  {
    name: 'the authority emptied in a webhook configuration',
    excuse: webhookNotReached,
    afterMs: 1000,
    strike: async (arena) => {
      await arena.calls.mustSend({
        method: 'PATCH',
        path: configurations,
        contentType: 'application/json-patch+json',
        body: [{ op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value: '' }],
      });
      await until(
        async () => !(await bundlesOf(arena)).includes(''),
        () => 'the authority is back',
      );
    },
  },
  {
    name: 'the Secret of the authority deleted',
    strike: async ({ calls }) => {
      await calls.mustSend({ method: 'DELETE', path: authority });
      await until(
        async () => (await calls.send({ method: 'GET', path: authority })).status === 200,
        () => 'the authority is kept in a Secret again',
      );
    },
  },
  {
    name: 'the Secret of the authority spoiled',
    strike: async ({ calls }) => {
      const spoiled = Buffer.from('no certificate').toString('base64');
      const { data = {} } = (await calls.mustSend({ method: 'GET', path: authority })) as Stored;
      await calls.mustSend({
        method: 'PATCH',
        path: authority,
        contentType: 'application/merge-patch+json',
        body: { data: Object.fromEntries(Object.keys(data).map((key) => [key, spoiled])) },
      });
      const isGood = async (): Promise<boolean> => {
        const { status, body } = await calls.send({ method: 'GET', path: authority });
        return status === 200 && !Object.values((body as Stored).data ?? {}).includes(spoiled);
      };
      await until(isGood, () => 'there is a good authority in the Secret again');
    },
  },
];

async function cutOff({ proxy }: Replica, milliseconds: number): Promise<void> {
  proxy.silence('all');
  await sleep(milliseconds);
  await proxy.heal();
}

async function paused(replica: Replica, milliseconds: number): Promise<void> {
  replica.pause();
  await sleep(milliseconds);
  replica.resume();
}

async function restarted(replica: Replica): Promise<void> {
  await replica.stop();
  await replica.start();
}

async function bundlesOf({ calls }: Arena): Promise<readonly string[]> {
  const { body } = await calls.send({ method: 'GET', path: configurations });
  const { webhooks = [] } = (body ?? {}) as {
    readonly webhooks?: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
  };
  return webhooks.map(({ clientConfig }) => clientConfig.caBundle ?? '');
}

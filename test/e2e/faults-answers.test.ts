// The API server gives Reeve's reconciler wrong, late or no answers: no change is lost, and no write is unneeded.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import {
  errorEvent,
  isList,
  isWatch,
  startAnswerProxy,
  type AnswerProxy,
  type Choice,
} from '../support/answer-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import {
  configMap,
  namespaceObject,
  policy,
  roleBinding,
  type Ref,
  type WrittenObject,
} from './support/objects.ts';
import { interruptions } from './support/connection-news.ts';
import { forbiddenConfigMaps } from './support/forbidden.ts';
import { Stage } from './support/stage.ts';
import { TrackedContents } from './support/tracked-contents.ts';
import { once, WrittenObjects } from './support/written-objects.ts';

const prefix = 'fa-an-';
const everyMs = 300;
/** The pause between two tries doubles, so there are fewer within minutes. Without a pause there are dozens a second. */
const few = 20;

const watchOf =
  (path: string): Choice =>
  (exchange) =>
    isWatch(exchange) && exchange.path === path;

const settings = (namespace: string): Ref => ({ kind: 'ConfigMap', name: 'settings', namespace });

describeControllers('answers', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const written = new WrittenObjects(cluster);
  let proxy: AnswerProxy;
  let webhook: Reeve;
  let reconciler: Reeve;
  let contents: TrackedContents;

  beforeAll(async () => {
    await installReeve(cluster);
    proxy = await startAnswerProxy(cluster);
    const account = await cluster.tokenKubeconfig('reeve-system', 'reeve-reconciler');
    const kubeconfig = await proxy.kubeconfigLike(account);
    [webhook, reconciler] = await Promise.all([
      startReeve(cluster, { role: 'webhook' }),
      startReeve(cluster, { role: 'reconciler', kubeconfig }),
    ]);
    contents = await TrackedContents.prepare(stage, `${prefix}kept`);
  });
  afterAll(async () => {
    await stage.cleanUp();
    await Promise.all([webhook.stop(), reconciler.stop()]);
    await proxy.close();
  });

  const isSaid = async (namespace: string, verdict: string): Promise<void> => {
    const condition = (): Promise<string> => stage.namespaceCondition(namespace);
    await until(async () => (await condition()) === verdict, condition);
  };
  const isThere = async (ref: Ref, data: object): Promise<void> => {
    const found = async (): Promise<string> => JSON.stringify((await stage.get(ref))?.['data']);
    await until(async () => (await found()) === JSON.stringify(data), found);
  };
  /** Returns the status codes of Reeve's attempts to write a ConfigMap in the namespace. */
  const triesIn = async (namespace: string): Promise<readonly number[]> => {
    const records = await written.records();
    return records
      .filter((each) => each.namespace === namespace && each.resource === 'configmaps')
      .filter(({ verb }) => verb === 'patch')
      .map(({ status }) => status);
  };
  const oldest = async (): Promise<number> =>
    (await reconciler.metric('reeve_reconcile_oldest_seconds')) ?? 0;
  const oldestTold = async (): Promise<string> => `the oldest has waited for ${await oldest()} s`;
  const failuresTold = async (): Promise<readonly string[]> =>
    (await reconciler.metrics()).match(/^reeve_reconcile_failures_total.*$/gm) ?? [];

  test.each<[string, (proxy: AnswerProxy) => void, string]>([
    ['end', (it) => it.end(isWatch), 'ClosedEarly'],
    ['say what is no event', (it) => it.say(isWatch, '<html>\n'), 'MalformedAnswer'],
    ['fail with 500', (it) => it.say(isWatch, errorEvent(500, 'InternalError')), 'ServerError'],
    ['know nothing of before: 410', (it) => it.say(isWatch, errorEvent(410, 'Expired')), 'Expired'],
  ])('all watches %s, again and again', async (_name, goWrong, told) => {
    const before = await interruptions(reconciler, told);
    const goingWrong = setInterval(() => goWrong(proxy), everyMs);
    await contents.add(1);
    await contents.strip(...contents.namespaces.slice(0, 2));
    await contents.changeSource();
    await contents.settled();
    clearInterval(goingWrong);
    expect(await interruptions(reconciler, told)).toBeGreaterThan(before);
    expect(await contents.writtenInVain()).toEqual([]);
  });

  test('the reconciler recovers when it must list again and lists fail with 500', async () => {
    {
      using failing = proxy.refuse(isList, {
        status: 500,
        body: { kind: 'Status', reason: 'InternalError' },
      });
      proxy.say(isWatch, errorEvent(410, 'Expired'));
      await contents.strip(...contents.namespaces.slice(0, 2));
      await contents.add(1);
      await until(
        () => Promise.resolve(failing.count > 10),
        () => `lists that failed: ${failing.count}`,
      );
    }
    await contents.settled();
    const { needed, done } = await contents.writeCounts();
    expect(done).toEqual(needed);
    expect(await contents.writtenInVain()).toEqual([]);
    expect(await reconciler.isReady()).toBe(true);
  });

  test('characters that arrive in pieces are put together', async () => {
    const name = `${prefix}pieces`;
    const who = 'Žluťoučký kůň 🐎';
    proxy.cutIntoPieces(1);
    await stage.apply(
      policy(name, {
        match: { names: [name] },
        contents: {
          resources: [configMap('settings', { who: "${namespaceObject.metadata.annotations['who']}" })],
        },
      }),
      { ...namespaceObject(name), metadata: { name, annotations: { who } } },
    );
    await isThere(settings(name), { who });
    await isSaid(name, 'True Synced');
    proxy.cutIntoPieces(Infinity);
    expect(await written.in([name])).toEqual(once([name], 'create configmaps settings'));
  });

  test('namespaces that end before the watch reports it cause few tries and no report', async () => {
    const name = `${prefix}ns`;
    const [ending, gone, other] = [`${name}-ending`, `${name}-gone`, `${name}-other`];
    const namespaces = [ending, gone, other];
    const provided = (...names: readonly string[]) =>
      policy(name, {
        match: { names: namespaces },
        contents: { resources: names.map((each) => configMap(each, { a: 'b' })) },
      });
    const more: Ref = { kind: 'ConfigMap', name: 'more', namespace: other };
    await stage.apply(
      provided('settings'),
      ...namespaces.map((each) => namespaceObject(each)),
      lastingConfigMap(ending, ['example.com/stays']),
    );
    await Promise.all(namespaces.map((each) => isSaid(each, 'True Synced')));
    await written.forget();
    const toldBefore = await failuresTold();
    {
      using _ = proxy.hold(watchOf('/api/v1/namespaces'));
      await stage.kubectl('delete', 'namespace', ending, gone, '--wait=false');
      await until(
        async () => (await stage.get({ kind: 'Namespace', name: gone })) === undefined,
        () => 'the namespace gone',
      );
      await stage.apply(provided('settings', 'more'));
      // After four rounds, a retry without a pause would have happened.
      for (let round = 0; round < 4; round += 1) {
        await isThere(more, { a: 'b' });
        await stage.inEmergency('delete', 'configmap', 'more', '-n', other);
      }
      // The changed policy causes one attempt. The deletion of the objects may cause one more.
      expect(['403', '403,403']).toContain(String(await triesIn(ending)));
      const tries = await triesIn(gone);
      expect(tries).toContain(404);
      expect(tries.length).toBeLessThan(few);
    }
    await isThere(more, { a: 'b' });
    await stage.apply(lastingConfigMap(ending, []));
    const told = (await failuresTold()).filter((line) => !toldBefore.includes(line));
    expect(told).toEqual([expect.stringContaining('reason="NotFound"')]);
  });

  test('a write by others that the watch has not yet reported is left alone, and ours is written once more', async () => {
    const name = `${prefix}others`;
    const [theirs, ours] = [`${name}-theirs`, `${name}-ours`];
    const provided = (value: string, ...names: readonly string[]) =>
      policy(name, { match: { names }, contents: { resources: [configMap('settings', { value })] } });
    await stage.apply(provided('1', ours), namespaceObject(ours), namespaceObject(theirs));
    await isSaid(ours, 'True Synced');
    await written.forget();
    {
      using _ = proxy.hold(watchOf('/api/v1/configmaps'));
      await stage.inEmergency('annotate', 'configmap', 'settings', '-n', ours, 'example.com/mine=true');
      await stage.kubectl('create', 'configmap', 'settings', '-n', theirs, '--from-literal=value=theirs');
      await stage.apply(provided('2', ours, theirs));
      const tries = async () => [await triesIn(ours), await triesIn(theirs)];
      await until(
        async () => (await tries()).every((codes) => codes.includes(409)),
        async () => JSON.stringify(await tries()),
      );
    }
    await isThere(settings(ours), { value: '2' });
    await isSaid(ours, 'True Synced');
    await isSaid(theirs, 'False AlreadyExists');
    expect((await stage.mustGet(settings(theirs)))['data']).toEqual({ value: 'theirs' });
    expect(await written.in([ours, theirs])).toEqual(once([ours], 'update configmaps settings'));
    for (const namespace of [ours, theirs]) expect((await triesIn(namespace)).length).toBeLessThan(few);
  });

  test('when a ResourceQuota is used up, the status names it with its numbers', async () => {
    const name = `${prefix}quota`;
    await stage.apply(namespaceObject(name));
    const hard = ['create', 'quota', 'small', '-n', name, '--hard=count/configmaps=0'];
    await stage.kubectl(...hard);
    // The controller that counts is not part of the test cluster.
    const numbers = { 'count/configmaps': '0' };
    const status = JSON.stringify({ status: { hard: numbers, used: numbers } });
    const quota = ['quota', 'small', '-n', name];
    await stage.kubectl('patch', ...quota, '--subresource=status', '--type=merge', `-p=${status}`);
    const resources = [configMap('settings', { a: 'b' })];
    await stage.apply(policy(name, { match: { names: [name] }, contents: { resources } }));
    await isSaid(name, 'False Rejected');
    const failures = async (): Promise<string> =>
      (await stage.failures({ kind: 'NamespacePolicy', name })).join('\n');
    await eventually(failures).toMatch(
      new RegExp(
        `^${name} ConfigMap settings: Rejected, ResourceQuota small refuses it: requested: count/configmaps=1, used: .+$`,
      ),
    );
    await stage.kubectl('delete', 'quota', 'small', '-n', name);
    await stage.kubectl('label', 'namespace', name, 'look=again');
    await isSaid(name, 'True Synced');
  });

  test('when one of three namespaces refuses writes, only that namespace is behind, and its condition says why', async () => {
    const name = `${prefix}403`;
    const namespaces = ['a', 'b', 'c'].map((each) => `${name}-${each}`);
    const [, refusing = '', last = ''] = namespaces;
    await stage.apply(...namespaces.map((each) => namespaceObject(each)));
    {
      await using _ = await forbiddenConfigMaps(stage, refusing);
      const resources = [configMap('settings', { a: 'b' })];
      await stage.apply(policy(name, { match: { names: namespaces }, contents: { resources } }));
      await isSaid(refusing, 'False Rejected');
      // The last namespace by name was not held up.
      await isSaid(last, 'True Synced');
      const ref = { kind: 'NamespacePolicy', name } as const;
      await until(
        async () => (await stage.condition(ref)) === 'False Failed',
        () => stage.condition(ref),
      );
      expect(await stage.mustGet(ref)).toMatchObject({ status: { desired: 3, synced: 2, failed: 1 } });
      expect(await stage.failures(ref)).toEqual([expect.stringMatching(`^${refusing} ConfigMap settings: `)]);
      const failures = 'reeve_reconcile_failures_total{kind="ConfigMap",reason="Rejected"}';
      // Reeve tries again from time to time, so on a slow machine there are more.
      expect(await reconciler.metric(failures)).toBeGreaterThanOrEqual(1);
      // The age counts from the first try, however many retries follow.
      await until(async () => (await oldest()) > 1, oldestTold);
      const told = (): Promise<string> => stage.kubectl('get', 'events', '-n', refusing);
      await until(
        async () => /Warning +Rejected +namespace\/.* ConfigMap settings of /.test(await told()),
        told,
      );
    }
    await stage.kubectl('label', 'namespace', refusing, 'look=again');
    await isSaid(refusing, 'True Synced');
    await until(async () => (await oldest()) === 0, oldestTold);
  });

  test('a reconciler that gets SIGTERM between the deletion and the creation of an object does both', async () => {
    const name = `${prefix}end`;
    const ref = { kind: 'RoleBinding', name: 'people', namespace: name } as const;
    const provided = (role: string) =>
      policy(name, {
        match: { names: [name] },
        contents: { roleBindings: [roleBinding('people', 'fa-people', role)] },
      });
    await stage.apply(provided('view'), namespaceObject(name));
    await isSaid(name, 'True Synced');
    {
      using _ = proxy.hold(({ method, path }) => method === 'PATCH' && path.endsWith(`/${ref.name}`));
      await stage.apply(provided('edit'));
      await until(
        async () => (await stage.get(ref)) === undefined,
        () => 'the deletion',
      );
      reconciler.kill('SIGTERM');
      await until(
        async () => !(await reconciler.isReady()),
        () => reconciler.output,
      );
    }
    expect((await reconciler.ended()).code).toBe(0);
    expect(await stage.get(ref)).toMatchObject({ roleRef: { name: 'edit' } });
    // The clean-up after the tests needs a running reconciler.
    reconciler = await startReeve(cluster, { role: 'reconciler' });
  });
});

function lastingConfigMap(namespace: string, finalizers: readonly string[]): WrittenObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'stays', namespace, finalizers } };
}

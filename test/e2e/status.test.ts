// Reeve reports its work in columns, conditions, counts and events. All of them are true, and none is written needlessly.
import { beforeAll, describe, expect, test } from 'vitest';
import { writesOf } from '../cluster/audit-record.ts';
import { eventually } from '../support/eventually.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { watchWithKubectl } from './support/kubectl-watch.ts';
import { configMap, namespaceObject, policy, roleBinding, type Ref } from './support/objects.ts';
import { base64, secret, Secrets, shareOf, shareRef } from './support/secrets.ts';
import { reconcilerUser, Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'sh-st-';
/** An expression that the webhook refuses. The schema accepts it. */
const matchConditions = [{ name: 'broken', expression: 'namespaceObject.' }];
const both = { names: ['sh-st-a', 'sh-st-b'] };

describeControllers('what people see', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const secrets = new Secrets(stage, prefix);
  const audit = cluster.auditLog();
  const reeve = withReeve(stage);

  beforeAll(async () => {
    await stage.apply(
      ...['sh-st-a', 'sh-st-b', 'sh-st-none'].map((name) => namespaceObject(name)),
      policy('sh-st-policy', {
        match: both,
        namespaces: { required: { labels: { 'sh-st-team': {} } } },
        contents: { roleBindings: [roleBinding('readers', 'readers')] },
      }),
    );
    await secrets.shareInto('sh-st-share', both.names);
  });

  const forbidden = 'example.com/forbidden';
  /** A share with one synced copy, one copy in conflict, and one copy that the API server refuses. */
  const mixed = [
    ...['sh-st-1', 'sh-st-2', 'sh-st-3'].map((name) => namespaceObject(name)),
    policy('sh-st-refuses', { match: { names: ['sh-st-2'] }, secrets: { forbiddenTypes: [forbidden] } }),
    secret({ name: 'sh-st-mixed', namespace: 'sh-st-1' }, { value: 'own' }),
    secret({ name: 'sh-st-mixed' }, { value: 'one' }, { type: forbidden }),
    shareOf('sh-st-mixed', { names: ['sh-st-1', 'sh-st-2', 'sh-st-3'] }),
  ];
  const policyRef = (name: string): Ref => ({ kind: 'NamespacePolicy', name });
  const statusOf = async (ref: Ref) => (await stage.mustGet(ref)).status;

  const events = async (namespace: string, name: string): Promise<string> =>
    await stage.kubectl('get', 'events', '-n', namespace, `--field-selector=involvedObject.name=${name}`);

  describe('kubectl', () => {
    /** Returns a table without columns that depend on the moment, and without objects of other tests. */
    const table = async (...args: readonly string[]): Promise<readonly string[]> => {
      const lines = (await stage.kubectl('get', ...args)).split('\n');
      return lines
        .filter((line) => line.startsWith('NAME ') || line.includes(prefix))
        .map((line) => line.replaceAll(/ +/g, ' ').replace(/ [\dms]+$/, ' AGE'));
    };

    test('kubectl get shows the state of policies and shares', async () => {
      await eventually(() => table('nspol,sshare')).toEqual([
        'NAME MATCHED DESIRED SYNCED VIOLATIONS READY REASON AGE',
        'namespacepolicy.reeve.dev/sh-st-policy 2 2 2 2 True Synced AGE',
        'NAME SOURCE DESIRED SYNCED CONFLICTS READY REASON AGE',
        'secretshare.reeve.dev/sh-st-share sh-st-share 2 2 0 True Synced AGE',
      ]);
      expect(await table('nspol', '-o=wide')).toEqual([
        'NAME MATCHED DESIRED SYNCED CONFLICTS FAILED SKIPPED VIOLATIONS ACTIONS SUSPENDED READY REASON AGE',
        'sh-st-policy 2 2 2 0 0 0 2 ["Deny"] false True Synced AGE',
      ]);
      expect(await table('sshare', '-o=wide')).toEqual([
        'NAME SOURCE SOURCE-NAMESPACE DESIRED SYNCED CONFLICTS FAILED SKIPPED SUSPENDED READY REASON AGE',
        'sh-st-share sh-st-share reeve-shared 2 2 0 0 0 false True Synced AGE',
      ]);
    });

    test('kubectl wait works for policies, shares and namespaces', async () => {
      const ready = ['--for=condition=Ready', 'nspol/sh-st-policy', 'sshare/sh-st-share'];
      expect(await stage.kubectl('wait', ...ready, '--timeout=60s')).toBe(
        'namespacepolicy.reeve.dev/sh-st-policy condition met\nsecretshare.reeve.dev/sh-st-share condition met\n',
      );
      const namespaces = ['namespace/sh-st-a', 'namespace/sh-st-b', 'namespace/sh-st-none'];
      const output = await stage.kubectl(
        'wait',
        '--for=condition=reeve.dev/Ready',
        ...namespaces,
        '--timeout=60s',
      );
      expect(output).toBe(namespaces.map((name) => `${name} condition met\n`).join(''));
      await eventually(() => stage.namespaceCondition('sh-st-a')).toBe('True Synced');
      expect(await stage.namespaceCondition('sh-st-none')).toBe('True NothingProvided');
    });

    test('kubectl wait sees that a namespace is being deleted, while something else holds it', async () => {
      const name = 'sh-st-ending';
      await stage.apply(namespaceObject(name));
      const held = { metadata: { name: 'held', finalizers: ['example.com/held'] } };
      await stage.cluster.admin.mustSend('POST', `/api/v1/namespaces/${name}/configmaps`, held);
      const wait = ['wait', `namespace/${name}`, '--timeout=60s'];
      await stage.kubectl(...wait, '--for=condition=reeve.dev/Ready');
      await stage.kubectl('delete', 'namespace', name, '--wait=false');
      await stage.kubectl(...wait, '--for=condition=reeve.dev/Ready=false');
      expect(await stage.namespaceCondition(name)).toBe('False NamespaceTerminating');
      const patch = JSON.stringify({ metadata: { finalizers: null } });
      await stage.kubectl('patch', 'configmap', 'held', '-n', name, '--type=merge', '-p', patch);
    });

    test('kubectl wait sees a namespace with a missing object, and its condition names the first one', async () => {
      await stage.apply(...['sh-st-y', 'sh-st-x'].map((name) => shareOf(name, { names: ['sh-st-none'] })));
      const wait = ['wait', 'namespace/sh-st-none', '--timeout=60s'];
      await stage.kubectl(...wait, '--for=condition=reeve.dev/Ready=false');
      await eventually(() => conditionIn('sh-st-none')).toMatchObject({
        reason: 'SourceMissing',
        message: 'Secret sh-st-x of SecretShare/sh-st-x: there is no Secret reeve-shared/sh-st-x',
      });
      await stage.remove(shareRef('sh-st-x'), shareRef('sh-st-y'));
      await stage.kubectl(...wait, '--for=condition=reeve.dev/Ready');
      expect(await stage.namespaceCondition('sh-st-none')).toBe('True NothingProvided');
    });

    const conditionIn = async (name: string) => {
      const status = await statusOf({ kind: 'Namespace', name });
      return status?.conditions?.find(({ type }) => type === 'reeve.dev/Ready');
    };

    test.each(['kube-node-lease', 'kube-public', 'kube-system', 'reeve-shared', 'reeve-system'])(
      'kubectl shows no condition on %s',
      async (name) => {
        expect(await conditionIn(name)).toBeUndefined();
      },
    );
  });

  describe('the status', () => {
    test('the status counts synced, conflicting and refused objects, and says where', async () => {
      // Reeve hears of policies and of shares by two watches, and would create a copy that no policy forbids yet.
      await stage.apply(...mixed.filter(({ kind }) => kind !== 'SecretShare'));
      await eventually(() => stage.condition(policyRef('sh-st-refuses'))).toBe('True Synced');
      await stage.apply(...mixed);
      await eventually(() => stage.condition(shareRef('sh-st-mixed'))).toBe('False Failed');
      const { metadata, status } = await stage.mustGet(shareRef('sh-st-mixed'));
      expect(status).toMatchObject({ desired: 3, synced: 1, conflicts: 1, failed: 1 });
      const object = { kind: 'Secret', name: 'sh-st-mixed' };
      expect(status?.failures).toMatchObject([
        { namespace: 'sh-st-1', ...object, reason: 'AlreadyExists' },
        { namespace: 'sh-st-2', ...object, reason: 'RefusedByPolicy' },
      ]);
      expect(status?.failures?.[0]?.message).toContain('reeve.dev/adopt=true');
      expect(status?.failures?.[1]?.message).toContain('secrets.forbiddenTypes');
      expect(await secrets.namespacesWith('sh-st-mixed')).toEqual(['sh-st-1', 'sh-st-3']);
      const { generation } = metadata;
      expect(status?.observedGeneration).toBe(generation);
      expect(status?.conditions).toMatchObject([
        { type: 'Ready', status: 'False', reason: 'Failed', observedGeneration: generation },
        { type: 'SourceAvailable', status: 'True', reason: 'Available', observedGeneration: generation },
      ]);
    });

    test('the metrics of the leader have the numbers of the status', async () => {
      const labels = 'kind="SecretShare",name="sh-st-mixed"';
      const value = (name: string) => reeve.process.metric(`reeve_provider_${name}{${labels}}`);
      await eventually(() => value('conflicts')).toBe(1);
      expect(await Promise.all(['ready', 'desired', 'synced', 'failed'].map(value))).toEqual([0, 3, 1, 1]);
      const violations = 'kind="NamespacePolicy",name="sh-st-policy",resource="namespaces"';
      expect(await reeve.process.metric(`reeve_provider_violations{${violations}}`)).toBe(2);
    });

    test('the status belongs to the stored generation, and is ready again with the next one', async () => {
      await stage.apply(shareOf('sh-st-mixed', { names: ['sh-st-3'] }));
      await eventually(() => stage.condition(shareRef('sh-st-mixed'))).toBe('True Synced');
      expect(await statusOf(shareRef('sh-st-mixed'))).toMatchObject({
        observedGeneration: 2,
        desired: 1,
        synced: 1,
        conflicts: 0,
        failed: 0,
        failures: [],
      });
    });

    test('the status counts violations of existing namespaces until they are corrected', async () => {
      const violation = (namespace: string) => ({
        namespace,
        rule: 'namespaces.required',
        path: 'metadata.labels["sh-st-team"]',
      });
      expect(await statusOf(policyRef('sh-st-policy'))).toMatchObject({
        violations: 2,
        topViolations: [violation('sh-st-a'), violation('sh-st-b')],
      });
      await stage.kubectl('label', 'namespace', 'sh-st-a', 'sh-st-team=blue');
      await eventually(() => statusOf(policyRef('sh-st-policy'))).toMatchObject({
        violations: 1,
        topViolations: [violation('sh-st-b')],
      });
    });

    test('existing: Repair adds missing defaults and changes no value', async () => {
      await stage.kubectl('label', 'namespace', 'sh-st-1', 'sh-st-tier=silver');
      const defaults = { labels: { 'sh-st-tier': 'gold', 'sh-st-name': '${namespaceObject.metadata.name}' } };
      const spec = { match: { names: ['sh-st-1', 'sh-st-2'] }, namespaces: { defaults } };
      const labels = async () => [
        (await stage.mustGet({ kind: 'Namespace', name: 'sh-st-1' })).metadata.labels,
        (await stage.mustGet({ kind: 'Namespace', name: 'sh-st-2' })).metadata.labels,
      ];
      await stage.apply(policy('sh-st-repairs', spec));
      await eventually(() => statusOf(policyRef('sh-st-repairs'))).toMatchObject({ violations: 3 });
      expect((await labels())[1]).not.toHaveProperty('sh-st-tier');
      await stage.apply(policy('sh-st-repairs', { ...spec, existing: 'Repair' }));
      await eventually(labels).toMatchObject([
        { 'sh-st-tier': 'silver', 'sh-st-name': 'sh-st-1' },
        { 'sh-st-tier': 'gold', 'sh-st-name': 'sh-st-2' },
      ]);
      await eventually(() => statusOf(policyRef('sh-st-repairs'))).toMatchObject({ violations: 0 });
    });

    test('a stored policy that does not load is Stalled, and keeps all its objects', async () => {
      const contents = { roleBindings: [roleBinding('sh-st-kept', 'readers')] };
      const bindings = both.names.map((namespace): Ref => ({
        kind: 'RoleBinding',
        namespace,
        name: 'sh-st-kept',
      }));
      const match = { names: [...both.names, 'sh-st-held-*'] };
      const namespaces = { name: { pattern: '^sh-st-[ab]$' } };
      await stage.apply(policy('sh-st-invalid', { match, namespaces, contents }));
      await eventually(() => stage.condition(policyRef('sh-st-invalid'))).toBe('True Synced');
      const uids = await stage.uidsOf(...bindings);
      await stage.applyInEmergency(policy('sh-st-invalid', { match: { matchConditions } }));
      await eventually(() => stage.condition(policyRef('sh-st-invalid'), 'Stalled')).toBe('True Invalid');
      expect(await stage.condition(policyRef('sh-st-invalid'))).toBe('False Invalid');
      // Copies of a later share in the same namespaces prove that Reeve has reconciled these namespaces.
      await secrets.shareInto('sh-st-later', both.names);
      expect(await stage.uidsOf(...bindings)).toEqual(uids);
      // The last valid version of the policy is still in force.
      const { code, stderr } = await stage.dryRun(namespaceObject('sh-st-held-x'));
      expect([code, stderr]).toEqual([1, expect.stringContaining('sh-st-invalid')]);
    });
  });

  describe('events', () => {
    test('a share gets one event for all its copies, and each namespace one for what it gained', async () => {
      for (const name of both.names)
        await eventually(() => events(name, name)).toMatch(
          /Normal +Created +namespace\/sh-st-[ab] +Created Secret sh-st-share for SecretShare\/sh-st-share/,
        );
      await eventually(() => events('default', 'sh-st-share')).toMatch(
        /Normal +Created +secretshare\/sh-st-share +Created 2 Secrets in 2 namespaces/,
      );
      expect(await stage.kubectl('describe', 'sshare', 'sh-st-share')).toContain(
        'Created 2 Secrets in 2 namespaces',
      );
    });

    test('a namespace gets an event for what it could not get, and so does the object that is in the way', async () => {
      await eventually(() => events('sh-st-1', 'sh-st-1')).toMatch(
        /Warning +AlreadyExists +namespace\/sh-st-1 +Secret sh-st-mixed of SecretShare\/sh-st-mixed: /,
      );
      await eventually(() => events('sh-st-1', 'sh-st-mixed')).toMatch(
        /Warning +AlreadyExists +secret\/sh-st-mixed/,
      );
      await eventually(() => events('default', 'sh-st-mixed')).toMatch(
        /Warning +RefusedByPolicy +secretshare\/sh-st-mixed/,
      );
    });

    test('repaired namespaces get an event with the added labels, and so does their policy', async () => {
      await eventually(() => events('sh-st-2', 'sh-st-2')).toMatch(
        /Normal +Added +namespace\/sh-st-2 +Added label sh-st-name, label sh-st-tier for NamespacePolicy\/sh-st-repairs/,
      );
      await eventually(() => events('default', 'sh-st-repairs')).toMatch(
        /Normal +Added +namespacepolicy\/sh-st-repairs +Added 3 labels in 2 namespaces/,
      );
    });

    test('a stored policy that no longer loads gets a Warning event', async () => {
      await eventually(() => events('default', 'sh-st-invalid')).toMatch(
        /Warning +Invalid +namespacepolicy\/sh-st-invalid +spec\..*; its objects stay as they are, until a version that loads is written/,
      );
    });

    test('repeated events are one event, whose count is written at the latest when Reeve ends', async () => {
      for (const value of ['1', '2', '3']) {
        await secrets.tamper('sh-st-a', 'sh-st-share', { data: { value: base64(value) } });
        await eventually(() => secrets.value('sh-st-a', 'sh-st-share')).toBe('one');
      }
      await reeve.process.stop();
      const format = '{range .items[?(@.reason=="Updated")]}{.series.count}{"\\n"}{end}';
      const about = '--field-selector=involvedObject.kind=Secret,involvedObject.name=sh-st-share';
      const counts = await stage.kubectl('get', 'events', '-n', 'sh-st-a', about, `-o=jsonpath=${format}`);
      await reeve.start();
      expect(counts).toBe('3\n');
    });
  });

  describe('nothing is written without a cause', () => {
    test('while 30 namespaces are created, the share stays ready and its status needs few writes', async () => {
      await stage.apply(secret({ name: 'sh-st-churn' }, { value: 'one' }));
      await stage.apply(shareOf('sh-st-churn', { names: ['sh-st-churn-*'] }));
      await eventually(() => stage.condition(shareRef('sh-st-churn'))).toBe('True MatchesNothing');
      const ready = '{.status.conditions[?(@.type=="Ready")].status}';
      await using watch = await watchWithKubectl(
        cluster,
        ['sshare', 'sh-st-churn'],
        `${ready} {.status.desired} {.status.synced}`,
      );
      const before = (await statusWrites('sh-st-churn')).length;
      const began = performance.now();
      for (let number = 1; number <= 30; number += 1)
        await cluster.admin.mustSend('POST', '/api/v1/namespaces', namespaceObject(`sh-st-churn-${number}`));
      await eventually(() => watch.lines.at(-1)).toBe('True 30 30');
      const seconds = (performance.now() - began) / 1000;
      const writes = (await statusWrites('sh-st-churn')).length - before;
      expect(watch.lines.filter((line) => !line.startsWith('True '))).toEqual([]);
      // Reeve writes at most two a second, however many changes happen.
      expect(writes).toBeLessThanOrEqual(Math.floor(2 * seconds) + 2);
    });

    test('warnings are not lost among normal events', async () => {
      await stage.apply(
        namespaceObject('sh-st-taken'),
        secret({ name: 'sh-st-churn', namespace: 'sh-st-taken' }, { value: 'own' }),
        shareOf('sh-st-churn', { names: ['sh-st-churn-*', 'sh-st-taken'] }),
      );
      await eventually(() => stage.condition(shareRef('sh-st-churn'))).toBe('False Conflicts');
      await eventually(() => events('default', 'sh-st-churn')).toMatch(/Warning +AlreadyExists +secretshare/);
    });

    const statusWrites = async (name: string) => {
      const about = { user: reconcilerUser, resource: 'secretshares.reeve.dev' };
      const writes = writesOf(await audit.records(), about);
      return writes.filter((write) => write.name === name && write.subresource === 'status');
    };

    test('a restart with nothing to do writes nothing', async () => {
      const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'sh-st' } };
      await stage.apply(
        // The API server stores these fields in another form than they are written.
        policy('sh-st-more', {
          match: both,
          secrets: { defaults: { labels: { origin: '${namespaceObject.metadata.name}' } } },
          contents: {
            roleBindings: [{ ...roleBinding('sh-st-for-a-while', 'readers'), expiresAfter: '8h' }],
            resources: [
              { ...quota, spec: { hard: { 'limits.cpu': '1000m', 'limits.memory': '1024Mi' } } },
              configMap('sh-st', { a: 'b' }),
            ],
          },
        }),
        secret({ name: 'sh-st-fixed' }, { value: 'one' }),
        shareOf('sh-st-fixed', both, {
          target: { immutable: true, name: 'sh-st-other', labels: { x: 'y' } },
        }),
        shareOf('sh-st-missing', both),
        policy('sh-st-broken', {
          match: both,
          namespaces: { required: { labels: { 'sh-st-team': {} } } },
          contents: { roleBindings: [roleBinding('sh-st-broken', 'readers')] },
        }),
        secret({ name: 'sh-st-paused' }, { value: 'one' }),
        shareOf('sh-st-paused', both, { suspend: true }),
        ...mixed,
      );
      await eventually(() => stage.condition(policyRef('sh-st-more'))).toBe('True Synced');
      await eventually(() => stage.condition(shareRef('sh-st-fixed'))).toBe('True Synced');
      await eventually(() => secrets.in('sh-st-a', 'sh-st-other')).toMatchObject({
        metadata: { labels: { x: 'y', origin: 'sh-st-a' } },
      });
      await eventually(() => stage.condition(shareRef('sh-st-missing'))).toBe('False SourceMissing');
      await eventually(() => stage.condition(shareRef('sh-st-mixed'))).toBe('False Failed');
      await eventually(() => stage.condition(shareRef('sh-st-paused'))).toBe('False Suspended');
      for (const name of both.names)
        await eventually(() => stage.namespaceCondition(name)).toBe('False SourceMissing');
      await eventually(() => stage.namespaceCondition('sh-st-1')).toBe('False AlreadyExists');
      await eventually(() => stage.namespaceCondition('sh-st-2')).toBe('False RefusedByPolicy');
      await secrets.shareInto('sh-st-canary', ['sh-st-none']);
      await eventually(() => stage.condition(shareRef('sh-st-canary'))).toBe('True Synced');
      await eventually(() => stage.namespaceCondition('sh-st-none')).toBe('True Synced');
      await eventually(() => stage.condition(policyRef('sh-st-broken'))).toBe('True Synced');
      await stage.applyInEmergency(policy('sh-st-broken', { match: { matchConditions } }));
      await eventually(() => stage.condition(policyRef('sh-st-broken'))).toBe('False Invalid');
      await reeve.process.stop();
      const before = writesOf(await audit.records(), { user: reconcilerUser }).length;
      // Keeps the port, because another port would change the webhook configurations.
      const port = [`--port=${reeve.process.port}`, `--service-port=${reeve.process.port}`];
      await reeve.start({ args: port });
      // The share reports its copies only after Reeve has checked all namespaces and providers.
      await stage.apply(shareOf('sh-st-canary', { names: ['sh-st-none', 'sh-st-1'] }));
      await eventually(() => statusOf(shareRef('sh-st-canary'))).toMatchObject({ synced: 2 });
      const writes = writesOf(await audit.records(), { user: reconcilerUser }).slice(before);
      const others = writes.filter(({ name }) => name !== 'sh-st-canary');
      expect(others).toEqual([]);
    });
  });
});

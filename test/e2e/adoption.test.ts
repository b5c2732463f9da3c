// Objects that existed before Reeve, or that Reeve left behind: who may take them over, and what is left of them afterwards.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kubectl } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { Namesakes } from './support/namesakes.ts';
import { configMap, namespaceObject, roleBinding, share, source, type Kind } from './support/objects.ts';
import { provider, providerSource } from './support/provider.ts';
import { reconcilerUser, Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'ho-ad-';
const adopt = (value: string): string => `reeve.dev/adopt=${value}`;

describeControllers('taking over', () => {
  const stage = new Stage(sharedCluster(), prefix);
  const namesakes = new Namesakes(stage, prefix);
  const reeve = withReeve(stage);

  beforeAll(async () => {
    await stage.apply(source(providerSource, { user: 'ann' }));
  });
  afterAll(async () => {
    await stage.remove({ kind: 'Secret', name: providerSource, namespace: 'reeve-shared' });
  });

  /** Returns the texts of all events there. Reeve writes an event after what it is about. */
  async function notesIn(namespace: string): Promise<string> {
    return await stage.kubectl('get', 'events', '-n', namespace, '-o', 'jsonpath={.items[*].message}');
  }

  describe.each(['NamespacePolicy', 'SecretShare'] as const)('what a %s left behind', (kind) => {
    const name = `${prefix}${kind.toLowerCase()}`;
    const all = [`${name}-1`, `${name}-2`, `${name}-3`];
    const it = provider(kind, name);
    const other = provider(kind, `${name}-other`);
    const objects = all.map(it.objectIn);
    const labelled = { namespaceSelector: { matchLabels: { left: name } } };
    const owned = all.map(() => `${kind}/${name}`);

    /** Deletes the provider past the webhook, which would ask for a confirmation. */
    async function leaveBehind(): Promise<void> {
      await stage.inEmergency('delete', kind, name, '--timeout=60s');
      expect(await stage.ownersOf(...objects)).toEqual(all.map(() => 'nobody'));
    }

    test('objects that are left behind name the provider, and it takes them back', async () => {
      await stage.apply(...all.map((each) => namespaceObject(each, { left: name })));
      await stage.apply(it.write(labelled));
      await inTime(() => stage.ownersOf(...objects)).toEqual(owned);
      const before = await stage.uidsOf(...objects);
      await leaveBehind();
      for (const ref of objects) {
        const { labels, annotations } = (await stage.mustGet(ref)).metadata;
        expect(labels).toEqual({ 'reeve.dev/orphaned-from': name });
        expect(annotations).toEqual({ 'reeve.dev/orphaned-from': `${kind}/${name}` });
      }
      await inTime(() => notesIn('default')).toContain(
        '3 objects stay without Reeve: more than maxDeletions',
      );
      await stage.apply(it.write(labelled));
      await inTime(() => stage.ownersOf(...objects)).toEqual(owned);
      await inTime(() => stage.condition(it.ref)).toBe('True Synced');
      expect(await stage.uidsOf(...objects)).toEqual(before);
      for (const ref of objects) {
        const { labels = {}, annotations = {} } = (await stage.mustGet(ref)).metadata;
        expect(Object.keys({ ...labels, ...annotations })).not.toContain('reeve.dev/orphaned-from');
        expect(annotations).not.toHaveProperty('reeve.dev/adopted');
      }
    });

    test('no other provider takes what was left behind, and no provider takes an object that was made free again', async () => {
      await leaveBehind();
      const wanted = { ...other.write(labelled), spec: it.write(labelled)['spec'] };
      await stage.apply(wanted);
      await inTime(() => stage.condition(other.ref)).toBe('False Conflicts');
      expect((await stage.failures(other.ref))[0]).toContain(`and ${kind}/${name} left behind`);
      await stage.inEmergency('delete', kind, other.ref.name, '--timeout=60s');
      const [first] = objects;
      if (first === undefined) throw new Error('there is no object');
      await stage.kubectl(
        'label',
        first.kind,
        first.name,
        '-n',
        first.namespace ?? '',
        'reeve.dev/orphaned-from-',
      );
      await stage.apply(it.write(labelled));
      await inTime(() => stage.condition(it.ref)).toBe('False Conflicts');
      expect(await stage.ownersOf(...objects)).toEqual(['nobody', ...owned.slice(1)]);
    });
  });

  describe('the ServiceAccount default', () => {
    const account = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', annotations: { 'example.com/role': 'team' } },
      automountServiceAccountToken: false,
    };
    const refIn = (name: string) => namesakes.objectIn(name, 'ServiceAccount', 'default');

    test('a policy takes it over in a new namespace without a conflict, and never deletes it', async () => {
      await stage.apply(namesakes.policy('account', { resources: [account] }));
      const namespace = await namesakes.makeNamespace('account');
      await inTime(() => stage.ownersOf(refIn('account'))).toEqual([`NamespacePolicy/${namespace}`]);
      await inTime(() => stage.namespaceCondition(namespace)).toBe('True Synced');
      const before = await stage.mustGet(refIn('account'));
      expect(before['automountServiceAccountToken']).toBe(false);
      expect(before.metadata.annotations).toMatchObject({ 'reeve.dev/adopted': 'true' });
      // Kubernetes created it, and Reeve only changed it.
      expect(new Set(await stage.reeveWrites(namespace))).toEqual(new Set(['patch serviceaccounts default']));
      const warnings = `regarding.namespace=${namespace},type=Warning`;
      expect(
        await stage
          .kubectl(
            'get',
            'events.events.k8s.io',
            '-n',
            namespace,
            `--field-selector=${warnings}`,
            '-o',
            'name',
          )
          .catch(() => ''),
      ).toBe('');
      const theft = ['delete', 'serviceaccount', 'default', '-n', namespace, `--as=${reconcilerUser}`];
      expect((await kubectl(theft, stage.administrator)).stderr).toContain(
        'and never the ServiceAccount default',
      );
      await stage.remove(namesakes.refTo('account'));
      const after = await stage.mustGet(refIn('account'));
      expect(after.metadata.uid).toBe(before.metadata.uid);
      expect(after).not.toHaveProperty('automountServiceAccountToken');
      expect([after.metadata.labels, after.metadata.annotations]).toEqual([undefined, undefined]);
      expect(await stage.deletionsIn(namespace)).toEqual([]);
    });

    test('one that a user has changed is a conflict until it is handed over, and is given back after that', async () => {
      const namespace = await namesakes.makeNamespace('changed');
      await inTime(() => stage.ownersOf(refIn('changed'))).toEqual(['nobody']);
      const [uid] = await stage.uidsOf(refIn('changed'));
      await stage.kubectl('label', 'serviceaccount', 'default', '-n', namespace, 'team=a');
      await stage.apply(namesakes.policy('changed', { resources: [account] }));
      await inTime(() => stage.condition(namesakes.refTo('changed'))).toBe('False Conflicts');
      await stage.kubectl('label', 'serviceaccount', 'default', '-n', namespace, adopt('delete'));
      await inTime(() => stage.condition(namesakes.refTo('changed'))).toBe('True Synced');
      await namesakes.deselect('changed');
      await inTime(() => stage.ownersOf(refIn('changed'))).toEqual(['nobody']);
      const { metadata } = await stage.mustGet(refIn('changed'));
      expect([metadata.uid, metadata.labels]).toEqual([uid, { team: 'a', 'reeve.dev/adopt': 'delete' }]);
    });
  });

  describe('adopted objects', () => {
    const quota = (hard: object): object => ({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'team' },
      spec: { hard },
    });
    const limits = {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'team' },
      spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] },
    };
    const network = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'team' },
      spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{}] },
    };
    const contents = {
      roleBindings: [roleBinding('team', 'readers')],
      resources: [configMap('team', { ours: '1' }), quota({ pods: '5' }), limits, network],
    };
    const kinds: readonly Kind[] = [
      'RoleBinding',
      'ConfigMap',
      'ResourceQuota',
      'LimitRange',
      'NetworkPolicy',
    ];
    const refsIn = (name: string) => kinds.map((kind) => namesakes.objectIn(name, kind, 'team'));

    async function makeTheirs(name: string, value: string): Promise<string> {
      const namespace = await namesakes.makeNamespace(name);
      const run = async (...args: readonly string[]) => await stage.kubectl(...args, '-n', namespace);
      await run('create', 'rolebinding', 'team', '--clusterrole=view', '--user=bob');
      await run('create', 'configmap', 'team', '--from-literal=theirs=1');
      await run('create', 'quota', 'team', '--hard=secrets=9');
      const metadata = { name: 'team', namespace };
      await stage.apply({ ...limits, kind: 'LimitRange', metadata, spec: { limits: [] } });
      await stage.apply({ ...network, kind: 'NetworkPolicy', metadata, spec: { podSelector: {} } });
      await run('label', kinds.join(','), 'team', adopt(value), 'team=a');
      return namespace;
    }

    test('an adopted object is not deleted with its policy: it loses the marks and what Reeve set', async () => {
      const namespace = await makeTheirs('given-back', 'true');
      const before = await stage.uidsOf(...refsIn('given-back'));
      await stage.apply(namesakes.policy('given-back', contents));
      await inTime(() => stage.condition(namesakes.refTo('given-back'))).toBe('True Synced');
      await stage.remove(namesakes.refTo('given-back'));
      expect(await stage.uidsOf(...refsIn('given-back'))).toEqual(before);
      const objects = await Promise.all(refsIn('given-back').map((ref) => stage.mustGet(ref)));
      for (const { metadata } of objects) {
        expect(metadata.labels).toEqual({ team: 'a', 'reeve.dev/adopt': 'true' });
        expect(Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith('reeve.dev/'))).toEqual(
          [],
        );
      }
      const [binding, settings, hard, limit, net] = objects;
      // The binding grants nothing: Reeve removed its subjects, as it removed those of the tenant at the adoption.
      expect([binding?.['subjects'], binding?.['roleRef']]).toMatchObject([undefined, { name: 'view' }]);
      expect(settings?.['data'] ?? {}).toEqual({});
      expect(hard?.['spec'] ?? {}).toEqual({});
      expect(limit?.['spec']).not.toMatchObject({ limits: [{ type: 'Container' }] });
      // Without its rules, it would isolate all Pods.
      expect(net?.['spec']).toMatchObject({ ingress: [{}] });
      expect(await stage.deletionsIn(namespace)).toEqual([]);
      await inTime(() => notesIn(namespace)).toContain(
        'existed before Reeve, so not deleted; still there of what Reeve wrote: roleRef',
      );
    });

    test('an adopted object with the label reeve.dev/adopt=delete is deleted with its policy', async () => {
      await makeTheirs('given-away', 'delete');
      await stage.apply(namesakes.policy('given-away', contents));
      await inTime(() => stage.condition(namesakes.refTo('given-away'))).toBe('True Synced');
      await stage.remove(namesakes.refTo('given-away'));
      expect(await stage.ownersOf(...refsIn('given-away'))).toEqual(kinds.map(() => 'absent'));
    });

    const adoptedAndEmptied = [
      'removed its keys theirs, which the share does not have',
      'removed its keys ours, so it is empty now; what it held before its adoption does not come back',
    ];
    test.each([
      { type: 'Opaque', own: ['--from-literal=theirs=1'], left: {}, says: adoptedAndEmptied },
      {
        type: 'kubernetes.io/dockerconfigjson',
        own: ['--from-literal=.dockerconfigjson={"auths":{"theirs.example.com":{}}}'],
        left: { '.dockerconfigjson': '{}' },
        says: ['still there of what Reeve wrote: key .dockerconfigjson (emptied)'],
      },
    ])(
      'an adopted Secret of type $type keeps nothing of the shared Secret, and the events say so',
      async ({ type, own, left, says }) => {
        const [name = ''] = type
          .split('/')
          .slice(-1)
          .map((each) => `${prefix}${each.toLowerCase()}`);
        await stage.apply(namespaceObject(name));
        const from = `${name}-source`;
        const secret = {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: from, namespace: 'reeve-shared' },
        } as const;
        const stringData =
          type === 'Opaque'
            ? { ours: 'shared' }
            : { '.dockerconfigjson': '{"auths":{"ours.example.com":{}}}' };
        await stage.apply({ ...secret, type, stringData });
        await stage.kubectl('create', 'secret', 'generic', name, '-n', name, `--type=${type}`, ...own);
        await stage.kubectl('label', 'secret', name, '-n', name, adopt('true'));
        const copy = { kind: 'Secret', name, namespace: name } as const;
        const [uid] = await stage.uidsOf(copy);
        const targets = { names: [name] };
        await stage.apply(
          share(name, { source: { namespace: 'reeve-shared', name: from }, targets, target: { name } }),
        );
        await inTime(() => stage.condition({ kind: 'SecretShare', name })).toBe('True Synced');
        await stage.remove({ kind: 'SecretShare', name });
        const { metadata, data } = await stage.mustGet(copy);
        expect([metadata.uid, metadata.labels]).toEqual([uid, { 'reeve.dev/adopt': 'true' }]);
        const texts = Object.entries(data ?? {}).map(([key, value]) => [key, atob(String(value))]);
        expect(Object.fromEntries(texts)).toEqual(left);
        for (const text of says) await inTime(() => notesIn(name)).toContain(text);
      },
    );
  });

  test('a policy that loses its finalizer and is deleted leaves its objects behind with a warning', async () => {
    const namespace = await namesakes.provide('unheld', { roleBindings: [roleBinding('team', 'readers')] });
    await reeve.process.stop();
    await stage.kubectl(
      'patch',
      'nspol',
      namespace,
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":null}}',
    );
    await stage.inEmergency('delete', 'nspol', namespace, '--timeout=60s');
    expect(await stage.get(namesakes.refTo('unheld'))).toBeUndefined();
    await reeve.start();
    await inTime(() => stage.ownersOf(namesakes.objectIn('unheld', 'RoleBinding', 'team'))).toEqual([
      'nobody',
    ]);
    const selector = `reason=Orphaned,regarding.name=${namespace}`;
    const events = ['get', 'events.events.k8s.io', '-n', 'default', `--field-selector=${selector}`] as const;
    await inTime(() =>
      stage.kubectl(...events, '-o', 'jsonpath={.items[*].type} {.items[*].note}'),
    ).toContain('Warning 1 object stays without Reeve: their policy or share no longer exists');
  });

  test('an offered object with a finalizer is a conflict until its owner removes the finalizer', async () => {
    const namespace = await namesakes.makeNamespace('held');
    const held = ['rolebinding', 'team', '-n', namespace] as const;
    const setFinalizers = (value: string): Promise<string> =>
      stage.kubectl('patch', ...held, '--type=merge', '-p', `{"metadata":{"finalizers":${value}}}`);
    await stage.kubectl('create', ...held, '--clusterrole=view', '--user=bob');
    await stage.kubectl('label', ...held, adopt('delete'));
    await setFinalizers('["example.com/hold"]');
    await stage.apply(namesakes.policy('held', { roleBindings: [roleBinding('team', 'readers')] }));
    await inTime(() => stage.condition(namesakes.refTo('held'))).toBe('False Conflicts');
    expect((await stage.failures(namesakes.refTo('held')))[0]).toContain('exists with finalizers');
    await setFinalizers('null');
    await inTime(() => stage.condition(namesakes.refTo('held'))).toBe('True Synced');
  });

  test('a RoleBinding that a finalizer keeps grants nothing once it is deleted, and is a failure until then', async () => {
    const namespace = await namesakes.provide('ended', { roleBindings: [roleBinding('team', 'readers')] });
    const held = ['rolebinding', 'team', '-n', namespace] as const;
    const hold = '{"metadata":{"finalizers":["example.com/hold"]}}';
    await stage.inEmergency('patch', ...held, '--type=merge', '-p', hold);
    await namesakes.deselect('ended');
    await inTime(() => stage.namespaceCondition(namespace)).toBe('False Terminating');
    await inTime(() => stage.condition(namesakes.refTo('ended'))).toBe('False Failed');
    expect((await stage.failures(namesakes.refTo('ended')))[0]).toContain('waits for its finalizers');
    const { metadata, subjects } = await stage.mustGet(namesakes.objectIn('ended', 'RoleBinding', 'team'));
    expect([metadata.deletionTimestamp === undefined, subjects]).toEqual([false, undefined]);
    await stage.kubectl('patch', ...held, '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
    await inTime(() => stage.namespaceCondition(namespace)).toBe('True NothingProvided');
  });

  test('the advice for an object with the mark but without an owner works as it is written', async () => {
    const namespace = await namesakes.provide('unowned', { resources: [configMap('team', { a: '1' })] });
    await reeve.process.stop();
    await stage.inEmergency('annotate', 'configmap', 'team', '-n', namespace, 'reeve.dev/owner-');
    await reeve.start();
    await inTime(() => stage.condition(namesakes.refTo('unowned'))).toBe('False Conflicts');
    expect((await stage.failures(namesakes.refTo('unowned')))[0]).toContain(
      'a member of the group reeve:break-glass can label it reeve.dev/adopt=true to hand it over, or delete it',
    );
    await stage.inEmergency('label', 'configmap', 'team', '-n', namespace, adopt('true'));
    await inTime(() => stage.condition(namesakes.refTo('unowned'))).toBe('True Synced');
  });

  test('a namespace says which object has the mark and names no policy or share, until it is deleted', async () => {
    const namespace = await namesakes.makeNamespace('nameless');
    await inTime(() => stage.namespaceCondition(namespace)).toBe('True NothingProvided');
    const binding = ['rolebinding', 'nameless', '-n', namespace] as const;
    await stage.kubectl('create', ...binding, '--clusterrole=view', '--user=eve');
    await stage.inEmergency('annotate', ...binding, 'reeve.dev/owner=zzz');
    await stage.inEmergency('label', ...binding, 'app.kubernetes.io/managed-by=reeve');
    await inTime(() => stage.namespaceCondition(namespace)).toBe('False OwnerMissing');
    expect((await kubectl(['delete', ...binding], stage.administrator)).stderr).toContain(
      'only Reeve writes it',
    );
    await stage.inEmergency('delete', ...binding);
    await inTime(() => stage.namespaceCondition(namespace)).toBe('True NothingProvided');
  });
});

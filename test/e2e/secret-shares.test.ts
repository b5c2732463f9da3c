// One Secret, declared once, is copied into every target namespace, and Reeve keeps the copies correct.
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { namespaceObject, share, type WrittenObject } from './support/objects.ts';
import {
  base64,
  labelsOfCopy,
  secret,
  Secrets,
  shareOf,
  shareRef,
  sourceNamespace,
} from './support/secrets.ts';
import { Stage } from './support/stage.ts';
import { undeletableSecrets } from './support/undeletable.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'sh-';

describeControllers('SecretShares', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const secrets = new Secrets(stage, prefix);
  withReeve(stage);

  beforeAll(async () => {
    await stage.apply(...['sh-a', 'sh-b', 'sh-c'].map((name) => namespaceObject(name)));
  });

  const shareInto = (name: string, namespaces: readonly string[], rest?: object) =>
    secrets.shareInto(name, namespaces, rest);

  describe('which namespaces', () => {
    const labeled = (name: string, key: string): WrittenObject => namespaceObject(name, { [key]: 'yes' });
    const byLabel = (key: string): object => ({ namespaceSelector: { matchLabels: { [key]: 'yes' } } });

    test('namespaces with the label get a copy, new ones at once, and namespaces that lose the label lose the copy', async () => {
      await stage.apply(
        labeled('sh-label-1', 'sh-label'),
        secret({ name: 'sh-label' }, { value: 'one' }),
        shareOf('sh-label', byLabel('sh-label')),
      );
      await eventually(() => secrets.namespacesWith('sh-label')).toEqual(['sh-label-1']);
      await stage.apply(labeled('sh-label-2', 'sh-label'));
      await eventually(() => secrets.namespacesWith('sh-label')).toEqual(['sh-label-1', 'sh-label-2']);
      await stage.kubectl('label', 'namespace', 'sh-label-1', 'sh-label-');
      await eventually(() => secrets.namespacesWith('sh-label')).toEqual(['sh-label-2']);
      await stage.kubectl('label', 'namespace', 'sh-label-1', 'sh-label=yes');
      await eventually(() => secrets.namespacesWith('sh-label')).toEqual(['sh-label-1', 'sh-label-2']);
    });

    test('a pattern with * matches whole names, without the excluded names, and only with the label', async () => {
      const names = { names: ['sh-glob-*'], excludeNames: ['sh-glob-old-*'] };
      await stage.apply(
        namespaceObject('sh-glob-none'),
        ...['sh-glob-a', 'sh-glob-old-b', 'sh-not-sh-glob-c'].map((name) => labeled(name, 'sh-glob')),
        secret({ name: 'sh-glob' }, { value: 'one' }),
        shareOf('sh-glob', { ...names, ...byLabel('sh-glob') }),
      );
      await eventually(() => stage.condition(shareRef('sh-glob'))).toBe('True Synced');
      expect(await secrets.namespacesWith('sh-glob')).toEqual(['sh-glob-a']);
    });

    test.each([
      { what: 'an empty selector', targets: { namespaceSelector: {} }, name: 'sh-all-selector' },
      { what: '*', targets: { names: ['*'] }, name: 'sh-all-names' },
    ])('all of them by $what, but none of Kubernetes and of Reeve', async ({ targets, name }) => {
      const never = ['kube-node-lease', 'kube-public', 'kube-system', 'reeve-shared', 'reeve-system'];
      // A name other than that of the source. With the same name, the source would count as a copy in its own namespace.
      const target = { name: `${name}-copy` };
      const missing = async (): Promise<readonly string[]> => {
        const [all, found] = await Promise.all([
          secrets.activeNamespaces(),
          secrets.allNamespacesWith(target.name),
        ]);
        return all.filter((namespace) => !found.includes(namespace));
      };
      await stage.apply(
        secret({ name }, { value: 'one' }),
        shareOf(name, targets, { target, maxDeletions: 1000 }),
      );
      await eventually(missing).toEqual(never);
      await stage.apply(namespaceObject(`${name}-new`));
      await eventually(() => secrets.value(`${name}-new`, target.name)).toBe('one');
      expect(await missing()).toEqual(never);
      await stage.remove(shareRef(name));
      expect(await secrets.allNamespacesWith(target.name)).toEqual([]);
    });

    test('a terminating namespace is left alone, and gets a copy when it is created again', async () => {
      await stage.apply(namespaceObject('sh-going'), secret({ name: 'probe', namespace: 'sh-going' }, {}));
      await shareInto('sh-ns', ['sh-a', 'sh-going']);
      await shareInto('sh-ns-end', ['sh-going']);
      await using undeletable = await undeletableSecrets(stage, 'sh-going', 'probe');
      await stage.kubectl('delete', 'namespace', 'sh-going', '--wait=false');
      // Reeve hears of the namespace and of the source by two watches.
      await eventually(() => stage.namespaceCondition('sh-going')).toBe('False NamespaceTerminating');
      const before = await stage.reeveWrites('sh-going');
      const copy = await secrets.in('sh-going', 'sh-ns');
      await stage.apply(secret({ name: 'sh-ns' }, { value: 'two' }));
      await eventually(() => secrets.value('sh-a', 'sh-ns')).toBe('two');
      await eventually(async () => (await stage.mustGet(shareRef('sh-ns'))).status).toMatchObject({
        desired: 1,
        synced: 1,
      });
      // A share that is being deleted does not wait for objects that the namespace deletes.
      await stage.remove(shareRef('sh-ns-end'));
      expect(await secrets.value('sh-going', 'sh-ns-end')).toBe('one');
      expect(await stage.reeveWrites('sh-going')).toEqual(before);
      expect(await secrets.in('sh-going', 'sh-ns')).toEqual(copy);
      await undeletable[Symbol.asyncDispose]();
      await stage.kubectl('wait', '--for=delete', 'namespace/sh-going', '--timeout=60s');
      await stage.apply(namespaceObject('sh-going'));
      await eventually(() => secrets.value('sh-going', 'sh-ns')).toBe('two');
    });
  });

  describe('what a copy looks like', () => {
    const copied = async (name: string, source: WrittenObject, target: object = {}) => {
      await stage.apply(source, shareOf(name, { names: ['sh-a'] }, { target }));
      await eventually(() => stage.condition(shareRef(name))).toBe('True Synced');
      return await secrets.in('sh-a', name);
    };

    test('a copy has the name, type and data of its source, without its labels and annotations', async () => {
      const labels = { app: 'registry', 'argocd.argoproj.io/instance': 'platform' };
      const data = { '.dockerconfigjson': '{"auths":{}}' };
      const type = 'kubernetes.io/dockerconfigjson';
      const source = secret({ name: 'sh-plain', labels, annotations: { note: 'ours' } }, data, { type });
      const copy = await copied('sh-plain', source);
      expect(copy).toMatchObject({ type, data: source['data'] });
      expect(copy?.metadata.labels).toEqual(labelsOfCopy('sh-plain'));
      expect(copy?.metadata.annotations).toMatchObject({ 'reeve.dev/owner': 'SecretShare/sh-plain' });
      const keys = Object.keys(copy?.metadata.annotations ?? {});
      expect(keys.filter((key) => !key.startsWith('reeve.dev/'))).toEqual([]);
      expect(copy).not.toHaveProperty('immutable');
    });

    test('a copy has the name, type, keys, labels and immutability that the share gives', async () => {
      const source = secret({ name: 'sh-form' }, { user: 'ann', password: 'secret', other: 'left' });
      const target = {
        name: 'sh-form-copy',
        type: 'example.com/database',
        keys: [
          { from: 'user', to: 'DB_USER' },
          { from: 'password', to: 'DB_PASSWORD' },
          { from: 'password', to: 'password' },
        ],
        labels: { team: 'databases' },
        immutable: true,
      };
      expect(await copied('sh-form', source, target)).toBeUndefined();
      const copy = await secrets.in('sh-a', 'sh-form-copy');
      const password = base64('secret');
      expect(copy).toMatchObject({ type: 'example.com/database', immutable: true });
      expect(copy?.data).toEqual({ DB_USER: base64('ann'), DB_PASSWORD: password, password });
      expect(copy?.metadata.labels).toEqual({ team: 'databases', ...labelsOfCopy('sh-form') });
    });

    /** Compares maps, because a comparison of objects may treat `__proto__` specially. */
    const membersOf = (data: unknown): ReadonlyMap<string, unknown> => new Map(Object.entries(data ?? {}));
    const awkward = {
      ['__proto__']: 'plain',
      constructor: 'too',
      '.hidden': '',
      'bytes.bin': Uint8Array.from({ length: 512 }, (_, index) => index % 256),
      'utf-8': 'ä €\u0000\n',
    };

    test('a copy has every byte under every key', async () => {
      const source = secret({ name: 'sh-bytes' }, awkward);
      const copy = await copied('sh-bytes', source);
      expect(membersOf(copy?.data)).toEqual(membersOf(source['data']));
    });

    test('keys with unusual names can be added and removed', async () => {
      const keys = [
        { from: '__proto__', to: 'taken' },
        { from: 'bytes.bin', to: '__proto__' },
      ];
      const copy = await copied('sh-keys', secret({ name: 'sh-keys' }, awkward), { keys });
      expect(membersOf(copy?.data)).toEqual(
        new Map([
          ['__proto__', base64(awkward['bytes.bin'])],
          ['taken', base64('plain')],
        ]),
      );
    });
  });

  describe('a changed copy is restored', () => {
    const shapeOf = async (namespace: string, name: string): Promise<unknown> => {
      const found = await secrets.in(namespace, name);
      if (found === undefined) return undefined;
      const { type, data, immutable, metadata } = found;
      return { type, data, immutable, labels: metadata.labels, annotations: metadata.annotations };
    };
    const target = { labels: { team: 'sh-platform' } };

    beforeAll(() => shareInto('sh-kept', ['sh-a', 'sh-b'], { target }));

    test.each([
      { what: 'another value', patch: { data: { value: base64('evil') } } },
      { what: 'one more key', patch: { data: { extra: base64('evil') } } },
      { what: 'a removed key', patch: { data: { value: null } } },
      { what: 'another label', patch: { metadata: { labels: { team: 'mallory' } } } },
      { what: 'a removed label', patch: { metadata: { labels: { team: null } } } },
      { what: 'another value, and immutable', patch: { data: { value: base64('evil') }, immutable: true } },
      { what: 'nothing but immutable', patch: { immutable: true } },
    ])('$what', async ({ patch }) => {
      const before = await shapeOf('sh-a', 'sh-kept');
      await secrets.tamper('sh-a', 'sh-kept', patch);
      await eventually(() => shapeOf('sh-a', 'sh-kept')).toEqual(before);
    });

    test('a deleted copy is created again, also when all are deleted at once', async () => {
      for (const which of [
        ['sh-kept', '-n', 'sh-b'],
        ['-A', '-l', 'team=sh-platform'],
      ]) {
        await stage.inEmergency('delete', 'secret', ...which);
        await eventually(() => secrets.namespacesWith('sh-kept')).toEqual(['sh-a', 'sh-b']);
      }
    });

    test('a copy with another type is created again', async () => {
      const suspend = (value: boolean): Promise<string> =>
        stage.kubectl('patch', 'sshare', 'sh-kept', '--type=merge', `-p={"spec":{"suspend":${value}}}`);
      const before = await shapeOf('sh-a', 'sh-kept');
      await suspend(true);
      await eventually(() => stage.condition(shareRef('sh-kept'))).toBe('True Suspended');
      const metadata = {
        name: 'sh-kept',
        namespace: 'sh-a',
        labels: { ...target.labels, ...labelsOfCopy('sh-kept') },
        annotations: { 'reeve.dev/owner': 'SecretShare/sh-kept' },
      };
      await stage.inEmergency('delete', 'secret', 'sh-kept', '-n', 'sh-a');
      const type = 'example.com/forged';
      await stage.applyInEmergency(secret(metadata, { value: 'one' }, { type }));
      await suspend(false);
      await eventually(() => secrets.in('sh-a', 'sh-kept')).toMatchObject({ type: 'Opaque' });
      expect(await shapeOf('sh-a', 'sh-kept')).toEqual(before);
    });

    test('a Secret without our mark belongs to the namespace', async () => {
      const labels = { 'app.kubernetes.io/managed-by': null };
      await secrets.tamper('sh-a', 'sh-kept', { metadata: { labels }, data: { value: base64('mine') } });
      await eventually(() => stage.condition(shareRef('sh-kept'))).toBe('False Conflicts');
      expect(await secrets.value('sh-a', 'sh-kept')).toBe('mine');
    });
  });

  describe('what a change does', () => {
    test('changed values and keys reach every copy', async () => {
      const names = ['sh-a', 'sh-b', 'sh-c'];
      await shareInto('sh-change', names);
      const data = () => Promise.all(names.map(async (name) => (await secrets.in(name, 'sh-change'))?.data));
      await stage.apply(secret({ name: 'sh-change' }, { value: 'two', more: 'x' }));
      const two = { value: base64('two'), more: base64('x') };
      await eventually(data).toEqual([two, two, two]);
      await stage.apply(secret({ name: 'sh-change' }, { other: 'three' }));
      const three = { other: base64('three') };
      await eventually(data).toEqual([three, three, three]);
    });

    test('an immutable copy is created again', async () => {
      await shareInto('sh-fixed', ['sh-a'], { target: { immutable: true } });
      const before = await secrets.uid('sh-a', 'sh-fixed');
      await stage.apply(secret({ name: 'sh-fixed' }, { value: 'two' }));
      await eventually(() => secrets.value('sh-a', 'sh-fixed')).toBe('two');
      expect(await secrets.uid('sh-a', 'sh-fixed')).not.toBe(before);
      expect(await secrets.in('sh-a', 'sh-fixed')).toHaveProperty('immutable', true);
      await stage.apply(shareOf('sh-fixed', { names: ['sh-a'] }));
      await eventually(
        async () => (await secrets.in('sh-a', 'sh-fixed')) ?? { immutable: true },
      ).not.toHaveProperty('immutable');
    });

    test('a source of another type creates the copies again', async () => {
      await shareInto('sh-type', ['sh-a']);
      const before = await secrets.uid('sh-a', 'sh-type');
      await stage.kubectl('delete', 'secret', 'sh-type', '-n', sourceNamespace);
      await stage.apply(secret({ name: 'sh-type' }, { value: 'one' }, { type: 'example.com/other' }));
      await eventually(() => secrets.in('sh-a', 'sh-type')).toMatchObject({ type: 'example.com/other' });
      expect(await secrets.uid('sh-a', 'sh-type')).not.toBe(before);
    });

    test('labels removed from the share are removed from the copies', async () => {
      await shareInto('sh-labels', ['sh-a'], { target: { labels: { team: 'a', tier: 'gold' } } });
      await stage.apply(shareOf('sh-labels', { names: ['sh-a'] }, { target: { labels: { team: 'b' } } }));
      await eventually(async () => (await secrets.in('sh-a', 'sh-labels'))?.metadata.labels).toEqual({
        team: 'b',
        ...labelsOfCopy('sh-labels'),
      });
      await stage.apply(shareOf('sh-labels', { names: ['sh-a'] }));
      await eventually(async () => (await secrets.in('sh-a', 'sh-labels'))?.metadata.labels).toEqual(
        labelsOfCopy('sh-labels'),
      );
    });

    test('another copy name or another source leaves nothing behind', async () => {
      const target = { name: 'sh-moved' };
      await shareInto('sh-move', ['sh-a']);
      await stage.apply(shareOf('sh-move', { names: ['sh-a'] }, { target }));
      await eventually(() => secrets.value('sh-a', 'sh-moved')).toBe('one');
      await eventually(() => secrets.namespacesWith('sh-move')).toEqual([]);
      const source = { namespace: sourceNamespace, name: 'sh-move-2' };
      await stage.apply(
        secret({ name: 'sh-move-2' }, { value: 'two' }),
        share('sh-move', { source, targets: { names: ['sh-a'] }, target }),
      );
      await eventually(() => secrets.value('sh-a', 'sh-moved')).toBe('two');
    });

    test('a deleted share ends together with its copies', async () => {
      await shareInto('sh-end', ['sh-a', 'sh-b']);
      expect((await stage.mustGet(shareRef('sh-end'))).metadata.finalizers).toEqual(['reeve.dev/cleanup']);
      await stage.remove(shareRef('sh-end'));
      expect(await secrets.namespacesWith('sh-end')).toEqual([]);
      expect(await secrets.value(sourceNamespace, 'sh-end')).toBe('one');
    });
  });
});

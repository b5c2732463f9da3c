// Tests tables for people, and metadata alone for clients that watch many objects.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources
import { beforeAll, describe, expect, it } from 'vitest';
import type { ApiObject } from './support/answers.ts';
import { freshName } from './support/backend.ts';
import { onEachBackend } from './support/backends.ts';
import { at, binding, configMap, secret, share, type Plural } from './support/objects.ts';

const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
const partial = (kind: string): { accept: string } => ({
  accept: `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`,
});

/** The output of `kubectl get -o wide`, with `+` before columns that plain `get` leaves out. */
const columns: readonly (readonly [Plural, readonly string[]])[] = [
  ['namespaces', ['Name', 'Status', 'Age']],
  ['secrets', ['Name', 'Type', 'Data', 'Age']],
  ['configmaps', ['Name', 'Data', 'Age']],
  ['serviceaccounts', ['Name', 'Age']],
  ['resourcequotas', ['Name', 'Request', 'Limit', 'Age']],
  ['limitranges', ['Name', 'Created At']],
  ['networkpolicies', ['Name', 'Pod-Selector', 'Age']],
  ['leases', ['Name', 'Holder', 'Age']],
  ['jobs', ['Name', 'Status', 'Completions', 'Duration', 'Age', '+Containers', '+Images', '+Selector']],
  ['roles', ['Name', 'Created At']],
  ['clusterroles', ['Name', 'Created At']],
  ['rolebindings', ['Name', 'Role', 'Age', '+Users', '+Groups', '+ServiceAccounts']],
  ['clusterrolebindings', ['Name', 'Role', 'Age', '+Users', '+Groups', '+ServiceAccounts']],
  ['mutatingwebhookconfigurations', ['Name', 'Webhooks', 'Age']],
  ['validatingwebhookconfigurations', ['Name', 'Webhooks', 'Age']],
  ['validatingadmissionpolicies', ['Name', 'Validations', 'ParamKind', 'Age']],
  ['validatingadmissionpolicybindings', ['Name', 'PolicyName', 'ParamRef', 'Age']],
  ['customresourcedefinitions', ['Name', 'Created At']],
  [
    'secretshares',
    [
      'Name',
      'Source',
      '+Source-Namespace',
      'Desired',
      'Synced',
      'Conflicts',
      '+Failed',
      '+Skipped',
      '+Suspended',
      'Ready',
      'Reason',
      'Age',
    ],
  ],
  [
    'namespacepolicies',
    [
      'Name',
      'Matched',
      'Desired',
      'Synced',
      '+Conflicts',
      '+Failed',
      '+Skipped',
      'Violations',
      '+Actions',
      '+Suspended',
      'Ready',
      'Reason',
      'Age',
    ],
  ],
];

onEachBackend('representations', (backend) => {
  beforeAll(() => backend.installKinds());

  const tableOf = async (path: string): Promise<ApiObject> =>
    await backend.api.must(backend.api.get(path, asTable));

  describe('tables', () => {
    it.each(columns)('tables of %s have their columns', async (plural, expected) => {
      const table = await tableOf(`${at(plural, '')}?limit=1`);
      expect(table).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
      const shown = table.columnDefinitions.map(({ name, priority }) => (priority > 0 ? `+${name}` : name));
      expect(shown).toEqual(expected);
      expect(table.columnDefinitions[0]).toMatchObject({ name: 'Name', type: 'string', format: 'name' });
    });

    /** All cells except the age. */
    const cells = async (plural: Plural, namespace: string, name: string): Promise<readonly unknown[]> => {
      const table = await tableOf(at(plural, namespace, name));
      expect(table.rows).toHaveLength(1);
      const aged = table.columnDefinitions.findIndex(({ name: column }) => column === 'Age');
      return (table.rows[0]?.cells ?? []).filter((_, index) => index !== aged);
    };

    it('tables have the cells of each kind', async () => {
      const ns = await backend.namespace();
      const { api } = backend;
      const tls = secret('a', { type: 'kubernetes.io/tls', data: { 'tls.crt': '', 'tls.key': '' } });
      const bound = binding('RoleBinding', 'a', ['ClusterRole', 'view'], 'ann');
      await api.must(api.create(at('secrets', ns), tls));
      await api.must(api.create(at('configmaps', ns), configMap('a', { b: '', c: '', d: '' })));
      await api.must(api.create(at('rolebindings', ns), bound));
      await api.must(
        api.create(at('networkpolicies', ns), {
          metadata: { name: 'a' },
          spec: { podSelector: { matchLabels: { b: 'c' } } },
        }),
      );
      await api.must(
        api.create(at('networkpolicies', ns), { metadata: { name: 'all' }, spec: { podSelector: {} } }),
      );
      await api.must(
        api.create(at('leases', ns), { metadata: { name: 'a' }, spec: { holderIdentity: 'me' } }),
      );
      expect(await cells('namespaces', '', ns)).toEqual([ns, 'Active']);
      expect(await cells('secrets', ns, 'a')).toEqual(['a', 'kubernetes.io/tls', 2]);
      expect(await cells('configmaps', ns, 'a')).toEqual(['a', 3]);
      expect(await cells('rolebindings', ns, 'a')).toEqual(['a', 'ClusterRole/view', 'ann', '', '']);
      expect(await cells('networkpolicies', ns, 'a')).toEqual(['a', 'b=c']);
      expect(await cells('networkpolicies', ns, 'all')).toEqual(['all', '<none>']);
      expect(await cells('leases', ns, 'a')).toEqual(['a', 'me']);
    });

    it('tables have the cells of the kinds of Reeve', async () => {
      const name = freshName('share');
      const { api } = backend;
      await api.must(api.create(at('secretshares', ''), share(name)));
      const conditions = [
        {
          type: 'Ready',
          status: 'False',
          reason: 'SourceMissing',
          message: 'gone',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ];
      const status = { desired: 3, synced: 0, conditions };
      await api.must(api.patch(at('secretshares', '', name, 'status'), 'merge', { status }));
      expect(await cells('secretshares', '', name)).toEqual([
        name,
        'nothing',
        'nowhere',
        3,
        0,
        null,
        null,
        null,
        false,
        'False',
        'SourceMissing',
      ]);
      await api.delete(at('secretshares', '', name));
    });

    it('tables carry the metadata, the object or nothing', async () => {
      const ns = await backend.namespace();
      await backend.api.must(backend.api.create(at('configmaps', ns), configMap('a', { b: 'c' })));
      const path = at('configmaps', ns, 'a');
      const metadata = await tableOf(path);
      expect(metadata.rows[0]?.object).toMatchObject({
        kind: 'PartialObjectMetadata',
        metadata: { name: 'a' },
      });
      expect(metadata.rows[0]?.object).not.toHaveProperty('data');
      const whole = await tableOf(`${path}?includeObject=Object`);
      expect(whole.rows[0]?.object).toMatchObject({ kind: 'ConfigMap', data: { b: 'c' } });
      const none = await tableOf(`${path}?includeObject=None`);
      expect(none.rows[0]?.object).toBeNull();
    });

    it('tables have one row for each event of a watch', async () => {
      const ns = await backend.namespace();
      const path = at('configmaps', ns);
      const api = backend.api.with(asTable);
      await using watch = await api.watch(path, 'labelSelector=ours');
      const labels = { labels: { ours: '' } };
      await backend.api.must(backend.api.create(path, configMap('a', { b: 'c' }, labels)));
      await backend.api.must(backend.api.create(path, configMap('b', {}, labels)));
      const first = await watch.next();
      expect(first).toMatchObject({ type: 'ADDED', object: { kind: 'Table' } });
      expect(first.object.rows[0]?.cells.slice(0, 2)).toEqual(['a', 1]);
      expect(first.object.columnDefinitions).toHaveLength(3);
      const second = await watch.next();
      expect(second.object.rows[0]?.cells.slice(0, 2)).toEqual(['b', 0]);
      expect([null, [], undefined]).toContainEqual(second.object.columnDefinitions);
    });
  });

  describe('metadata alone', () => {
    it('metadata alone is returned for one object', async () => {
      const ns = await backend.namespace();
      await backend.api.must(backend.api.create(at('configmaps', ns), configMap('a', { b: 'c' })));
      const { body } = await backend.api.get(at('configmaps', ns, 'a'), partial('PartialObjectMetadata'));
      expect(body).toMatchObject({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { name: 'a', namespace: ns },
      });
      expect(Object.keys(body).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
    });

    it('metadata alone is returned for a list', async () => {
      const ns = await backend.namespace();
      await backend.api.must(backend.api.create(at('secrets', ns), secret('a')));
      const { body } = await backend.api.get(at('secrets', ns), partial('PartialObjectMetadataList'));
      expect(body).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' });
      expect(body.items.map(({ metadata }) => metadata.name)).toEqual(['a']);
      expect(body.items[0]).not.toHaveProperty('data');
    });

    it('metadata alone is returned for custom kinds, in a watch', async () => {
      const name = freshName('share');
      const api = backend.api.with(partial('PartialObjectMetadata'));
      await using watch = await api.watch(at('secretshares', ''), `fieldSelector=metadata.name%3D${name}`);
      await backend.api.must(backend.api.create(at('secretshares', ''), share(name)));
      const { type, object } = await watch.next();
      expect(type).toBe('ADDED');
      expect(object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name } });
      expect(object).not.toHaveProperty('spec');
      await backend.api.delete(at('secretshares', '', name));
    });
  });
});

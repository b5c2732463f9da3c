// Tests patches: RFC 6902, RFC 7396, and the strategic merge of Kubernetes.
import { describe, expect, it } from 'vitest';
import type { PatchKind } from './support/api.ts';
import type { ApiObject } from './support/answers.ts';
import { onEachBackend } from './support/backends.ts';
import { differences } from './support/differences.ts';
import { at, configMap, secret } from './support/objects.ts';

interface Case {
  readonly what: string;
  readonly kind: PatchKind;
  readonly patch: unknown;
  readonly data?: object | undefined;
  readonly labels?: object | undefined;
}

const before = configMap('a', { one: '1', two: '2' }, { labels: { first: 'a', second: 'b' } });
const unchanged = { data: before['data'], labels: before.metadata['labels'] };

const cases: readonly Case[] = [
  {
    what: 'replaces a member',
    kind: 'json',
    patch: [{ op: 'replace', path: '/data/one', value: 'new' }],
    data: { one: 'new', two: '2' },
  },
  {
    what: 'adds and removes',
    kind: 'json',
    patch: [
      { op: 'add', path: '/data/three', value: '3' },
      { op: 'remove', path: '/data/one' },
    ],
    data: { two: '2', three: '3' },
  },
  {
    what: 'moves, copies and tests',
    kind: 'json',
    patch: [
      { op: 'test', path: '/data/one', value: '1' },
      { op: 'move', from: '/data/one', path: '/data/three' },
      { op: 'copy', from: '/data/two', path: '/data/four' },
    ],
    data: { two: '2', three: '1', four: '2' },
  },
  {
    what: 'finds keys with slashes',
    kind: 'json',
    patch: [{ op: 'add', path: '/metadata/labels/a.test~1b', value: 'c' }],
    labels: { first: 'a', second: 'b', 'a.test/b': 'c' },
  },
  {
    what: 'without an operation changes nothing',
    kind: 'json',
    patch: [],
  },
  {
    what: 'sets and removes by null',
    kind: 'merge',
    patch: { data: { one: null, three: '3' }, metadata: { labels: { first: 'c' } } },
    data: { two: '2', three: '3' },
    labels: { first: 'c', second: 'b' },
  },
  { what: 'removes all of a map', kind: 'merge', patch: { data: null }, data: undefined },
  {
    what: 'does not mind what is not there',
    kind: 'merge',
    patch: { data: { none: null } },
  },
  {
    what: 'merges maps',
    kind: 'strategic',
    patch: { data: { three: '3' }, metadata: { labels: { first: null } } },
    data: { one: '1', two: '2', three: '3' },
    labels: { second: 'b' },
  },
  {
    what: 'replaces a map when told so',
    kind: 'strategic',
    patch: { data: { $patch: 'replace', three: '3' } },
    data: { three: '3' },
  },
];

onEachBackend('patches', (backend) => {
  it.each(cases)('$kind $what', async ({ kind, patch, ...rest }) => {
    const ns = await backend.namespace();
    await backend.api.must(backend.api.create(at('configmaps', ns), before));
    const { status, body } = await backend.api.patch(at('configmaps', ns, 'a'), kind, patch);
    expect(status).toBe(200);
    const { data, labels } = { ...unchanged, ...rest };
    expect({ data: body.data, labels: body.metadata.labels }).toEqual({ data, labels });
    expect((await backend.api.get(at('configmaps', ns, 'a'))).body).toEqual(body);
  });

  const refused: readonly (readonly [string, PatchKind, unknown, number])[] = [
    ['a JSON patch whose test fails', 'json', [{ op: 'test', path: '/data/one', value: 'x' }], 422],
    ['a JSON patch that removes nothing', 'json', [{ op: 'remove', path: '/data/none' }], 422],
    ['a JSON patch that replaces nothing', 'json', [{ op: 'replace', path: '/none/a', value: 'x' }], 422],
    ['a change of the name', 'merge', { metadata: { name: 'b' } }, backend.expects(differences.patchedName)],
    ['a change of the namespace', 'merge', { metadata: { namespace: 'other' } }, 400],
    [
      'a change of the uid',
      'merge',
      { metadata: { uid: '5b5c3a52-7f0e-4a53-9d0b-000000000000' } },
      backend.expects(differences.patchedUid),
    ],
    ['a version of yesterday', 'merge', { metadata: { resourceVersion: '1' } }, 409],
    ['a label that is none', 'strategic', { metadata: { labels: { a: 'not a label' } } }, 422],
    ['a key of the data that is none', 'merge', { data: { 'not a key': 'a' } }, 422],
  ];
  it.each(refused)('the API server refuses %s', async (_, kind, patch, code) => {
    const ns = await backend.namespace();
    const made = await backend.api.must(backend.api.create(at('configmaps', ns), before));
    const { status, body } = await backend.api.patch(at('configmaps', ns, 'a'), kind, patch);
    expect(status, body.message).toBe(code);
    expect((await backend.api.get(at('configmaps', ns, 'a'))).body).toEqual(made);
  });

  it.each(['json', 'merge', 'strategic'] as const)(
    'a %s patch of a missing object answers 404',
    async (kind) => {
      const ns = await backend.namespace();
      const { status, body } = await backend.api.patch(
        at('configmaps', ns, 'a'),
        kind,
        kind === 'json' ? [] : {},
      );
      expect({ status, reason: body.reason }).toEqual({ status: 404, reason: 'NotFound' });
    },
  );

  it('a patch without effect keeps the version', async () => {
    const ns = await backend.namespace();
    await backend.api.must(backend.api.create(at('configmaps', ns), before));
    const patch = { data: { one: 'same' } };
    const first = await backend.api.must(backend.api.patch(at('configmaps', ns, 'a'), 'merge', patch));
    const again = await backend.api.must(backend.api.patch(at('configmaps', ns, 'a'), 'merge', patch));
    expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it('concurrent patches all succeed', async () => {
    const ns = await backend.namespace();
    await backend.api.must(backend.api.create(at('configmaps', ns), before));
    const keys = ['a', 'b', 'c', 'd'];
    const replies = await Promise.all(
      keys.map((key) => backend.api.patch(at('configmaps', ns, 'a'), 'merge', { data: { [key]: key } })),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { data = {} } = (await backend.api.get(at('configmaps', ns, 'a'))).body;
    expect(Object.keys(data).sort()).toEqual(['a', 'b', 'c', 'd', 'one', 'two']);
  });

  describe('strategic lists', () => {
    const account = (rest: object): object => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'a', finalizers: ['test.dev/one'] },
      ...rest,
    });
    const patchAccount = async (patch: object): Promise<ApiObject> => {
      const ns = await backend.namespace();
      const secrets = [{ name: 'one' }, { name: 'two' }];
      await backend.api.must(backend.api.create(at('serviceaccounts', ns), account({ secrets })));
      return await backend.api.must(backend.api.patch(at('serviceaccounts', ns, 'a'), 'strategic', patch));
    };

    it('strategic lists are merged by the key of their items', async () => {
      const after = await patchAccount({ secrets: [{ name: 'two' }, { name: 'three' }] });
      const names = (after['secrets'] as readonly { readonly name: string }[]).map(({ name }) => name);
      expect(names.sort()).toEqual(['one', 'three', 'two']);
    });

    it('strategic lists lose the items that the patch deletes', async () => {
      const after = await patchAccount({ secrets: [{ name: 'one', $patch: 'delete' }] });
      expect(after['secrets']).toEqual([{ name: 'two' }]);
      expect((await patchAccount({ secrets: [{ $patch: 'replace' }, { name: 'new' }] }))['secrets']).toEqual([
        { name: 'new' },
      ]);
    });

    it('strategic lists of plain values are united', async () => {
      const added = await patchAccount({ metadata: { finalizers: ['test.dev/two'] } });
      expect(new Set(added.metadata.finalizers)).toEqual(new Set(['test.dev/one', 'test.dev/two']));
      const taken = await patchAccount({
        metadata: { '$deleteFromPrimitiveList/finalizers': ['test.dev/one'] },
      });
      expect(taken.metadata.finalizers).toBeUndefined();
    });

    it('strategic lists without a key are replaced', async () => {
      const ns = await backend.namespace();
      const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
      const more = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
      await backend.api.must(backend.api.create(at('roles', ns), { metadata: { name: 'a' }, rules }));
      const after = await backend.api.must(
        backend.api.patch(at('roles', ns, 'a'), 'strategic', { rules: more }),
      );
      expect(after['rules']).toEqual(more);
    });
  });

  it('custom kinds have no strategic merge', async () => {
    await backend.installKinds();
    const { status, body } = await backend.api.patch(at('secretshares', '', 'nothing'), 'strategic', {});
    expect({ status, reason: body.reason }).toEqual({ status: 415, reason: 'UnsupportedMediaType' });
  });

  it('a patch of stringData goes into the data', async () => {
    const ns = await backend.namespace();
    await backend.api.must(backend.api.create(at('secrets', ns), secret('a')));
    const patch = { stringData: { user: 'ann' } };
    const { body } = await backend.api.patch(at('secrets', ns, 'a'), 'merge', patch);
    expect(body).toMatchObject({ data: { user: Buffer.from('ann').toString('base64') } });
    expect(body).not.toHaveProperty('stringData');
  });

  it('a merge patch treats directives as plain members', async () => {
    const ns = await backend.namespace();
    const path = at('configmaps', ns, 'a');
    await backend.api.must(backend.api.create(at('configmaps', ns), configMap('a', { b: 'c' })));
    expect((await backend.api.patch(path, 'merge', { data: { $patch: 'delete' } })).status).toBe(422);
    expect((await backend.api.get(path)).body.data).toEqual({ b: 'c' });
  });
});

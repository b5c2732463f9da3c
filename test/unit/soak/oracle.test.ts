// The oracle of the soak: each thing that can be wrong in a cluster is found, and nothing in one that is as it should be.
import { expect, test } from 'vitest';
import { deviations } from '../../soak/oracle.ts';
import type { Inventory, Stored } from '../../soak/stored.ts';
import { isMatched } from '../../soak/wishes.ts';

const rbac = 'rbac.authorization.k8s.io';

function kept(kind: string, name: string, owner: string, body: object, labels: object = {}): Found {
  const metadata = {
    name,
    namespace: 'soak-1',
    labels: {
      ...labels,
      'app.kubernetes.io/managed-by': 'reeve',
      [owner.startsWith('Secret') ? 'reeve.dev/secretshare' : 'reeve.dev/namespacepolicy']: owner.slice(-1),
    },
    annotations: { 'reeve.dev/owner': owner },
  };
  return { kind, metadata, ...body };
}

type Found = Inventory['found'][number];

const ready = (type: string, reason = 'Synced', status = 'True'): object => ({ type, status, reason });

const binding = kept('RoleBinding', 'people-soak-1', 'NamespacePolicy/a', {
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
  subjects: [{ apiGroup: rbac, kind: 'Group', name: 'people-soak-1' }],
});
const settings = kept('ConfigMap', 'common', 'NamespacePolicy/a', { data: { of: 'a' } });
const copy = kept(
  'Secret',
  'shared',
  'SecretShare/s',
  { type: 'Opaque', data: { renamed: 'dG9rZW4=' }, immutable: true },
  { flavor: 'f1' },
);

const nameTemplate = '${namespaceObject.metadata.name}';
const common = (of: string): object => ({ kind: 'ConfigMap', metadata: { name: 'common' }, data: { of } });

function policy(name: string, contents: object, counts: object, reason: string): Stored {
  return {
    metadata: { name, generation: 2 },
    spec: { match: { namespaceSelector: { matchLabels: { team: 'red' } } }, contents },
    status: {
      observedGeneration: 2,
      matched: 1,
      failed: 0,
      ...counts,
      conditions: [ready('Ready', reason, reason === 'Synced' ? 'True' : 'False')],
    },
  };
}

const good: Inventory = {
  namespaces: [
    {
      metadata: { name: 'soak-1', labels: { team: 'red' } },
      status: { conditions: [ready('reeve.dev/Ready', 'ProvidedByAnother', 'False')] },
    },
    { metadata: { name: 'soak-2' }, status: { conditions: [ready('reeve.dev/Ready', 'NothingProvided')] } },
  ],
  policies: [
    policy(
      'a',
      {
        roleBindings: [
          {
            name: `people-${nameTemplate}`,
            roleRef: { kind: 'ClusterRole', name: 'view' },
            subjects: [{ kind: 'Group', name: `people-${nameTemplate}` }],
          },
        ],
        resources: [common('a')],
      },
      { desired: 2, synced: 2, conflicts: 0 },
      'Synced',
    ),
    policy('b', { resources: [common('b')] }, { desired: 1, synced: 0, conflicts: 1 }, 'Conflicts'),
  ],
  shares: [
    {
      metadata: { name: 's', generation: 1 },
      spec: {
        source: { name: 'source' },
        targets: { names: ['soak-1*'] },
        target: {
          name: 'shared',
          immutable: true,
          keys: [{ from: 'token', to: 'renamed' }],
          labels: { flavor: 'f1' },
        },
      },
      status: {
        observedGeneration: 1,
        desired: 1,
        synced: 1,
        conflicts: 0,
        failed: 0,
        conditions: [ready('Ready')],
      },
    },
  ],
  sources: [{ metadata: { name: 'source' }, type: 'Opaque', data: { token: 'dG9rZW4=', more: 'eA==' } }],
  found: [binding, settings, copy],
};

test('a cluster that is as it should be', () => {
  expect(deviations(good)).toEqual([]);
});

test('a cluster in which two policies want the same object is as it should be', () => {
  const [a, b] = good.policies;
  const [first, second] = good.namespaces;
  const contents = { resources: [common('a')] };
  const same = policy('b', contents, { desired: 1, synced: 1, conflicts: 0 }, 'Synced');
  const status = { conditions: [ready('reeve.dev/Ready')] };
  expect(
    deviations({
      ...good,
      namespaces: [{ ...first, status } as Stored, second as Stored],
      policies: [a as Stored, { ...b, ...same }],
    }),
  ).toEqual([]);
});

const marked = (object: Found, metadata: object): Found => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
});
const policyA = good.policies[0];

test.each<[string, Partial<Inventory>, readonly string[]]>([
  [
    'missing',
    { found: [settings, copy] },
    ['soak-1: RoleBinding people-soak-1 of NamespacePolicy/a is missing'],
  ],
  [
    'too much',
    { found: [...good.found, kept('ConfigMap', 'old', 'NamespacePolicy/a', { data: {} })] },
    ['soak-1: ConfigMap old exists without a provider'],
  ],
  [
    'other data',
    { found: [binding, settings, { ...copy, data: { renamed: 'b2xk' } }] },
    ['soak-1: the data of Secret shared is not that of SecretShare/s'],
  ],
  [
    'another role',
    {
      found: [{ ...binding, roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'edit' } }, settings, copy],
    },
    ['soak-1: the roleRef of RoleBinding people-soak-1 is not that of NamespacePolicy/a'],
  ],
  [
    'the wrong owner',
    { found: [binding, marked(settings, { annotations: { 'reeve.dev/owner': 'NamespacePolicy/b' } }), copy] },
    ['soak-1: ConfigMap common is kept for NamespacePolicy/b, not for NamespacePolicy/a'],
  ],
  [
    'a label too much',
    { found: [binding, settings, marked(copy, { labels: { ...copy.metadata.labels, more: 'x' } })] },
    ['soak-1: the labels of Secret shared are not those of SecretShare/s'],
  ],
  [
    'an annotation too much',
    {
      found: [binding, settings, marked(copy, { annotations: { ...copy.metadata.annotations, more: 'x' } })],
    },
    ['soak-1: Secret shared has annotations: more'],
  ],
  [
    'tied up',
    { found: [binding, settings, marked(copy, { finalizers: ['x/y'] })] },
    ['soak-1: somebody has tied up Secret shared'],
  ],
  [
    'a namespace that says otherwise',
    { namespaces: [{ metadata: { name: 'soak-2' }, status: {} }], found: [] },
    [
      'soak-2: its condition is not there, not True NothingProvided',
      'NamespacePolicy/a: matched is 1, not 0',
      'NamespacePolicy/a: desired is 2, not 0',
      'NamespacePolicy/a: synced is 2, not 0',
      'NamespacePolicy/b: matched is 1, not 0',
      'NamespacePolicy/b: desired is 1, not 0',
      'NamespacePolicy/b: conflicts is 1, not 0',
      'NamespacePolicy/b: ready is False Conflicts, not True Synced',
      'SecretShare/s: desired is 1, not 0',
      'SecretShare/s: synced is 1, not 0',
    ],
  ],
  [
    'a status of an older version',
    {
      policies: good.policies.map((each) =>
        each === policyA ? { ...each, metadata: { ...each.metadata, generation: 3 } } : each,
      ),
    },
    ['NamespacePolicy/a: observedGeneration is 2, not 3'],
  ],
  [
    'one that does not go',
    {
      namespaces: [
        ...good.namespaces,
        { metadata: { name: 'soak-3', deletionTimestamp: '2026-01-01T00:00:00Z' } },
      ],
    },
    ['soak-3 is still being deleted'],
  ],
])('%s', (_, change, faults) => {
  expect(deviations({ ...good, ...change })).toEqual(faults);
});

test.each([
  [{ names: ['soak-1*'] }, 'soak-12', true],
  [{ names: ['soak-1*'] }, 'soak-21', false],
  [{ names: ['soak-*'], excludeNames: ['soak-*3'] }, 'soak-13', false],
  [{ names: ['soak-*'], excludeNames: ['soak-*3'] }, 'soak-31', true],
  [{ namespaceSelector: { matchLabels: { team: 'red' } } }, 'soak-1', false],
  [{}, 'soak-1', true],
])('%j matches %s: %s', (match, name, is) => {
  expect(isMatched(match, { metadata: { name } })).toBe(is);
});

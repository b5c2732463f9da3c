// The warnings of a write that moves objects from one provider to another.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import type { ClusterSnapshot } from '../../../../src/policy/compile/snapshot.ts';
import {
  aPolicy,
  aShare,
  aSnapshot,
  knownNamespace,
  providerObject,
  writeDecision,
} from '../../../support/engine.ts';

const namespaces = ['c1', 'c2', 'c3'].map((name) => knownNamespace(name));
const shareSpec = (source: string, names: readonly string[], more: object = {}) => ({
  source: { namespace: 'reeve-shared', name: source },
  targets: { names },
  target: { name: 'reg' },
  ...more,
});
const share = (name: string, ...spec: Parameters<typeof shareSpec>): KubeObject =>
  providerObject('SecretShare', name, shareSpec(...spec));
const some = ['c1', 'c2'];
const every = ['c*'];

function handOvers(
  oldObject: KubeObject | undefined,
  object: KubeObject | undefined,
  snapshot: ClusterSnapshot,
): readonly string[] {
  const { notices } = writeDecision({ oldObject, object }, snapshot);
  return notices.filter((notice) => / over | comes first and /.test(notice));
}

const other = aSnapshot([], namespaces, [aShare('reg-b', shareSpec('reg2', some))]);
const taken = ['SecretShare/reg takes Secret reg in 2 namespaces over from SecretShare/reg-b: c1, c2'];
const notGot =
  'SecretShare/reg-c does not get Secret reg in 2 namespaces, because SecretShare/reg-b comes first and wants another form: c1, c2';
const handed = ['SecretShare/reg hands Secret reg in 2 namespaces over to SecretShare/reg-b: c1, c2'];

test.for<readonly [title: string, KubeObject | undefined, KubeObject | undefined, readonly string[]]>([
  [
    'a new share that comes first by name takes the copies over',
    undefined,
    share('reg', 'reg', every),
    taken,
  ],
  ['a share that is deleted hands the copies over', share('reg', 'reg', every), undefined, handed],
  [
    'a share that matches more namespaces takes the copies there over',
    share('reg', 'reg', ['c1', 'c3']),
    share('reg', 'reg', every),
    ['SecretShare/reg takes Secret reg in 1 namespace over from SecretShare/reg-b: c2'],
  ],
  [
    'a share that takes another name for its copies takes over and hands over',
    share('reg', 'reg', every, { target: { name: 'x' } }),
    share('reg', 'reg', every),
    taken,
  ],
  [
    'a share that comes later by name does not get the copies',
    undefined,
    share('reg-c', 'reg', every),
    [notGot],
  ],
  [
    'a share that comes later by name and gets another form does not get the copies',
    share('reg-c', 'reg2', every),
    share('reg-c', 'reg2', every, { target: { name: 'reg', type: 'Opaque' } }),
    [notGot],
  ],
  [
    'a share that did not get the copies before warns of nothing',
    share('reg-c', 'reg', every),
    share('reg-c', 'reg', every, { maxDeletions: 5 }),
    [],
  ],
  [
    'a share that matches more namespaces does not get the copies there',
    share('reg-c', 'reg', ['c1', 'c3']),
    share('reg-c', 'reg', every),
    [notGot.replace('2 namespaces', '1 namespace').replace('c1, c2', 'c2')],
  ],
  ['two shares that want the same copies warn of nothing', undefined, share('reg', 'reg2', every), []],
  [
    'a share with other copies warns of nothing',
    undefined,
    share('reg', 'reg', every, { target: { name: 'x' } }),
    [],
  ],
  ['a suspended share takes nothing over', undefined, share('reg', 'reg', every, { suspend: true }), []],
  [
    'a share that matches the same namespaces as before warns of nothing',
    share('reg', 'reg', every),
    share('reg', 'reg', every, { maxDeletions: 5 }),
    [],
  ],
])('%s', ([, before, after, expected]) => {
  expect(handOvers(before, after, other)).toEqual(expected);
});

test('a share takes nothing over from a share that is suspended', () => {
  const suspended = aSnapshot([], namespaces, [aShare('reg-b', shareSpec('reg2', some, { suspend: true }))]);
  expect(handOvers(undefined, share('reg', 'reg', every), suspended)).toEqual([]);
});

test('a policy takes over objects of any name that both policies render, where they differ', () => {
  const binding = (name: string, role: string) => ({
    contents: {
      roleBindings: [
        { name, roleRef: { kind: 'ClusterRole', name: role }, subjects: [{ kind: 'Group', name: 'staff' }] },
      ],
    },
  });
  const templated = 'dev-${namespaceObject.metadata.name}';
  const snapshot = aSnapshot(
    [aPolicy('p', binding('dev-c1', 'view')), aPolicy('r', binding('x', 'view'))],
    namespaces,
  );
  const taking = (name: string, role = 'edit') =>
    handOvers(undefined, providerObject('NamespacePolicy', 'a', binding(name, role)), snapshot);
  expect(taking(templated)).toEqual([
    'NamespacePolicy/a takes RoleBinding dev-c1 in 1 namespace over from NamespacePolicy/p: c1',
  ]);
  expect(taking('dev-c1')).toEqual([
    'NamespacePolicy/a takes RoleBinding dev-c1 in 3 namespaces over from NamespacePolicy/p: c1, c2, c3',
  ]);
  expect(taking(templated, 'view')).toEqual([]);
  expect(taking('ops-${namespaceObject.metadata.name}')).toEqual([]);
});

test('a policy that loses all contents hands its objects over, also where its match has an error', () => {
  const contents = (data: string) => ({
    contents: {
      resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { key: data } }],
    },
  });
  const failing = {
    matchConditions: [{ name: 'team', expression: "namespaceObject.metadata.labels['team'] == 'a'" }],
  };
  const snapshot = aSnapshot([aPolicy('b', contents('theirs'))], [knownNamespace('c1')]);
  const policy = (spec: object) => providerObject('NamespacePolicy', 'a', spec);
  expect(handOvers(policy(contents('ours')), policy({ match: failing }), snapshot)).toEqual([
    'NamespacePolicy/a hands ConfigMap c in 1 namespace over to NamespacePolicy/b: c1',
  ]);
});

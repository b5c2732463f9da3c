// The warnings of a policy whose rules refuse what it or others provide, and of contents that the rules of others refuse.
import { describe, expect, test } from 'vitest';
import type { ClusterSnapshot } from '../../../../src/policy/compile/snapshot.ts';
import {
  aPolicy,
  aProviderReview,
  aShare,
  aSnapshot,
  circumstances,
  knownNamespace,
  providerObject,
  testInstall,
  providerDecision,
  writeDecision,
} from '../../../support/engine.ts';

const namespaces = ['a', 'b', 'c'].map((name) => knownNamespace(name));
const subjects = [{ kind: 'Group', name: "${namespaceObject.metadata.name + '-team'}" }];
const binding = (role: string, more: object = {}) => ({
  name: 'dev',
  roleRef: { kind: 'ClusterRole', name: role },
  subjects,
  ...more,
});
const provider = (more: object = {}) =>
  aPolicy('ref', { match: { names: ['a', 'b'] }, contents: { roleBindings: [binding('edit', more)] } });
const shareSpec = (target: object) => ({
  source: { namespace: 'reeve-shared', name: 's' },
  targets: { names: ['*'] },
  target,
});
const share = (target: object = {}) => aShare('regcred', shareSpec(target));
const cluster = aSnapshot([provider()], namespaces, [share()]);

function refusals(spec: object, snapshot: ClusterSnapshot, oldSpec?: object): readonly string[] {
  const policy = (each: object) =>
    providerObject('NamespacePolicy', 'p', { match: { names: ['*'] }, ...each });
  const oldObject = oldSpec === undefined ? undefined : policy(oldSpec);
  const { notices } = writeDecision({ oldObject, object: policy(spec) }, snapshot);
  return notices.filter((notice) => / (refuses|judges) /.test(notice));
}

const rbac = { allowedRoleRefs: ['ClusterRole/view'] };
const refused =
  'NamespacePolicy/p refuses RoleBinding dev of NamespacePolicy/ref in 2 namespaces, so Reeve cannot create it there: a, b';
const unread =
  'NamespacePolicy/p judges copies of SecretShare/regcred in 3 namespaces only when they are written: ' +
  'a copy that it refuses keeps its old data: a, b, c';

test.for<readonly [title: string, spec: object, expected: readonly string[], snapshot?: ClusterSnapshot]>([
  ['a RoleBinding of another policy is named with its namespaces', { rbac }, [refused]],
  [
    'a subject that only a template gives is judged in each namespace',
    { rbac: { forbiddenSubjects: ['Group/b-*'] } },
    [
      'NamespacePolicy/p refuses RoleBinding dev of NamespacePolicy/ref in 1 namespace, so Reeve cannot create it there: b',
    ],
  ],
  ['a policy that allows all of them gives no warning', { rbac: { allowedRoleRefs: ['ClusterRole/*'] } }, []],
  ['a policy that only warns refuses nothing', { rbac, validationActions: ['Warn'] }, []],
  [
    'a namespace with an exception is left out',
    {
      rbac,
      exceptions: [
        {
          namespaces: ['a'],
          rules: ['rbac.allowedRoleRefs'],
          expiresAt: '2999-01-01T00:00:00Z',
          reason: 'x',
        },
      ],
    },
    [refused.replace('2 namespaces', '1 namespace').replace('a, b', 'b')],
  ],
  [
    'a policy can refuse its own RoleBindings',
    { rbac, contents: { roleBindings: [binding('admin')] } },
    [
      'NamespacePolicy/p refuses RoleBinding dev of NamespacePolicy/p in 3 namespaces, so Reeve cannot create it there: a, b, c',
      refused,
    ],
  ],
  [
    'a RoleBinding that has expired is left out',
    { rbac },
    [],
    aSnapshot([provider({ expiresAt: '2001-01-01T00:00:00Z' })], namespaces),
  ],
  [
    'a copy is judged by the type that its share says',
    { secrets: { allowedTypes: ['kubernetes.io/tls'] } },
    [
      'NamespacePolicy/p refuses Secret s of SecretShare/regcred in 3 namespaces, so Reeve cannot create or change it there: a, b, c',
    ],
    aSnapshot([], namespaces, [share({ type: 'Opaque' })]),
  ],
  [
    'a copy of an allowed type gives no warning',
    { secrets: { allowedTypes: ['Opaque'] } },
    [],
    aSnapshot([], namespaces, [share({ type: 'Opaque' })]),
  ],
  [
    'a copy of which the type is unknown is judged later',
    { secrets: { allowedTypes: ['Opaque'] } },
    [unread],
  ],
  ['a copy of which the size is unknown is judged later', { secrets: { maxBytes: 10 } }, [unread]],
  ['defaults refuse no copy', { secrets: { defaults: { labels: { team: 'x' } } } }, []],
])('%s', ([, spec, expected, snapshot = cluster]) => {
  expect(refusals(spec, snapshot)).toEqual(expected);
});

test('a write that leaves the rules alone warns only of namespaces that it gains', () => {
  expect(refusals({ rbac, maxDeletions: 1 }, cluster, { rbac })).toEqual([]);
  expect(refusals({ rbac }, cluster, { rbac, match: { names: ['a'] } })).toEqual([
    refused.replace('2 namespaces', '1 namespace').replace('a, b', 'b'),
  ]);
});

test('a write that leaves the rules alone warns of a new RoleBinding that they refuse, and not of others', () => {
  const contents = { roleBindings: [binding('admin')] };
  expect(refusals({ rbac, contents }, cluster, { rbac })).toEqual([
    'NamespacePolicy/p refuses RoleBinding dev of NamespacePolicy/p in 3 namespaces, so Reeve cannot create it there: a, b, c',
  ]);
  expect(refusals({ rbac, contents, maxDeletions: 1 }, cluster, { rbac, contents })).toEqual([]);
});

test('a write in a huge cluster looks at a part of it and says so', () => {
  const many = Array.from({ length: 6000 }, (_, index) => knownNamespace(`n${index}`));
  const everywhere = aPolicy('ref', { contents: { roleBindings: [binding('edit')] } });
  expect(refusals({ rbac }, aSnapshot([everywhere], many)).join()).toContain('in at least 5000 namespaces');
});

describe('contents that the rules of another policy refuse', () => {
  const onlyView = aPolicy('rules', { match: { names: ['a', 'b'] }, rbac });
  const withRules = aSnapshot([onlyView], namespaces);
  const contents = (role: string, more: object = {}) => ({
    contents: { roleBindings: [binding(role, more)] },
  });
  const here =
    'NamespacePolicy/rules refuses RoleBinding dev of NamespacePolicy/p in 2 namespaces, so Reeve cannot create or change it there: a, b';
  const nobody = { subjects: [] };

  test.for<readonly [title: string, expected: readonly string[], spec: object, oldSpec?: object]>([
    ['a new RoleBinding', [here], contents('edit')],
    ['a RoleBinding with another role', [here], contents('edit'), contents('view')],
    [
      'a RoleBinding of a policy that is resumed',
      [here],
      contents('edit'),
      { ...contents('edit'), suspend: true },
    ],
    [
      'a RoleBinding in a namespace that the policy gains',
      [here.replace('2 namespaces', '1 namespace').replace('a, b', 'b')],
      contents('edit'),
      { ...contents('edit'), match: { names: ['a'] } },
    ],
  ])('%s gives a warning', ([, expected, spec, oldSpec]) => {
    expect(refusals(spec, withRules, oldSpec)).toEqual(expected);
  });

  test.for<readonly [title: string, spec: object, oldSpec?: object]>([
    ['a RoleBinding that the rules allow', contents('view')],
    ['a RoleBinding of a suspended policy', { ...contents('edit'), suspend: true }],
    ['a RoleBinding that loses its subjects', contents('edit', nobody), contents('edit')],
    ['a RoleBinding that the write leaves alone', { ...contents('edit'), maxDeletions: 1 }, contents('edit')],
  ])('%s gives no warning', ([, spec, oldSpec]) => {
    expect(refusals(spec, withRules, oldSpec)).toEqual([]);
  });

  test('rules of a policy without Deny give no warning', () => {
    const reporting = aPolicy('rules', { validationActions: ['Warn'], rbac });
    expect(refusals(contents('edit'), aSnapshot([reporting], namespaces))).toEqual([]);
  });

  test('a share whose copies have a refused type gives a warning, unless it is suspended', () => {
    const rules = aPolicy('rules', {
      match: { names: ['a'] },
      secrets: { allowedTypes: ['kubernetes.io/tls'] },
    });
    const noticesOf = (more: object): readonly string[] => {
      const spec = { ...shareSpec({ type: 'Opaque' }), ...more };
      const object = providerObject('SecretShare', 'regcred', spec);
      const review = aProviderReview({ resource: 'secretshares', name: 'regcred', object });
      const snapshot = aSnapshot([rules], namespaces);
      return providerDecision(review, snapshot, { ...circumstances, install: testInstall }).notices;
    };
    expect(noticesOf({ suspend: true }).filter((notice) => notice.includes(' refuses '))).toEqual([]);
    expect(noticesOf({})).toContain(
      'NamespacePolicy/rules refuses Secret s of SecretShare/regcred in 1 namespace, so Reeve cannot create or change it there: a',
    );
  });
});

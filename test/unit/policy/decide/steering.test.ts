import { describe, expect, test } from 'vitest';
import { decide } from '../../../../src/policy/decide/decide.ts';
import type { ObjectMeta } from '../../../../src/base/metadata.ts';
import { aNamespace, aPolicy, aReview, aShare, aSnapshot, circumstances } from '../../../support/engine.ts';
import { defaultProviderState } from '../../../support/owner-state.ts';
import type { CompiledPolicy } from '../../../../src/policy/compile/compile-policy.ts';

const provides = { resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }] };
const needsTeam = {
  resources: [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: "${namespaceObject.metadata.labels['team']}" } },
  ],
};
/** True or false by the label; an error without it. */
const byLabel = [{ name: 'c', expression: "namespaceObject.metadata.labels['on'] == 'yes'" }];

function rightsFor(
  policies: readonly CompiledPolicy[],
  before: ObjectMeta | undefined,
  after: ObjectMeta,
): readonly string[] {
  const review = aReview({
    object: aNamespace(after),
    ...(before === undefined ? {} : { oldObject: aNamespace(before) }),
  });
  return decide(review, aSnapshot(policies), circumstances).rights.map(
    ({ name, effect }) => `${name}: ${effect}`,
  );
}

const joins = (policy: string, namespace = 'n') =>
  `${policy}: bring namespace ${namespace} under NamespacePolicy ${policy}`;
const leaves = (policy: string, namespace = 'n') =>
  `${policy}: remove namespace ${namespace} from NamespacePolicy ${policy}`;
const changes = `p: change what namespace n gets from NamespacePolicy p`;

const yes = { name: 'n', labels: { on: 'yes' } };
const no = { name: 'n', labels: { on: 'no' } };
const error = { name: 'n', labels: { other: 'x' } };
const otherError = { name: 'n', labels: { other: 'y' } };

describe('a match condition with an error', () => {
  const policy = aPolicy('p', { match: { matchConditions: byLabel }, contents: provides });
  test.for([
    ['a namespace that begins to match joins', no, yes, [joins('p')]],
    ['a namespace that stops matching leaves', yes, no, [leaves('p')]],
    ['an error that becomes a match joins', error, yes, [joins('p')]],
    ['a match that becomes an error leaves', yes, error, [leaves('p')]],
    ['an error that stays needs no right', error, otherError, []],
    ['an error that replaces no match needs no right', no, error, []],
    ['a match that stays needs no right', yes, { ...yes, annotations: { x: 'y' } }, []],
  ] as const)('%s', ([, before, after, rights]) => {
    expect(rightsFor([policy], before, after)).toEqual(rights);
  });

  test('a policy that provides nothing may be joined without a right, and not left', () => {
    const rulesOnly = aPolicy('p', {
      match: { matchConditions: byLabel },
      namespaces: { name: { pattern: '.' } },
    });
    expect(rightsFor([rulesOnly], no, yes)).toEqual([]);
    expect(rightsFor([rulesOnly], yes, error)).toEqual([leaves('p')]);
  });
});

describe('contents that appear, vanish or have an error', () => {
  const policy = aPolicy('p', { contents: needsTeam });
  const failing = aPolicy('p', {
    contents: {
      resources: [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: {
            name: "${namespaceObject.metadata.labels['n'] + string(1 / int(namespaceObject.metadata.labels['n']))}",
          },
        },
      ],
    },
  });
  const labels = (all: Readonly<Record<string, string>>) => ({ name: 'n', labels: all });
  test.for([
    ['contents that stay absent need no right', policy, labels({}), labels({ x: 'y' }), []],
    ['contents that appear need a right', policy, labels({}), labels({ team: 'a' }), [changes]],
    ['contents that vanish need a right', policy, labels({ team: 'a' }), labels({}), [changes]],
    [
      'contents that begin to have an error need a right',
      failing,
      labels({ n: '1' }),
      labels({ n: '0' }),
      [changes],
    ],
    [
      'contents that lose their error need a right',
      failing,
      labels({ n: '0' }),
      labels({ n: '1' }),
      [changes],
    ],
    ['contents whose error stays need no right', failing, labels({ n: '0' }), labels({ n: '0', x: 'y' }), []],
    ['a failing content that is skipped needs a right', failing, labels({ n: '0' }), labels({}), [changes]],
    [
      'a content that is skipped for another label needs no right',
      aPolicy('p', {
        contents: {
          resources: [
            {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { name: '${namespaceObject.metadata.labels.a + namespaceObject.metadata.labels.b}' },
            },
          ],
        },
      }),
      labels({ a: 'x' }),
      labels({ b: 'x' }),
      [],
    ],
    ['absent contents that have an error need no right', failing, labels({}), labels({ n: '0' }), []],
  ] as const)('%s', ([, compiled, before, after, rights]) => {
    expect(rightsFor([compiled], before, after)).toEqual(rights);
  });
});

describe('on CREATE', () => {
  test('the name label and the name in contents are not steering', () => {
    const named = aPolicy('p', {
      contents: {
        resources: [
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c-${namespaceObject.metadata.name}' } },
        ],
      },
    });
    expect(
      rightsFor([named], undefined, { name: 'n', labels: { 'kubernetes.io/metadata.name': 'n' } }),
    ).toEqual([]);
  });

  test('a selector on the name label is steering by name', () => {
    const selects = aPolicy('p', {
      match: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'n' } } },
      contents: provides,
    });
    expect(rightsFor([selects], undefined, { name: 'n' })).toEqual([joins('p')]);
    expect(
      rightsFor([selects], undefined, { name: 'm', labels: { 'kubernetes.io/metadata.name': 'n' } }),
    ).toEqual([]);
  });

  test('the author of a default needs the right, and not the user, also where a selector requires absence', () => {
    const sets = aPolicy('a-sets', {
      match: { names: ['t-*'] },
      namespaces: { defaults: { labels: { tier: 'team' } } },
    });
    const selects = aPolicy('b', {
      match: { namespaceSelector: { matchLabels: { tier: 'team' } } },
      contents: provides,
    });
    const without = aPolicy('c', {
      match: { namespaceSelector: { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] } },
    });
    const all = [sets, selects, without];
    expect(rightsFor(all, undefined, { name: 't-a', labels: { tier: 'team' } })).toEqual([]);
    expect(rightsFor(all, undefined, { name: 't-a', labels: { tier: 'gold' } })).toEqual([
      leaves('c', 't-a'),
    ]);
    expect(rightsFor(all, undefined, { name: 'other', labels: { tier: 'team' } })).toEqual([
      joins('b', 'other'),
      leaves('c', 'other'),
    ]);
  });
});

describe('a write that changes no labels, annotations and owners', () => {
  const gold = aPolicy('p', {
    match: {
      matchConditions: [
        {
          name: 'c',
          expression: "namespaceObject.metadata.?finalizers.orValue([]).exists(f, f == 'x.io/gold')",
        },
      ],
    },
    namespaces: { required: { labels: { team: {} } } },
    contents: provides,
  });
  const plain = { name: 'n' };
  const golden = { name: 'n', finalizers: ['x.io/gold'] };
  const deletionTimestamp = '2026-11-20T00:00:00Z';

  test.for([
    ['a new finalizer can bring a namespace under a policy', plain, golden, [joins('p')]],
    ['a removed finalizer can remove a namespace from a policy', golden, plain, [leaves('p')]],
    [
      'a terminating namespace needs no right',
      { ...golden, deletionTimestamp },
      { ...plain, deletionTimestamp },
      [],
    ],
  ] as const)('%s', ([, before, after, rights]) => {
    expect(rightsFor([gold], before, after)).toEqual(rights);
  });

  test('a write that changes no labels, annotations and owners is judged by no rule', () => {
    const review = aReview({
      oldObject: aNamespace(golden),
      object: aNamespace({ ...golden, resourceVersion: '2' }),
    });
    expect(decide(review, aSnapshot([gold]), circumstances).violations).toEqual([]);
  });
});

describe('a default counts as old only if this write sets it', () => {
  const gold = aPolicy('gold', {
    match: { namespaceSelector: { matchLabels: { grade: 'gold' } } },
    contents: provides,
  });
  const basic = aPolicy('a-basic', {
    match: { names: ['d-*'] },
    namespaces: { defaults: { labels: { grade: 'basic' } } },
  });
  const golden = aPolicy('b-gold', {
    match: { names: ['d-*', 'e-*', 'f-*'] },
    namespaces: { defaults: { labels: { grade: 'gold' } } },
    exceptions: [{ namespaces: ['e-*'], rules: ['namespaces.defaults'] }],
  });
  const labels = { grade: 'gold' };
  const steers = (namespace: string) => [joins('gold', namespace)];

  test.for([
    ['the default of the first policy by name needs no right', undefined, { name: 'f-1', labels }, []],
    ['the default of a later policy needs a right', undefined, { name: 'd-1', labels }, steers('d-1')],
    [
      'a default from which the namespace is excepted needs a right',
      undefined,
      { name: 'e-1', labels },
      steers('e-1'),
    ],
    [
      'a default for an existing namespace needs a right',
      { name: 'f-1' },
      { name: 'f-1', labels },
      steers('f-1'),
    ],
  ] as const)('%s', ([, before, after, rights]) => {
    expect(rightsFor([gold, basic, golden], before, after)).toEqual(rights);
  });
});

describe('shares', () => {
  const share = aShare('regcred', {
    source: { namespace: 'reeve-shared', name: 'regcred' },
    targets: { namespaceSelector: { matchLabels: { pull: 'true' } } },
  });
  const pulls = { name: 'n', labels: { pull: 'true' } };
  const snapshot = aSnapshot([], [], [share]);
  const into = aReview({ oldObject: aNamespace({ name: 'n' }), object: aNamespace(pulls) });
  const outOf = aReview({ oldObject: aNamespace(pulls), object: aNamespace({ name: 'n' }) });
  const state = {
    ...defaultProviderState,
    id: 'SecretShare/regcred',
  } as const;

  test('steering by a share needs the right to use the share', () => {
    expect(decide(into, snapshot, circumstances).rights).toEqual([
      {
        verb: 'use',
        group: 'reeve.dev',
        resource: 'secretshares',
        name: 'regcred',
        cause: 'label pull=true',
        causedBy: ['metadata.labels["pull"]'],
        effect: 'bring namespace n under SecretShare regcred',
        rule: 'steering',
        path: 'metadata',
      },
    ]);
    expect(decide(outOf, snapshot, circumstances).rights).toMatchObject([
      {
        name: 'regcred',
        cause: 'removing label pull',
        effect: 'remove namespace n from SecretShare regcred',
      },
    ]);
  });

  test('a share that is being deleted needs no right', () => {
    const providers = new Map([[state.id, { ...state, isDeleting: true }]]);
    for (const review of [into, outOf]) {
      expect(decide(review, { ...snapshot, providers }, circumstances).rights).toEqual([]);
    }
  });

  test('an invalid share counts with its last valid version, and a suspended share counts as well', () => {
    for (const change of [{ isValid: false }, { isSuspended: true }]) {
      const providers = new Map([[state.id, { ...state, ...change }]]);
      expect(decide(into, { ...snapshot, providers }, circumstances).rights).toHaveLength(1);
    }
  });

  test('an excluded namespace needs no right', () => {
    const all = aShare('all', { source: { namespace: 'a', name: 'b' }, targets: { names: ['*'] } });
    const review = aReview({ object: aNamespace({ name: 'kube-system' }) });
    expect(decide(review, aSnapshot([], [], [all]), circumstances).rights).toEqual([]);
  });
});

describe('the cause of steering', () => {
  const selects = aPolicy('p', {
    match: { namespaceSelector: { matchLabels: { team: 'a', tier: 'gold' } }, names: ['app-*', 'n'] },
    contents: provides,
  });
  const causesOf = (policy: CompiledPolicy, before: ObjectMeta | undefined, after: ObjectMeta) =>
    decide(
      aReview({
        object: aNamespace(after),
        ...(before === undefined ? {} : { oldObject: aNamespace(before) }),
      }),
      aSnapshot([policy]),
      circumstances,
    ).rights.map(({ cause }) => cause);
  const labels = { team: 'a', tier: 'gold' };

  test('the cause of a new namespace is its name and its labels', () => {
    expect(causesOf(selects, undefined, { name: 'app-1', labels })).toEqual([
      'name app-1 and label team=a and label tier=gold',
    ]);
  });

  test('the cause of a relabeled namespace is each changed label that the selector reads', () => {
    const before = { name: 'n', labels: { team: 'a', tier: 'basic', other: 'x' } };
    expect(causesOf(selects, before, { name: 'n', labels: { ...labels, other: 'y' } })).toEqual([
      'label tier=gold',
    ]);
    expect(causesOf(selects, { name: 'n', labels }, { name: 'n', labels: { team: 'a' } })).toEqual([
      'removing label tier',
    ]);
  });

  test('the name label counts as the name', () => {
    const byNameLabel = aPolicy('p', {
      match: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'n' } } },
      contents: provides,
    });
    expect(causesOf(byNameLabel, undefined, { name: 'n' })).toEqual(['name n']);
  });

  test('a right carries the contact of its policy or share', () => {
    const contact = 'platform@example.com';
    const policy = aPolicy('p', { match: { names: ['n'] }, contents: provides, contact });
    const share = aShare('s', { source: { namespace: 'a', name: 'b' }, targets: { names: ['n'] }, contact });
    const review = aReview({ object: aNamespace({ name: 'n' }) });
    const { rights } = decide(review, aSnapshot([policy], [], [share]), circumstances);
    expect(rights.map((right) => right.contact)).toEqual([contact, contact]);
  });

  test('match conditions and contents have no single cause', () => {
    expect(
      causesOf(aPolicy('p', { match: { matchConditions: byLabel }, contents: provides }), no, yes),
    ).toEqual([undefined]);
    expect(
      causesOf(aPolicy('p', { contents: needsTeam }), { name: 'n' }, { name: 'n', labels: { team: 'a' } }),
    ).toEqual([undefined]);
  });
});

test('the rights of policies come before those of shares, each by name', () => {
  const contents = { resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }] };
  const policies = ['z', 'a'].map((name) => aPolicy(name, { match: { names: ['n'] }, contents }));
  const shares = ['y', 'b'].map((name) =>
    aShare(name, { source: { namespace: 'reeve-shared', name: 's' }, targets: { names: ['n'] } }),
  );
  const review = aReview({ object: aNamespace({ name: 'n' }) });
  const { rights } = decide(review, aSnapshot(policies, [], shares), circumstances);
  expect(rights.map(({ name }) => name)).toEqual(['a', 'z', 'b', 'y']);
});

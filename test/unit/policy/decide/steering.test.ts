import { describe, expect, test } from 'vitest';
import { decide } from '../../../../src/policy/decide/decide.ts';
import type { ObjectMeta } from '../../../../src/base/kube-object.ts';
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

const yes = { name: 'n', labels: { on: 'yes' } };
const no = { name: 'n', labels: { on: 'no' } };
const error = { name: 'n', labels: { other: 'x' } };
const otherError = { name: 'n', labels: { other: 'y' } };

describe('a match that turns from or to an error', () => {
  const policy = aPolicy('p', { match: { matchConditions: byLabel }, contents: provides });
  test.for([
    ['no to yes', no, yes, ['p: bring the namespace under it']],
    ['yes to no', yes, no, ['p: take the namespace from it']],
    ['error to yes', error, yes, ['p: bring the namespace under it']],
    ['yes to error', yes, error, ['p: take the namespace from it']],
    ['error to error', error, otherError, []],
    ['no to error', no, error, []],
    ['yes to yes', yes, { ...yes, annotations: { x: 'y' } }, []],
  ] as const)('%s', ([, before, after, rights]) => {
    expect(rightsFor([policy], before, after)).toEqual(rights);
  });

  test('a policy that provides nothing may be joined, and not left', () => {
    const rulesOnly = aPolicy('p', {
      match: { matchConditions: byLabel },
      namespaces: { name: { pattern: '.' } },
    });
    expect(rightsFor([rulesOnly], no, yes)).toEqual([]);
    expect(rightsFor([rulesOnly], yes, error)).toEqual(['p: take the namespace from it']);
  });
});

describe('contents that turn from or to an error', () => {
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
    ['absent to absent', policy, labels({}), labels({ x: 'y' }), []],
    [
      'absent to present',
      policy,
      labels({}),
      labels({ team: 'a' }),
      ['p: change what the namespace gets from it'],
    ],
    [
      'present to absent',
      policy,
      labels({ team: 'a' }),
      labels({}),
      ['p: change what the namespace gets from it'],
    ],
    [
      'present to error',
      failing,
      labels({ n: '1' }),
      labels({ n: '0' }),
      ['p: change what the namespace gets from it'],
    ],
    [
      'error to present',
      failing,
      labels({ n: '0' }),
      labels({ n: '1' }),
      ['p: change what the namespace gets from it'],
    ],
    ['error to error', failing, labels({ n: '0' }), labels({ n: '0', x: 'y' }), []],
    ['absent to error', failing, labels({}), labels({ n: '0' }), []],
  ] as const)('%s', ([, compiled, before, after, rights]) => {
    expect(rightsFor([compiled], before, after)).toEqual(rights);
  });
});

describe('on CREATE', () => {
  test('the label that the API server sets, and the name in contents, are not steering', () => {
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
    expect(rightsFor([selects], undefined, { name: 'n' })).toEqual(['p: bring the namespace under it']);
    expect(
      rightsFor([selects], undefined, { name: 'm', labels: { 'kubernetes.io/metadata.name': 'n' } }),
    ).toEqual([]);
  });

  test('the author of a default answers for what it selects, also by absence', () => {
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
      'c: take the namespace from it',
    ]);
    expect(rightsFor(all, undefined, { name: 'other', labels: { tier: 'team' } })).toEqual([
      'b: bring the namespace under it',
      'c: take the namespace from it',
    ]);
  });
});

describe('a write that leaves labels, annotations and owners alone', () => {
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
    ['in', plain, golden, ['p: bring the namespace under it']],
    ['out', golden, plain, ['p: take the namespace from it']],
    [
      'out, while the namespace is going',
      { ...golden, deletionTimestamp },
      { ...plain, deletionTimestamp },
      [],
    ],
  ] as const)('may steer all the same: %s', ([, before, after, rights]) => {
    expect(rightsFor([gold], before, after)).toEqual(rights);
  });

  test('is judged by no rule', () => {
    const review = aReview({
      oldObject: aNamespace(golden),
      object: aNamespace({ ...golden, resourceVersion: '2' }),
    });
    expect(decide(review, aSnapshot([gold]), circumstances).violations).toEqual([]);
  });
});

describe('a default stands on the old side only where this write makes it be set', () => {
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
  const steers = ['gold: bring the namespace under it'];

  test.for([
    ['the first by name sets it', undefined, { name: 'f-1', labels }, []],
    ['another one is first by name', undefined, { name: 'd-1', labels }, steers],
    ['the namespace is excepted', undefined, { name: 'e-1', labels }, steers],
    ['the namespace was there before', { name: 'f-1' }, { name: 'f-1', labels }, steers],
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

  test('the right is that to use the share', () => {
    expect(decide(into, snapshot, circumstances).rights).toEqual([
      {
        verb: 'use',
        group: 'reeve.dev',
        resource: 'secretshares',
        name: 'regcred',
        effect: 'bring the namespace under it',
        rule: 'steering',
        path: 'metadata',
      },
    ]);
    expect(decide(outOf, snapshot, circumstances).rights).toMatchObject([
      { name: 'regcred', effect: 'take the namespace from it' },
    ]);
  });

  test('one that is being deleted provides nothing any more, and needs no right', () => {
    const owners = new Map([[state.id, { ...state, isDeleting: true }]]);
    for (const review of [into, outOf]) {
      expect(decide(review, { ...snapshot, owners }, circumstances).rights).toEqual([]);
    }
  });

  test('of one that does not load, the last good version counts; and one that is suspended will be resumed', () => {
    for (const change of [{ isValid: false }, { isSuspended: true }]) {
      const owners = new Map([[state.id, { ...state, ...change }]]);
      expect(decide(into, { ...snapshot, owners }, circumstances).rights).toHaveLength(1);
    }
  });

  test('an excluded namespace is nobody’s', () => {
    const all = aShare('all', { source: { namespace: 'a', name: 'b' }, targets: { names: ['*'] } });
    const review = aReview({ object: aNamespace({ name: 'kube-system' }) });
    expect(decide(review, aSnapshot([], [], [all]), circumstances).rights).toEqual([]);
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

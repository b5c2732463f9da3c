import { describe, expect, test } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../../../src/base/kube-object.ts';
import type { ProviderId, ProviderState } from '../../../../src/policy/terms/provider-id.ts';
import { decideProvider } from '../../../../src/policy/authors/decide-provider.ts';
import type { Decision } from '../../../../src/policy/terms/verdict.ts';
import {
  aProviderReview,
  aPolicy,
  aShare,
  aSnapshot,
  circumstances,
  knownNamespace,
  providerObject,
  testInstall,
} from '../../../support/engine.ts';
import { defaultProviderState } from '../../../support/owner-state.ts';

const namespaces = [
  knownNamespace('a', { pull: 'true' }),
  knownNamespace('b', { pull: 'true' }),
  knownNamespace('c'),
  knownNamespace('kube-system', { pull: 'true' }),
];
const source = { namespace: 'reeve-shared', name: 'regcred' };

function share(targets: unknown, more: object = {}, metadata: ObjectMeta = {}): KubeObject {
  return providerObject('SecretShare', 'regcred', { source, targets, maxDeletions: 1, ...more }, metadata);
}

function decisionOn(
  oldObject: KubeObject | undefined,
  object: KubeObject | undefined,
  snapshot = aSnapshot([], namespaces),
): Decision {
  const isShare = (object ?? oldObject)?.kind === 'SecretShare';
  const review = aProviderReview({
    resource: isShare ? 'secretshares' : 'namespacepolicies',
    ...(object === undefined ? {} : { object }),
    ...(oldObject === undefined ? {} : { oldObject }),
  });
  return decideProvider(review, snapshot, { ...circumstances, install: testInstall });
}

function rulesIn({ violations }: Decision): readonly string[] {
  return violations.map(({ violation }) => violation.rule);
}

const all = { names: ['*'] };
const none = { names: ['none'] };

describe('who else provides the object', () => {
  const other = (name: string, more: object = {}) =>
    aShare(name, {
      source: { ...source, name: 'other' },
      targets: all,
      target: { name: 'regcred' },
      ...more,
    });
  const state: ProviderState = {
    ...defaultProviderState,
    id: 'SecretShare/other',
  };
  const withProviders = (owners: readonly ProviderState[]) => ({
    ...aSnapshot([], namespaces, [other('other')]),
    owners: new Map<ProviderId, ProviderState>(owners.map((each) => [each.id, each])),
  });

  test.for([
    ['another share of the same copies', aSnapshot([], namespaces, [other('other')]), []],
    ['one that is in force', withProviders([state]), []],
    ['one that is going', withProviders([{ ...state, isDeleting: true }]), ['fuse']],
    ['one that does not load', withProviders([{ ...state, isValid: false }]), ['fuse']],
    [
      'copies of another name',
      aSnapshot([], namespaces, [other('other', { target: { name: 'x' } })]),
      ['fuse'],
    ],
    [
      'the share itself, as the snapshot still has it',
      aSnapshot([], namespaces, [other('regcred')]),
      ['fuse'],
    ],
    ['a policy of its name', aSnapshot([aPolicy('regcred', {})], namespaces), ['fuse']],
  ] as const)('%s', ([, snapshot, rules]) => {
    expect(rulesIn(decisionOn(share(all), share(none), snapshot))).toEqual(rules);
    expect(rulesIn(decisionOn(share(all), undefined, snapshot))).toEqual(rules);
  });

  test('a policy hands over to another policy, and not to its own old version', () => {
    const contents = { resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }] };
    const spec = { maxDeletions: 0, contents };
    const old = providerObject('NamespacePolicy', 'p', spec);
    const own = aSnapshot([aPolicy('p', spec)], namespaces);
    const two = aSnapshot([aPolicy('p', spec), aPolicy('q', spec)], namespaces);
    expect(rulesIn(decisionOn(old, undefined, own))).toEqual(['fuse']);
    expect(rulesIn(decisionOn(old, undefined, two))).toEqual([]);
    // `v1` of a group and `v2` of it are views of one object.
    const shares = aSnapshot([], namespaces, [
      aShare('c', { source: { ...source, name: 'c' }, targets: all }),
    ]);
    expect(rulesIn(decisionOn(old, undefined, shares))).toEqual(['fuse']);
  });
});

describe('one policy with two contents of one name', () => {
  const entry = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
  const policy = (names: readonly string[]) =>
    providerObject('NamespacePolicy', 'p', {
      match: { names: ['a'] },
      maxDeletions: 0,
      contents: { resources: names.map(entry) },
    });

  test('loses nothing as long as one of them is left', () => {
    const both = policy(['${namespaceObject.metadata.name}', 'a']);
    expect(rulesIn(decisionOn(both, policy(['a'])))).toEqual([]);
    expect(rulesIn(decisionOn(both, policy(['b'])))).toEqual(['fuse']);
  });
});

describe('nothing is decided on', () => {
  const deletionTimestamp = '2026-11-20T00:00:00Z';
  test.for([
    ['metadata alone', share(all), share(all, {}, { labels: { x: 'y' }, finalizers: [] })],
    [
      'an old one without a spec',
      providerObject('SecretShare', 'r', undefined),
      providerObject('SecretShare', 'r', undefined),
    ],
    [
      'one that is going and loses a finalizer',
      share(5, {}, { deletionTimestamp, finalizers: ['a/b'] }),
      share(5, {}, { deletionTimestamp }),
    ],
    ['one that is going and is deleted again', share(all, {}, { deletionTimestamp }), undefined],
  ] as const)('%s', ([, before, after]) => {
    expect(decisionOn(before, after)).toMatchObject({ violations: [], notices: [], overBudget: false });
  });

  test('but a new one may not claim that it is going, nor one that goes get another spec', () => {
    const going = share(5, {}, { deletionTimestamp });
    expect(rulesIn(decisionOn(undefined, going))).toEqual(['spec']);
    expect(rulesIn(decisionOn(share(all, {}, { deletionTimestamp }), going))).toEqual(['spec']);
  });
});

describe('the budget', () => {
  test('refuses when it runs out, whatever was found by then', () => {
    let left = 2;
    const budget = { isSpent: () => (left -= 1) < 0 };
    const review = aProviderReview({ resource: 'secretshares', object: share(all) });
    const { overBudget } = decideProvider(review, aSnapshot([], namespaces), {
      ...circumstances,
      budget,
      install: testInstall,
    });
    expect(overBudget).toBe(true);
  });

  test('is not asked for where there is no need to look at namespaces', () => {
    const budget = { isSpent: () => true };
    const review = aProviderReview({ resource: 'secretshares', oldObject: share(all), object: share(all) });
    expect(
      decideProvider(review, aSnapshot([], namespaces), { ...circumstances, budget, install: testInstall }),
    ).toMatchObject({ overBudget: false });
  });
});

describe('the installation', () => {
  const review = (spec: object) =>
    aProviderReview({ resource: 'namespacepolicies', object: providerObject('NamespacePolicy', 'p', spec) });
  const resources = ['v1', 'v2'].map((version) => ({
    apiVersion: `example.com/${version}`,
    kind: 'Thing',
    metadata: { name: version },
  }));

  test.for([
    ['says nothing', undefined, []],
    [
      'allows it',
      ['v1', 'v2'].map((version) => ({ apiVersion: `example.com/${version}`, kind: 'Thing' })),
      [],
    ],
    [
      'allows another version of the kind',
      [{ apiVersion: 'example.com/v2', kind: 'Thing' }],
      [
        'NamespacePolicy/p provides kinds that this installation does not allow, and that will not be made: example.com/v1/Thing',
      ],
    ],
    [
      'allows the kind of another group',
      [{ apiVersion: 'example.org/v1', kind: 'Thing' }],
      [
        'NamespacePolicy/p provides kinds that this installation does not allow, and that will not be made: example.com/v1/Thing, example.com/v2/Thing',
      ],
    ],
  ] as const)('%s', ([, resourceKinds, notices]) => {
    const install = { ...testInstall, resourceKinds };
    expect(
      decideProvider(review({ contents: { resources } }), aSnapshot([]), { ...circumstances, install }),
    ).toMatchObject({ violations: [], notices });
  });

  test.for([
    ['names no Secrets', undefined, []],
    ['names it', ['copy'], []],
    [
      'names others',
      ['regcred'],
      [
        'SecretShare/regcred provides Secrets of the name copy, which this installation does not allow (--secret-name), and that will not be made',
      ],
    ],
  ] as const)('%s', ([, secretNames, notices]) => {
    const object = share({ names: ['none'] }, { target: { name: 'copy' } });
    const install = { ...testInstall, secretNames };
    expect(
      decideProvider(aProviderReview({ resource: 'secretshares', object }), aSnapshot([]), {
        ...circumstances,
        install,
      }),
    ).toMatchObject({ violations: [], notices });
  });

  test('that names no namespaces for sources has no shares', () => {
    const install = { ...testInstall, sourceNamespaces: [], resourceKinds: undefined };
    const { violations } = decideProvider(
      aProviderReview({ resource: 'secretshares', object: share(all) }),
      aSnapshot([]),
      { ...circumstances, install },
    );
    expect(violations.map(({ violation }) => violation.accepted)).toEqual([
      'nothing: the installation names no namespaces for sources',
    ]);
  });
});

import { describe, expect, test } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../../../src/base/metadata.ts';
import type { ProviderId, ProviderState } from '../../../../src/policy/terms/provider-id.ts';
import type { Decision } from '../../../../src/policy/terms/review.ts';
import {
  aProviderReview,
  aPolicy,
  aShare,
  aSnapshot,
  circumstances,
  knownNamespace,
  providerObject,
  testInstall,
  providerDecision,
  writeDecision,
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
  const spec = { source, targets, maxDeletions: 1, ...more };
  return providerObject('SecretShare', 'regcred', spec, { finalizers: ['reeve.dev/cleanup'], ...metadata });
}

function decisionOn(
  oldObject: KubeObject | undefined,
  object: KubeObject | undefined,
  snapshot = aSnapshot([], namespaces),
): Decision {
  return writeDecision({ oldObject, object }, snapshot);
}

function rulesIn({ violations }: Decision): readonly string[] {
  return violations.map(({ violation }) => violation.rule);
}

const all = { names: ['*'] };
const none = { names: ['none'] };

describe('another provider of the same object', () => {
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
  const withProviders = (providers: readonly ProviderState[]) => ({
    ...aSnapshot([], namespaces, [other('other')]),
    providers: new Map<ProviderId, ProviderState>(providers.map((each) => [each.id, each])),
  });

  test.for([
    [
      'a share that provides the same copies avoids the fuse',
      aSnapshot([], namespaces, [other('other')]),
      [],
    ],
    ['a share in force avoids the fuse', withProviders([state]), []],
    [
      'a share that is being deleted does not avoid the fuse',
      withProviders([{ ...state, isDeleting: true }]),
      ['fuse'],
    ],
    ['an invalid share does not avoid the fuse', withProviders([{ ...state, isValid: false }]), ['fuse']],
    [
      'a share with copies of another name does not avoid the fuse',
      aSnapshot([], namespaces, [other('other', { target: { name: 'x' } })]),
      ['fuse'],
    ],
    [
      'the old version of the share itself does not avoid the fuse',
      aSnapshot([], namespaces, [other('regcred')]),
      ['fuse'],
    ],
    [
      'a policy of the same name does not avoid the fuse',
      aSnapshot([aPolicy('regcred', {})], namespaces),
      ['fuse'],
    ],
  ] as const)('%s', ([, snapshot, rules]) => {
    expect(rulesIn(decisionOn(share(all), share(none), snapshot))).toEqual(rules);
    expect(rulesIn(decisionOn(share(all), undefined, snapshot))).toEqual(rules);
  });

  test('another policy with the same contents avoids the fuse, and the old version of the policy does not', () => {
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

describe('the reported state of the older version', () => {
  const withStatus = (object: KubeObject, status: object): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, generation: 3 },
    status: { observedGeneration: 3, ...status },
  });
  const noSource = { conditions: [{ type: 'SourceAvailable', status: 'False', reason: 'SourceMissing' }] };
  const held = { conditions: [{ type: 'Stalled', status: 'True', reason: 'TooManyDeletions' }] };

  test.for<readonly [string, object, readonly string[], number]>([
    [
      'without a source and without copies, the deletion of a share deletes nothing',
      { ...noSource, synced: 0 },
      [],
      0,
    ],
    ['copies of a source that has disappeared count', { ...noSource, synced: 2 }, ['fuse'], 0],
    [
      'a status of an older version does not count',
      { ...noSource, synced: 0, observedGeneration: 2 },
      ['fuse'],
      0,
    ],
    ['a share with a source has copies', { conditions: [], synced: 0 }, ['fuse'], 0],
    ['the deletion of a provider that holds deletions warns of them', held, ['fuse'], 1],
  ])('%s', ([, status, rules, warnings]) => {
    const decision = decisionOn(withStatus(share(all), status), undefined);
    expect(rulesIn(decision)).toEqual(rules);
    const about = decision.notices.filter((notice) => notice.includes('wait for a confirmation'));
    expect(about).toHaveLength(warnings);
    if (rules.length === 0) expect(decision.notices.join()).not.toContain('deletes');
  });
});

describe('deletions of the last ten minutes', () => {
  const at = (minutes: number): string =>
    new Date(circumstances.now.getTime() - minutes * 60_000).toISOString();
  const deleted = (minutes: number, count: number): object => ({ recent: [{ at: at(minutes), count }] });
  const annotated = { annotations: { 'reeve.dev/confirm-deletions': '3' } };
  const limit = { maxDeletions: 4 };

  test.for<readonly [string, object, KubeObject | undefined, string | undefined]>([
    [
      'deletions of the last ten minutes count',
      deleted(9, 2),
      share(none, limit),
      ', after 2 in the ten minutes before,',
    ],
    ['older deletions do not count', deleted(11, 2), share(none, limit), undefined],
    ['fewer deletions leave room for others', deleted(9, 1), share(none, limit), undefined],
    ['deletions that are underway count', { underway: ['u', 'v'] }, share(none, limit), ', after 2 in the'],
    [
      'they count for a deletion of the share',
      deleted(9, 2),
      undefined,
      ', after 2 in the ten minutes before,',
    ],
    [
      'a confirmation needs the number of the write alone',
      deleted(9, 2),
      share(none, limit, annotated),
      undefined,
    ],
    [
      'a write that deletes nothing is not refused',
      deleted(9, 9),
      share(all, { ...limit, target: { labels: { a: 'b' } } }),
      undefined,
    ],
  ])('%s', ([, deletions, after, said]) => {
    const before: KubeObject = { ...share(all, limit), status: { deletions } };
    const messages = decisionOn(before, after).violations.map(({ violation }) => violation.message);
    expect(messages).toEqual(said === undefined ? [] : [expect.stringContaining(said)]);
  });
});

describe('a confirmation that is set alone', () => {
  const held = [{ type: 'Stalled', status: 'True', reason: 'TooManyDeletions' }];
  const stored = (value: string | undefined, status: object = {}, metadata: ObjectMeta = {}): KubeObject => ({
    ...share(all, {}, { generation: 3, ...metadata, annotations: annotated(value) }),
    status: { observedGeneration: 3, ...status },
  });
  const annotated = (value: string | undefined): Readonly<Record<string, string>> =>
    value === undefined ? {} : { 'reeve.dev/confirm-deletions': value };

  test.for<readonly [string, KubeObject, string | undefined, readonly string[]]>([
    [
      'a confirmation while nothing is held warns that it counts for no later change',
      stored(undefined),
      '60',
      [
        'SecretShare/regcred holds no deletions now, so reeve.dev/confirm-deletions=60 counts only when SecretShare/regcred itself is deleted; ' +
          'a change that deletes more than maxDeletions needs the annotation in the same write',
      ],
    ],
    [
      'a confirmation that is no number warns that it confirms nothing',
      stored('5', { conditions: held }),
      'all',
      [
        'SecretShare/regcred: reeve.dev/confirm-deletions=all confirms nothing, because its value must be a whole number',
      ],
    ],
    ['a confirmation of held deletions gets no warning', stored('5', { conditions: held }), '60', []],
    ['an unchanged confirmation gets no warning', stored('60'), '60', []],
    ['a removed confirmation gets no warning', stored('60'), undefined, []],
    [
      'a confirmation gets no warning while the status is outdated',
      stored('5', {}, { generation: 4 }),
      '60',
      [],
    ],
    [
      'a confirmation of a share that is being deleted gets no warning',
      stored('5', {}, { deletionTimestamp: '2026-11-20T00:00:00Z' }),
      '60',
      [],
    ],
  ])('%s', ([, before, value, notices]) => {
    const after = { ...before, metadata: { ...before.metadata, annotations: annotated(value) } };
    expect(decisionOn(before, after)).toMatchObject({ violations: [], notices });
  });
});

describe('a policy with two contents of one name', () => {
  const entry = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
  const policy = (names: readonly string[]) =>
    providerObject('NamespacePolicy', 'p', {
      match: { names: ['a'] },
      maxDeletions: 0,
      contents: { resources: names.map(entry) },
    });

  test('no object is lost while one of the two contents is left', () => {
    const both = policy(['${namespaceObject.metadata.name}', 'a']);
    expect(rulesIn(decisionOn(both, policy(['a'])))).toEqual([]);
    expect(rulesIn(decisionOn(both, policy(['b'])))).toEqual(['fuse']);
  });
});

describe('a write that needs no decision', () => {
  const deletionTimestamp = '2026-11-20T00:00:00Z';
  test.for([
    [
      'a write of metadata is not decided',
      share(all),
      share(all, {}, { labels: { x: 'y' }, finalizers: [] }),
    ],
    [
      'a write of an object that never had a spec is not decided',
      providerObject('SecretShare', 'r', undefined),
      providerObject('SecretShare', 'r', undefined),
    ],
    [
      'removing a finalizer from a provider being deleted is not decided',
      share(5, {}, { deletionTimestamp, finalizers: ['a/b'] }),
      share(5, {}, { deletionTimestamp }),
    ],
    [
      'deleting a provider that is being deleted is not decided',
      share(all, {}, { deletionTimestamp }),
      undefined,
    ],
  ] as const)('%s', ([, before, after]) => {
    expect(decisionOn(before, after)).toMatchObject({ violations: [], notices: [], overBudget: false });
  });

  test('a deletionTimestamp on a new object or a changed spec does not avoid the decision', () => {
    const going = share(5, {}, { deletionTimestamp });
    expect(rulesIn(decisionOn(undefined, going))).toEqual(['spec']);
    expect(rulesIn(decisionOn(share(all, {}, { deletionTimestamp }), going))).toEqual(['spec']);
  });
});

describe('the install', () => {
  const review = (spec: object) =>
    aProviderReview({ resource: 'namespacepolicies', object: providerObject('NamespacePolicy', 'p', spec) });
  const resources = ['v1', 'v2'].map((version) => ({
    apiVersion: `example.com/${version}`,
    kind: 'Thing',
    metadata: { name: version },
  }));

  test.for([
    ['no notice without a list of kinds', undefined, []],
    [
      'no notice for an allowed kind',
      ['v1', 'v2'].map((version) => ({ apiVersion: `example.com/${version}`, kind: 'Thing' })),
      [],
    ],
    [
      'a notice for another version of an allowed kind',
      [{ apiVersion: 'example.com/v2', kind: 'Thing' }],
      [
        'NamespacePolicy/p provides kinds that this installation does not allow, so Reeve does not create them: example.com/v1/Thing',
      ],
    ],
    [
      'a notice for the same kind of another group',
      [{ apiVersion: 'example.org/v1', kind: 'Thing' }],
      [
        'NamespacePolicy/p provides kinds that this installation does not allow, so Reeve does not create them: example.com/v1/Thing, example.com/v2/Thing',
      ],
    ],
  ] as const)('%s', ([, resourceKinds, notices]) => {
    const install = { ...testInstall, resourceKinds };
    expect(
      providerDecision(review({ contents: { resources } }), aSnapshot([]), { ...circumstances, install }),
    ).toMatchObject({ violations: [], notices });
  });

  test.for([
    ['no notice without a list of Secret names', undefined, []],
    ['no notice for an allowed Secret name', ['copy'], []],
    [
      'a notice for another Secret name',
      ['regcred'],
      [
        'SecretShare/regcred provides Secrets named copy, which this installation does not allow (--secret-name), so Reeve does not create them',
      ],
    ],
  ] as const)('%s', ([, secretNames, notices]) => {
    const object = share({ names: ['none'] }, { target: { name: 'copy' } });
    const install = { ...testInstall, secretNames };
    expect(writeDecision({ object }, aSnapshot([]), { install })).toMatchObject({ violations: [], notices });
  });

  test('an install without source namespaces refuses every share', () => {
    const install = { ...testInstall, sourceNamespaces: [], resourceKinds: undefined };
    const { violations } = writeDecision({ object: share(all) }, aSnapshot([]), { install });
    expect(violations.map(({ violation }) => violation.accepted)).toEqual([
      'nothing: the installation has no namespaces for sources',
    ]);
  });
});

describe('an exception from a content', () => {
  const roleBindings = [
    {
      name: 'devs',
      roleRef: { kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'Group', name: 'devs' }],
    },
  ];
  const written = (exceptions: readonly object[], maxDeletions: number): KubeObject =>
    providerObject(
      'NamespacePolicy',
      'p',
      { match: all, maxDeletions, contents: { roleBindings }, exceptions },
      { finalizers: ['reeve.dev/cleanup'] },
    );
  const exception = { namespaces: ['a', 'b'], contents: ['RoleBinding/devs'] };
  const [past, future] = ['2026-11-21T11:00:00Z', '2026-11-21T13:00:00Z'];

  test.each([
    ['an exception without an end deletes objects', exception, ['fuse']],
    ['an exception that has not ended deletes objects', { ...exception, expiresAt: future }, ['fuse']],
    ['an exception that has ended changes nothing', { ...exception, expiresAt: past }, []],
    ['an exception for other namespaces changes nothing', { ...exception, namespaces: ['x-*'] }, []],
  ])('%s', (_title, added, rules) => {
    expect(rulesIn(decisionOn(written([], 1), written([added], 1)))).toEqual(rules);
    expect(rulesIn(decisionOn(written([], 2), written([added], 2)))).toEqual([]);
  });

  test('the end of an exception gives the objects, so its author needs the rights for them', () => {
    const { rights } = decisionOn(written([exception], 2), written([], 2));
    expect(rights.map(({ verb, resource }) => `${verb} ${resource}`)).toContain('bind clusterroles');
  });
});

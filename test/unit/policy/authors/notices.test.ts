// The numbers in the warnings to the author of a provider: what the status of the older version shows, and what it cannot show.
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import {
  aPolicy,
  aProviderReview,
  aSnapshot,
  circumstances,
  knownNamespace,
  providerObject,
  testInstall,
  providerDecision,
  writeDecision,
} from '../../../support/engine.ts';

const namespaces = [
  { ...knownNamespace('a'), metadata: { name: 'a', creationTimestamp: '2020-01-01T00:00:00Z' } },
  { ...knownNamespace('b'), metadata: { name: 'b', creationTimestamp: circumstances.now.toISOString() } },
];

function policy(spec: object, status?: object): KubeObject {
  const object = providerObject('NamespacePolicy', 'p', { match: { names: ['*'] }, ...spec });
  return stored(object, status);
}

function share(status: object): KubeObject {
  const source = { namespace: 'reeve-shared', name: 's' };
  return stored(providerObject('SecretShare', 's', { source, targets: { names: ['*'] } }), status);
}

function stored(object: KubeObject, status: object | undefined): KubeObject {
  const metadata = { ...object.metadata, generation: 3, finalizers: ['reeve.dev/cleanup'] };
  return status === undefined
    ? object
    : { ...object, metadata, status: { observedGeneration: 3, ...status } };
}

function warnings(oldObject: KubeObject, object: KubeObject | undefined, install: object = {}): string {
  const changes = { install: { ...testInstall, ...install } };
  return writeDecision({ oldObject, object }, aSnapshot([], namespaces), changes)
    .notices.filter((notice) => !notice.includes('reaches'))
    .join('\n');
}

function binding(more: object = {}, role = 'view'): object {
  const subjects = [{ kind: 'Group', name: 'staff' }];
  return { roleBindings: [{ name: 'x', roleRef: { kind: 'ClusterRole', name: role }, subjects, ...more }] };
}

const configMap = { resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }] };
const all = { desired: 2, synced: 2 };
const some = { desired: 2, synced: 1, failed: 1 };

describe('the number of objects that a deletion removes', () => {
  test.for<readonly [title: string, status: object, text: string]>([
    ['is exact where the status says that all exist', all, 'deletes 2 objects in namespaces: a, b'],
    ['is an upper bound where some objects are missing', some, 'deletes up to 2 objects in namespaces: a, b'],
    [
      'is an upper bound where the status is of an older version',
      { ...all, observedGeneration: 2 },
      'deletes up to 2 objects in namespaces: a, b',
    ],
    [
      'is an upper bound where the status knows fewer namespaces',
      { desired: 1, synced: 1 },
      'deletes up to 2 objects in namespaces: a, b',
    ],
  ])('%s', ([, status, text]) => {
    expect(warnings(share(status), undefined)).toBe(`SecretShare/s ${text}`);
  });

  test('a refusal of the fuse says where its number is an upper bound', () => {
    const contents = configMap;
    const refusal = (status: object) => {
      const oldObject = policy({ contents, maxDeletions: 1 }, status);
      const { violations } = writeDecision({ oldObject }, aSnapshot([], namespaces));
      return violations.map(({ violation }) => violation.message).join();
    };
    expect(refusal(all)).toContain('this write would delete 2 objects in 2 namespaces');
    expect(refusal(some)).toContain('this write would delete up to 2 objects in 2 namespaces');
  });

  const without = (object: KubeObject): KubeObject => {
    const { finalizers: _finalizers, ...metadata } = object.metadata;
    return { ...object, metadata };
  };

  test('a deletion is refused while objects exist and the finalizer that would delete them is missing', () => {
    const refusalsOf = (oldObject: KubeObject) =>
      writeDecision({ oldObject }, aSnapshot([], namespaces)).violations.map(
        ({ violation }) => violation.message,
      );
    const contents = configMap;
    expect(refusalsOf(without(policy({ contents, maxDeletions: 1 }, all)))).toEqual([
      'its finalizer reeve.dev/cleanup was removed, so Reeve could not delete 2 objects of p (a, b) with it. ' +
        'Reeve adds the finalizer again: wait until it is there. To keep the objects, set spec.deletionPolicy: Orphan first',
    ]);
    // A status of another version still says that objects exist.
    const older = { ...some, observedGeneration: 2 };
    expect(refusalsOf(without(policy({ contents }, older))).join()).toContain(
      'could not delete 1 object of p',
    );
    const held = {
      conditions: [{ type: 'Stalled', status: 'True', reason: 'TooManyDeletions' }],
      desired: 0,
      synced: 0,
    };
    expect(refusalsOf(without(policy({ contents, match: { names: ['none'] } }, held))).join()).toContain(
      'could not delete the objects whose deletion waits for a confirmation of p with it',
    );
    expect(
      refusalsOf(without(policy({ contents, maxDeletions: 9 }, { ...held, synced: 1 }))).join(),
    ).toContain(
      'could not delete 1 object and the objects whose deletion waits for a confirmation of p (a, b)',
    );
    for (const harmless of [
      policy({ contents }, all),
      without(policy({ contents }, { desired: 2, synced: 0 })),
      without(policy({ contents, deletionPolicy: 'Orphan' }, all)),
      without(policy({ contents, suspend: true }, all)),
      without(policy({}, all)),
    ])
      expect(refusalsOf(harmless)).toEqual([]);
  });

  test.for<readonly [title: string, options: object, spec: object, refusals: number]>([
    ['a deletion with --cascade=orphan is refused', { propagationPolicy: 'Orphan' }, {}, 1],
    ['a deletion with orphanDependents is refused', { orphanDependents: true }, {}, 1],
    ['a deletion in the background passes', { propagationPolicy: 'Background' }, {}, 0],
    [
      'a deletion with --cascade=orphan passes where the objects stay anyway',
      { propagationPolicy: 'Orphan' },
      { deletionPolicy: 'Orphan' },
      0,
    ],
    [
      'a deletion with --cascade=orphan passes without objects',
      { propagationPolicy: 'Orphan' },
      { contents: {} },
      0,
    ],
  ])('%s', ([, options, spec, refusals]) => {
    const oldObject = policy({ contents: configMap, ...spec }, all);
    const review = aProviderReview({ resource: 'namespacepolicies', oldObject, attributes: { options } });
    const { violations } = providerDecision(review, aSnapshot([], namespaces), {
      ...circumstances,
      install: testInstall,
    });
    expect(violations).toHaveLength(refusals);
    for (const { violation } of violations)
      expect(violation.message).toBe(
        '--cascade=orphan does not keep the objects of a policy or share, and this would delete 2 objects in 2 namespaces (a, b). ' +
          'To keep them, set spec.deletionPolicy: Orphan first. To delete them, leave the option out',
      );
  });

  test('a deletion without the finalizer warns that objects stay, and of no deletion', () => {
    const unknown = without(share({ desired: 2, synced: 0 }));
    expect(warnings(unknown, undefined)).toBe(
      'SecretShare/s lacks the finalizer reeve.dev/cleanup, so it leaves up to 2 objects behind in namespaces: a, b',
    );
  });

  test('an expired RoleBinding does not count', () => {
    const contents = binding({ expiresAfter: '1h' });
    expect(warnings(policy({ contents }, { desired: 1, synced: 1 }), undefined)).toBe(
      'NamespacePolicy/p deletes 1 object in namespace: b',
    );
  });

  test('an object of a kind or a Secret of a name that the installation does not allow does not count', () => {
    expect(warnings(policy({ contents: configMap }, some), undefined, { resourceKinds: [] })).toBe('');
    expect(warnings(share(some), undefined, { secretNames: ['other'] })).toBe('');
  });
});

describe('the number of objects that a write changes', () => {
  const change = '(ClusterRole view -> edit; deleted and created again)';

  test.for<readonly [title: string, status: object, text: string]>([
    ['is exact where the status says that all exist', all, `changes RoleBinding x in 2 namespaces ${change}`],
    [
      'is an upper bound where some objects are missing',
      some,
      `changes RoleBinding x in up to 2 namespaces ${change}`,
    ],
  ])('%s', ([, status, text]) => {
    const [before, after] = [
      policy({ contents: binding() }, status),
      policy({ contents: binding({}, 'edit') }),
    ];
    expect(warnings(before, after)).toBe(`NamespacePolicy/p ${text}: a, b`);
  });

  test('a number and a text of the same digits look different', () => {
    const quota = (jobs: unknown) => {
      const spec = { hard: { 'count/jobs.batch': jobs, pods: '2' } };
      const resources = [{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec }];
      return policy({ contents: { resources } }, all);
    };
    expect(warnings(quota(2), quota('2'))).toBe(
      'NamespacePolicy/p changes ResourceQuota q in 2 namespaces (spec.hard["count/jobs.batch"] 2 -> "2"): a, b',
    );
  });

  test('a RoleBinding that had expired is added, not changed', () => {
    const before = policy(
      { contents: binding({ expiresAt: '2020-01-31T00:00:00Z' }) },
      { desired: 0, synced: 0 },
    );
    expect(warnings(before, policy({ contents: binding({}, 'edit') }))).toBe(
      'NamespacePolicy/p adds RoleBinding x in 2 namespaces (ClusterRole edit): a, b',
    );
  });

  test('a RoleBinding that had expired in some namespaces is added there, and changed in the others', () => {
    const before = policy({ contents: binding({ expiresAfter: '1h' }) }, { desired: 1, synced: 1 });
    expect(warnings(before, policy({ contents: binding() }))).toBe(
      'NamespacePolicy/p adds RoleBinding x in 1 namespace (ClusterRole view): a\n' +
        'NamespacePolicy/p changes RoleBinding x in 1 namespace (expires after 1h -> never): b',
    );
  });
});

const rules = {
  namespaces: { required: { labels: { team: {} } } },
  rbac: { forbidWildcardRules: true, forbiddenSubjects: ['Group/x'] },
};
const warning = { validationActions: ['Warn'] };
const turning = (byResource: object, spec: object = rules) =>
  warnings(policy({ ...spec, ...warning }, { violationsByResource: byResource }), policy(spec));

test('a policy that turns to Deny counts the violations of all resources that its status counts', () => {
  expect(turning({ namespaces: 2, roleBindings: 2, roles: 1, secrets: 0 })).toBe(
    'NamespacePolicy/p turns to Deny with 5 open violations, which block no other write: 2 of Namespaces (a, b), 2 of RoleBindings, 1 of Roles (at the last audit)',
  );
});

test('a policy that turns to Deny counts violations of other objects where all Namespaces follow the rules', () => {
  expect(turning({ namespaces: 0, secrets: 1 }, { secrets: { maxBytes: 1 } })).toBe(
    'NamespacePolicy/p turns to Deny with 1 open violation, which blocks no other write: 1 of Secrets (at the last audit)',
  );
});

test('a policy that turns to Deny says that the audit counted by the older rules when the same write changes the rules', () => {
  const before = policy({ rbac: rules.rbac, ...warning }, { violationsByResource: { roles: 2 } });
  const rbac = { ...rules.rbac, allowedRoleRefs: ['ClusterRole/view'] };
  expect(warnings(before, policy({ rbac }))).toBe(
    'NamespacePolicy/p turns to Deny with 2 open violations, which block no other write: 2 of Roles (at the last audit, by the rules before this write)',
  );
});

test('a policy that turns to Deny counts no violations of objects that the newer version does not judge', () => {
  const before = policy({ ...rules, ...warning }, { violationsByResource: { roles: 2 } });
  expect(warnings(before, policy({ namespaces: rules.namespaces }))).toBe(
    'NamespacePolicy/p turns to Deny with 2 open violations, which block no other write, in 2 namespaces: a, b',
  );
});

test('a policy that turns to Deny names the namespaces where only Namespaces violate a rule', () => {
  expect(turning({ namespaces: 2, roles: 0 })).toBe(
    'NamespacePolicy/p turns to Deny with 2 open violations, which block no other write, in 2 namespaces: a, b',
  );
});

test('a policy whose override ends its Warn counts what turns there, and other objects only as the most that can be', () => {
  const sparing = { ...rules, validationActionOverrides: [{ names: ['a'], actions: ['Warn'] }] };
  expect(
    warnings(policy(sparing, { violationsByResource: { namespaces: 2, roles: 2 } }), policy(rules)),
  ).toBe(
    'NamespacePolicy/p turns to Deny with up to 3 open violations, which block no other write: 1 of Namespaces (a), 2 of Roles (at the last audit)',
  );
});

describe('a quota', () => {
  const quota = { quota: { label: 'team', max: 1 } };
  const uncounted = (spec: object, snapshot = aSnapshot([], namespaces)): boolean => {
    return writeDecision({ object: policy(spec) }, snapshot).notices.includes(
      'NamespacePolicy/p: spec.namespaces.quota counts by the label team, and no policy requires that label: ' +
        'a namespace without it is not counted; add the label to spec.namespaces.required.labels',
    );
  };
  const requiring = { namespaces: { required: { labels: { team: {} } } } };

  test.for<readonly [title: string, spec: object, expected: boolean]>([
    ['that counts by a label which namespaces can leave out gives a warning', { namespaces: quota }, true],
    [
      'whose policy requires the label gives no warning',
      { namespaces: { ...quota, ...requiring.namespaces } },
      false,
    ],
    [
      'whose policy requires only an annotation of that name gives a warning',
      { namespaces: { ...quota, required: { annotations: { team: {} } } } },
      true,
    ],
    [
      'whose policy sets the label by default gives no warning',
      { namespaces: { ...quota, defaults: { labels: { team: 'x' } } } },
      false,
    ],
    [
      'whose policy selects by the label gives no warning',
      { namespaces: quota, match: { namespaceSelector: { matchLabels: { team: 'x' } } } },
      false,
    ],
  ])('%s', ([, spec, expected]) => {
    expect(uncounted(spec)).toBe(expected);
  });

  test('a quota gives a warning unless another policy requires the label', () => {
    const snapshot = (name: string) => aSnapshot([aPolicy(name, requiring)], namespaces);
    expect([snapshot('q'), snapshot('p')].map((each) => uncounted({ namespaces: quota }, each))).toEqual([
      false,
      true,
    ]);
  });
});

describe('contents that namespaces do not get', () => {
  const skipped = (contents: object, labels: readonly Readonly<Record<string, string>>[]) => {
    const object = providerObject('NamespacePolicy', 'p', { match: { names: ['*'] }, contents });
    const known = labels.map((each, index) => knownNamespace('abcdefg'[index] ?? '', each));
    const { notices } = writeDecision({ object }, aSnapshot([], known));
    return notices.flatMap((notice) => / (?:skips|fails to provide) .*/.exec(notice)?.[0] ?? []);
  };

  test('contents that namespaces do not get are named with each reason and its namespaces', () => {
    const name = '${namespaceObject.metadata.labels.team}-${namespaceObject.metadata.labels.env}';
    expect(skipped(binding({ name }), [{ env: 'x' }, { team: 'x' }, { env: 'y' }])).toEqual([
      expect.stringMatching(/ in 2 namespaces: a, c; label team is missing$/),
      expect.stringMatching(/ in 1 namespace: b; label env is missing$/),
    ]);
  });

  test('contents that namespaces do not get are named with three reasons, where each namespace has another one', () => {
    const labels = ['A_', 'B_', 'C_', 'D_', 'E_'].map((team) => ({ team: `${team}x` }));
    const metadata = { name: '${namespaceObject.metadata.labels.team}' };
    const resources = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata }];
    expect(skipped({ resources }, labels)).toEqual([
      expect.stringMatching(/ in 1 namespace: a; .*"A_x"/),
      expect.stringMatching(/ in 1 namespace: b; .*"B_x"/),
      expect.stringMatching(/ in 1 namespace: c; .*"C_x"/),
      expect.stringMatching(/ in 2 namespaces: d, e; for other reasons$/),
    ]);
  });
});

describe('a quota that too many namespaces have exceeded already', () => {
  const labelled = ['r1', 'r2', 'r3', 'b1', 'b2'].map((name) =>
    knownNamespace(name, { team: name.startsWith('r') ? 'red' : 'blue' }),
  );
  const quota = (max: number, names: readonly string[] = ['*'], actions = ['Deny']) =>
    providerObject('NamespacePolicy', 'p', {
      match: { names },
      validationActions: actions,
      namespaces: { required: { labels: { team: {} } }, quota: { label: 'team', max } },
    });
  const warned = (object: KubeObject, oldObject?: KubeObject) => {
    const { notices } = writeDecision({ oldObject, object }, aSnapshot([], labelled));
    return notices.filter((notice) => notice.includes(' allows '));
  };
  const text = (max: number, values: string) =>
    `NamespacePolicy/p allows ${max} namespaces for each value of label team, and more exist, which stay: ${values}`;

  test.for<readonly [string, readonly string[], KubeObject, KubeObject?]>([
    ['a lower quota is in a warning', [text(2, 'red (3)')], quota(2), quota(3)],
    [
      'a warning lists all values with too many namespaces',
      [text(1, 'blue (2), red (3)').replace('namespaces', 'namespace')],
      quota(1),
      quota(2),
    ],
    ['the quota of a new policy is in a warning', [text(2, 'red (3)')], quota(2)],
    ['the quota of a wider match is in a warning', [text(2, 'red (3)')], quota(2), quota(2, ['r1'])],
    ['a quota without Deny is in a warning', [text(2, 'red (3)')], quota(2, ['*'], ['Warn']), quota(3)],
    ['a write that leaves the quota as it was has no warning', [], quota(2, ['*'], ['Warn']), quota(2)],
    ['a quota that no value exceeds is in no warning', [], quota(3), quota(9)],
  ])('%s', ([, expected, object, oldObject]) => {
    expect(warned(object, oldObject)).toEqual(expected);
  });
});

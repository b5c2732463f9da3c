// Which kinds beside Namespaces there are rules for, and which of them go unasked where the install leaves hooks out.
import { describe, expect, it, test } from 'vitest';
import { aPolicy } from '../../../support/engine.ts';
import { PolicySet, judgedKinds, partsWithoutHook } from '../../../../src/policy/compile/snapshot.ts';

const nothing = { secrets: false, roles: false, rolebindings: false, secretDefaults: false };

type Row = readonly [
  what: string,
  spec: object,
  judged: Partial<typeof nothing>,
  parts: readonly ('secrets' | 'rbac')[],
];

const rows: readonly Row[] = [
  ['rules on Namespaces', { namespaces: { required: { labels: { team: {} } } } }, {}, []],
  ['rules on Secrets', { secrets: { maxBytes: 1 } }, { secrets: true }, ['secrets']],
  [
    'defaults of Secrets, which are demanded too',
    { secrets: { defaults: { labels: { a: 'b' } } } },
    { secrets: true, secretDefaults: true },
    ['secrets'],
  ],
  [
    'roles that may be granted',
    { rbac: { allowedRoleRefs: ['ClusterRole/view'] } },
    { rolebindings: true },
    ['rbac'],
  ],
  [
    'subjects',
    { rbac: { forbiddenSubjects: ['Group/system:authenticated'] } },
    { rolebindings: true },
    ['rbac'],
  ],
  ['wildcards', { rbac: { forbidWildcardRules: true } }, { roles: true }, ['rbac']],
  [
    'Secrets and RBAC',
    { secrets: { maxBytes: 1 }, rbac: { forbidWildcardRules: true } },
    { secrets: true, roles: true },
    ['secrets', 'rbac'],
  ],
];

describe('the judged kinds', () => {
  it.each(rows)('%s', (_, spec, judged) => {
    const set = new PolicySet([aPolicy('p', spec)], { excludedNamespaces: [] });
    expect(judgedKinds(set)).toEqual({ ...nothing, ...judged });
  });

  it('the judged kinds are those of all policies together', () => {
    const policies = [
      aPolicy('a', { secrets: { maxBytes: 1 } }),
      aPolicy('b', { rbac: { forbidWildcardRules: true } }),
    ];
    expect(judgedKinds(new PolicySet(policies, { excludedNamespaces: [] }))).toEqual({
      ...nothing,
      secrets: true,
      roles: true,
    });
    expect(judgedKinds(new PolicySet([], { excludedNamespaces: [] }))).toEqual(nothing);
  });
});

test.each(rows)('the rules without a hook are found for %s', (_, spec, _judged, parts) => {
  const policy = aPolicy('p', spec);
  expect(partsWithoutHook(policy, 'Off')).toEqual(parts);
  expect(partsWithoutHook(policy, 'Ignore')).toEqual([]);
  expect(partsWithoutHook(policy, 'Fail')).toEqual([]);
});

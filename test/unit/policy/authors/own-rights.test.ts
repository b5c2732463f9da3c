// The rights that policies and shares need, of their authors and of Reeve's own account, and the message on missing ones.
import { describe, expect, test } from 'vitest';
import {
  neededRights,
  type RightsRule,
  ownRights,
  type MissingRights,
} from '../../../../src/policy/authors/needed-rights.ts';
import { loadProvider, type ProviderDefinition } from '../../../../src/policy/compile/load-provider.ts';
import { providerObject, testInstall } from '../../../support/engine.ts';
import { missingRightsMessage } from '../../../../src/policy/status/provider-conditions.ts';

function definitionOf(kind: 'NamespacePolicy' | 'SecretShare', spec: object): ProviderDefinition {
  const load = loadProvider(kind, providerObject(kind, 'x', spec));
  if (!load.ok) throw new Error(JSON.stringify(load.problems));
  return load.value;
}

const binding = (role: string, name = role) => ({
  name,
  roleRef: { kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'Group', name: 'g' }],
});
const resource = (apiVersion: string, kind: string) => ({ apiVersion, kind, metadata: { name: 'r' } });
const policy = (spec: object) => definitionOf('NamespacePolicy', spec);
const everything = policy({
  existing: 'Repair',
  contents: {
    roleBindings: [binding('view'), binding('edit'), binding('view', 'another')],
    resources: [resource('v1', 'ConfigMap'), resource('apps/v1', 'Deployment')],
    serviceAccounts: [{ name: 'default', imagePullSecrets: ['regcred'] }],
  },
});
const share = definitionOf('SecretShare', {
  source: { namespace: 'reeve-shared', name: 'source' },
  targets: { names: ['a'] },
  target: { name: 'copy' },
});

const shown = ({ verbs, group, resource: what, namespace, name }: RightsRule): string =>
  [verbs.join(), `${what}.${group}`, namespace, name].filter((each) => each !== undefined).join(' ');
const making = 'create,patch,delete';
const keeping = `get,list,watch,${making}`;

test('an author needs each right once, also for kinds that the install does not allow', () => {
  expect(neededRights(everything, testInstall).map((each) => `${each.path}: ${shown(each)}`)).toEqual([
    `spec.contents.roleBindings: ${making} rolebindings.rbac.authorization.k8s.io`,
    'spec.contents.roleBindings[0].roleRef: bind clusterroles.rbac.authorization.k8s.io view',
    'spec.contents.roleBindings[1].roleRef: bind clusterroles.rbac.authorization.k8s.io edit',
    `spec.contents.resources[0]: ${making} configmaps.`,
    `spec.contents.resources[1]: ${making} deployments.apps`,
    'spec.contents.serviceAccounts: patch serviceaccounts.',
    'spec.existing: patch namespaces.',
  ]);
  expect(neededRights(share, { ...testInstall, secretNames: [] }).map(shown)).toEqual([
    'get secrets. reeve-shared source',
    `${making} secrets.`,
  ]);
  expect(neededRights(policy({ secrets: { maxBytes: 1 } }), testInstall)).toEqual([]);
});

test.for([
  [
    'defaults on Namespaces require the right to patch Namespaces',
    { namespaces: { defaults: { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } } } },
    ['spec.namespaces.defaults: patch namespaces.'],
  ],
  [
    'defaults on Secrets require the right to patch Secrets',
    { secrets: { defaults: { annotations: { a: 'b' } } } },
    ['spec.secrets.defaults: patch secrets.'],
  ],
  [
    'defaults and Repair require the right to patch Namespaces once',
    { existing: 'Repair', namespaces: { defaults: { annotations: { a: 'b' } } } },
    ['spec.existing: patch namespaces.'],
  ],
  [
    'an empty list of defaults requires no right',
    { namespaces: { defaults: { labels: {} } }, secrets: { defaults: {} } },
    [],
  ],
] as const)('%s', ([, spec, rights]) => {
  expect(neededRights(policy(spec), testInstall).map((each) => `${each.path}: ${shown(each)}`)).toEqual(
    rights,
  );
});

describe('the rules for Reeve’s own account', () => {
  test.for([
    [
      'the account needs the rules for allowed kinds, and may list what exists',
      everything,
      {},
      [
        `reconciler: ${keeping} rolebindings.rbac.authorization.k8s.io`,
        'bind: bind clusterroles.rbac.authorization.k8s.io view',
        'bind: bind clusterroles.rbac.authorization.k8s.io edit',
        `resources: ${keeping} configmaps.`,
        'reconciler: list,watch,patch serviceaccounts.',
        'reconciler: patch namespaces.',
      ],
    ],
    [
      'the account needs no rule for defaults, because they are set in the request of another user',
      policy({
        namespaces: { defaults: { labels: { a: 'b' } } },
        secrets: { defaults: { labels: { a: 'b' } } },
      }),
      {},
      [],
    ],
    [
      'the account lists and watches what rbac rules judge',
      policy({ rbac: { allowedRoleRefs: ['ClusterRole/view'], forbidWildcardRules: true } }),
      {},
      [
        'reconciler: list,watch roles.rbac.authorization.k8s.io',
        'reconciler: list,watch rolebindings.rbac.authorization.k8s.io',
      ],
    ],
    [
      'the account needs no right to existing Secrets if the install does not audit them',
      policy({ secrets: { maxBytes: 1 } }),
      {},
      [],
    ],
    [
      'the account lists existing Secrets if the install audits them',
      policy({ secrets: { maxBytes: 1 } }),
      { auditSecrets: true },
      ['audit-secrets: list secrets.'],
    ],
    ['the account needs a rule for all Secrets', share, {}, [`secrets: ${keeping} secrets.`]],
    [
      'the account needs a rule for each named Secret',
      share,
      { secretNames: ['copy', 'other'] },
      ['named-sources: get,list,watch secrets. reeve-shared', `named-secrets: ${keeping} secrets. copy`],
    ],
    ['the account needs no rule for a Secret of another name', share, { secretNames: ['other'] }, []],
  ] as const)('%s', ([, definition, changes, rules]) => {
    const rights = ownRights(definition, { ...testInstall, ...changes });
    expect(rights.map((each) => `${each.purpose}: ${shown(each)}`)).toEqual(rules);
  });
});

describe('the message on missing rules', () => {
  const bind = (name: string): MissingRights => ({
    purpose: 'bind',
    verbs: ['bind'],
    group: 'rbac.authorization.k8s.io',
    resource: 'clusterroles',
    name,
  });

  test('the message names role and file, and each rule as an item of YAML', () => {
    const secrets: MissingRights = {
      purpose: 'secrets',
      verbs: ['get', 'list'],
      group: '',
      resource: 'secrets',
    };
    expect(missingRightsMessage([secrets])).toBe(
      "Reeve's own account lacks rights that this needs; add to the rules of ClusterRole reeve-reconciler-secrets " +
        '(manifests/install/22-reconciler-secrets.yaml): - {apiGroups: [""], resources: ["secrets"], verbs: [get, list]}',
    );
    expect(missingRightsMessage([bind('a'), bind('b'), secrets])).toMatch(
      /: - \{.*\["a"\].*\} and - \{.*\["b"\].*\}; add to the rules of .*: - \{.*\}; .*bindableRoles in 41-jail\.yaml/,
    );
  });

  test('the message on a ClusterRole says first that the ClusterRole may not exist', () => {
    expect(missingRightsMessage([{ ...bind('eddit'), meant: 'edit' }])).toMatch(
      /^ClusterRole eddit \(did you mean edit\?\) may not exist, so check the name first; Reeve's own account lacks rights/,
    );
    expect(missingRightsMessage(['a', 'b', 'c'].map(bind))).toMatch(/^ClusterRoles a, b, c may not exist/);
    expect(missingRightsMessage(['a', 'b', 'c', 'd', 'e'].map(bind))).toMatch(
      /^ClusterRoles a, b, c and 2 more may not exist, so check the name first; /,
    );
  });

  test('a long message is cut between two rules and fits a condition', () => {
    const many = Array.from({ length: 40 }, (_, index) => bind(`${'x'.repeat(50)}-${index}`));
    const message = missingRightsMessage(many);
    expect(message.length).toBeLessThanOrEqual(1024);
    const count = [...message.matchAll(/- \{[^{}]*\}/g)].length;
    expect(count).toBeGreaterThan(2);
    expect(message).toMatch(new RegExp(`\\}; and ${40 - count} more`));
  });
});

import { describe, expect, test } from 'vitest';
import { settle } from '../../../../src/policy/decide/settle.ts';
import {
  nothingToDecide,
  rightKey,
  type JudgedViolation,
  type Right,
} from '../../../../src/policy/terms/verdict.ts';
import { aNamespace, aReview } from '../../../support/engine.ts';

const review = aReview({ object: aNamespace({ name: 'n' }) });
const use: Right = {
  verb: 'use',
  group: 'reeve.dev',
  resource: 'namespacepolicies',
  name: 'p',
  effect: 'bring the namespace under it',
  rule: 'steering',
  path: 'metadata',
};
const { name: _name, ...allOf } = use;
const useShare: Right = { ...use, resource: 'secretshares' };

function refusalsFor(rights: readonly Right[], answers: Parameters<typeof settle>[1] = new Map()) {
  return settle({ ...nothingToDecide, rights }, answers, review).denials;
}

describe('a right', () => {
  test.for([
    ['yes', true],
    ['no', false],
    ['unknown', false],
  ] as const)('answered with %s: allowed is %s', ([answer, allowed]) => {
    const decision = { ...nothingToDecide, rights: [use] };
    expect(settle(decision, new Map([[rightKey(use), answer]]), review).allowed).toBe(allowed);
  });

  test('that nobody answered is not there', () => {
    expect(refusalsFor([use])[0]?.found).toMatch(/\(nobody could say whether the right is there\)$/);
  });

  test('is one question, whatever it is needed for', () => {
    expect(rightKey({ ...use, effect: 'something else' })).toBe(rightKey(use));
    const others: readonly Right[] = [
      useShare,
      { ...use, verb: 'get' },
      { ...use, group: '' },
      { ...use, name: 'q' },
      { ...use, namespace: 'p' },
      { ...allOf, effect: use.effect },
    ];
    expect(new Set([use, ...others].map(rightKey)).size).toBe(others.length + 1);
  });

  test('answers for one question count for all that ask it', () => {
    const both = [use, { ...use, effect: 'take the namespace from it' }];
    expect(refusalsFor(both, new Map([[rightKey(use), 'yes']]))).toEqual([]);
    expect(refusalsFor(both, new Map([[rightKey(use), 'no']]))).toHaveLength(2);
  });
});

describe('rights that an author lacks', () => {
  const making = (verb: string): Right => ({
    verb,
    group: '',
    resource: 'configmaps',
    effect: 'make ConfigMaps',
    rule: 'authors',
    path: 'spec.contents.resources[0]',
  });
  const all = ['create', 'patch', 'delete'].map(making);

  test('to one thing are told, and granted, as one; by Reeve itself', () => {
    const answers = new Map([[rightKey(making('patch')), 'yes' as const]]);
    expect(refusalsFor(all, answers)).toMatchObject([
      {
        policy: '',
        by: 'reeve',
        rule: 'authors',
        path: 'spec.contents.resources[0]',
        found:
          'user "alice" would make ConfigMaps, without the right to create and delete configmaps (nobody could say whether the right is there)',
        accepted: expect.stringContaining('or one with those rights, which this grants: echo ') as unknown,
      },
    ]);
    expect(refusalsFor(all)[0]?.accepted).toContain('"verbs":["create","patch","delete"]');
    expect(refusalsFor(all)[0]?.accepted).toContain('--clusterrole=reeve-create-patch-delete-configmaps ');
  });

  test('to several are told one by one, and nothing but the right itself helps', () => {
    const requesters: JudgedViolation = {
      violation: { policy: 'p', rule: 'namespaces.requesters', path: 'x', found: 'y', accepted: 'z' },
      actions: ['Deny'],
    };
    const rights = [...all, { ...use, rule: 'authors' as const, path: 'spec.namespaces.defaults' }];
    const { denials } = settle({ ...nothingToDecide, violations: [requesters], rights }, new Map(), review);
    expect(denials.map(({ path }) => path)).toEqual([
      'x',
      'spec.contents.resources[0]',
      'spec.namespaces.defaults',
    ]);
  });
});

describe('who refuses', () => {
  test.for([
    [use, undefined],
    [useShare, 'share'],
    [{ ...use, group: 'example.com' }, 'reeve'],
  ] as const)('%j: %s', ([right, by]) => {
    expect(refusalsFor([right])[0]).toMatchObject({ policy: 'p', rule: 'steering' });
    expect(refusalsFor([right])[0]?.by).toBe(by);
  });
});

describe('the line that grants the right', () => {
  const aRole = '"apiVersion":"rbac.authorization.k8s.io/v1","kind":';
  const aBinding = '| kubectl apply -f - && kubectl create';
  test.for([
    [
      use,
      `echo '{${aRole}"ClusterRole","metadata":{"name":"reeve-use-p"},"rules":[{"apiGroups":["reeve.dev"],"resources":["namespacepolicies"],"resourceNames":["p"],"verbs":["use"]}]}' ` +
        `${aBinding} clusterrolebinding reeve-use-p-alice --clusterrole=reeve-use-p --user=alice`,
    ],
    [
      useShare,
      `echo '{${aRole}"ClusterRole","metadata":{"name":"reeve-use-secretshares-p"},"rules":[{"apiGroups":["reeve.dev"],"resources":["secretshares"],"resourceNames":["p"],"verbs":["use"]}]}' ` +
        `${aBinding} clusterrolebinding reeve-use-secretshares-p-alice --clusterrole=reeve-use-secretshares-p --user=alice`,
    ],
    [
      { ...use, verb: 'get', group: '', resource: 'secrets', name: 's', namespace: 'ns' },
      `echo '{${aRole}"Role","metadata":{"name":"reeve-get-secrets-s","namespace":"ns"},"rules":[{"apiGroups":[""],"resources":["secrets"],"resourceNames":["s"],"verbs":["get"]}]}' ` +
        `${aBinding} rolebinding reeve-get-secrets-s-alice --namespace=ns --role=reeve-get-secrets-s --user=alice`,
    ],
    [
      { ...allOf, verb: 'create', group: 'apps', resource: 'deployments' },
      `echo '{${aRole}"ClusterRole","metadata":{"name":"reeve-create-deployments.apps"},"rules":[{"apiGroups":["apps"],"resources":["deployments"],"verbs":["create"]}]}' ` +
        `${aBinding} clusterrolebinding reeve-create-deployments.apps-alice --clusterrole=reeve-create-deployments.apps --user=alice`,
    ],
  ] as const)('%j', ([right, line]) => {
    expect(refusalsFor([right])[0]?.accepted).toBe(
      `a user of group system:masters, or one with that right, which this grants: ${line}`,
    );
  });
});

test('where only requesters may create, the right to use the policy is not asked for; that to use a share is', () => {
  const violation: JudgedViolation = {
    violation: { policy: 'p', rule: 'namespaces.requesters', path: 'x', found: 'y', accepted: 'z' },
    actions: ['Deny'],
  };
  const decision = { ...nothingToDecide, violations: [violation], rights: [use, useShare] };
  expect(settle(decision, new Map(), review).denials.map(({ rule, by }) => [rule, by])).toEqual([
    ['namespaces.requesters', undefined],
    ['steering', 'share'],
  ]);
});

test('notices are handed on, whatever the verdict', () => {
  const notices = ['SecretShare/s now reaches 1 namespace: a'];
  expect(settle({ ...nothingToDecide, notices }, new Map(), review)).toMatchObject({
    allowed: true,
    notices,
  });
  expect(settle({ ...nothingToDecide, notices, rights: [use] }, new Map(), review)).toMatchObject({
    allowed: false,
    notices,
  });
});

import { describe, expect, test } from 'vitest';
import { settle } from '../../../src/policy/settle.ts';
import { nothingToDecide, rightKey, type Finding, type Right } from '../../../src/policy/verdict.ts';
import { aNamespace, aReview } from '../../support/engine.ts';

const review = aReview({ object: aNamespace({ name: 'n' }) });
const use: Right = {
  verb: 'use',
  group: 'reeve.dev',
  resource: 'namespacepolicies',
  name: 'p',
  effect: 'bring the namespace under it',
};
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
      { verb: 'use', group: 'reeve.dev', resource: 'namespacepolicies', effect: use.effect },
    ];
    expect(new Set([use, ...others].map(rightKey)).size).toBe(others.length + 1);
  });

  test('answers for one question count for all that ask it', () => {
    const both = [use, { ...use, effect: 'take the namespace from it' }];
    expect(refusalsFor(both, new Map([[rightKey(use), 'yes']]))).toEqual([]);
    expect(refusalsFor(both, new Map([[rightKey(use), 'no']]))).toHaveLength(2);
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
  test.for([
    [
      use,
      'kubectl create clusterrole reeve-use-p --verb=use --resource=namespacepolicies.reeve.dev --resource-name=p && ' +
        'kubectl create clusterrolebinding reeve-use-p --clusterrole=reeve-use-p --user=alice',
    ],
    [
      useShare,
      'kubectl create clusterrole reeve-use-secretshares-p --verb=use --resource=secretshares.reeve.dev --resource-name=p && ' +
        'kubectl create clusterrolebinding reeve-use-secretshares-p --clusterrole=reeve-use-secretshares-p --user=alice',
    ],
    [
      { verb: 'get', group: '', resource: 'secrets', name: 's', namespace: 'ns', effect: 'read it' },
      'kubectl create role reeve-get-secrets-s --namespace=ns --verb=get --resource=secrets --resource-name=s && ' +
        'kubectl create rolebinding reeve-get-secrets-s --namespace=ns --role=reeve-get-secrets-s --user=alice',
    ],
    [
      { verb: 'create', group: 'apps', resource: 'deployments', effect: 'make them' },
      'kubectl create clusterrole reeve-create-deployments --verb=create --resource=deployments.apps && ' +
        'kubectl create clusterrolebinding reeve-create-deployments --clusterrole=reeve-create-deployments --user=alice',
    ],
  ] as const)('%j', ([right, line]) => {
    expect(refusalsFor([right])[0]?.accepted).toBe(
      `a user of group system:masters, or one with that right, which this grants: ${line}`,
    );
  });
});

test('where only requesters may create, the right to use the policy is not asked for; that to use a share is', () => {
  const finding: Finding = {
    violation: { policy: 'p', rule: 'namespaces.requesters', path: 'x', found: 'y', accepted: 'z' },
    actions: ['Deny'],
  };
  const decision = { ...nothingToDecide, findings: [finding], rights: [use, useShare] };
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

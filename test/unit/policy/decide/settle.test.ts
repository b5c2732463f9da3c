import { describe, expect, test } from 'vitest';
import { settle, refusalMessage } from '../../../../src/policy/decide/settle.ts';
import {
  nothingToDecide,
  rightKey,
  type JudgedViolation,
  type Right,
} from '../../../../src/policy/terms/review.ts';
import { aNamespace, aProviderReview, aReview } from '../../../support/engine.ts';

const review = aReview({ object: aNamespace({ name: 'n' }) });
const use: Right = {
  verb: 'use',
  group: 'reeve.dev',
  resource: 'namespacepolicies',
  name: 'p',
  cause: 'label team=a',
  effect: 'bring namespace n under NamespacePolicy p',
  rule: 'steering',
  path: 'metadata',
};
const { name: _name, ...allOf } = use;
const useShare: Right = { ...use, resource: 'secretshares' };

type Answers = Parameters<typeof settle>[1];

function refusalsFor(rights: readonly Right[], answers: Answers = new Map()) {
  return settle({ ...nothingToDecide, rights }, answers, review).denials;
}

function refusedFor(right: Right) {
  return refusalsFor([right], new Map([[rightKey(right), 'no']]))[0];
}

test.for([
  ['yes', true],
  ['no', false],
  ['unknown', false],
] as const)('a right answered with %s makes "allowed" %s', ([answer, allowed]) => {
  const decision = { ...nothingToDecide, rights: [use] };
  expect(settle(decision, new Map([[rightKey(use), answer]]), review).allowed).toBe(allowed);
});

test('a right without an answer is missing, and the refusal says that there was no answer', () => {
  expect(refusalsFor([use])[0]).toMatchObject({
    found: 'user "alice" without verb "use" on namespacepolicies/p (the API server gave no answer)',
    message:
      'label team=a would bring namespace n under NamespacePolicy p, and ' +
      'the API server did not answer whether user "alice" has the right (verb "use" on namespacepolicies/p)',
  });
  expect(refusalsFor([{ ...use, rule: 'authors', path: 'spec.x' }])[0]?.message).toBe(
    'spec.x: this write would bring namespace n under NamespacePolicy p, and ' +
      'the API server did not answer whether user "alice" has the right (verb "use" on namespacepolicies/p)',
  );
});

test('a right that the user lacks is no refusal where the other right does as well, and the refusal names both', () => {
  const right: Right = {
    ...use,
    verb: 'delete',
    resource: 'pods',
    group: '',
    rule: 'authors',
    path: 'spec',
    instead: use,
  };
  const no = [rightKey(right), 'no'] as const;
  expect(refusalsFor([right], new Map([no, [rightKey(use), 'yes']]))).toEqual([]);
  expect(refusalsFor([right], new Map([no, [rightKey(use), 'no']]))[0]?.message).toBe(
    'spec: user "alice" may not bring namespace n under NamespacePolicy p ' +
      '(verb "delete" on pods/p, or verb "use" on namespacepolicies/p)',
  );
});

test('two rights with the same verb and object are one question', () => {
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

test('one answer counts for all effects that need the right', () => {
  const both = [use, { ...use, effect: 'remove namespace n from NamespacePolicy p' }];
  expect(refusalsFor(both, new Map([[rightKey(use), 'yes']]))).toEqual([]);
  expect(refusalsFor(both, new Map([[rightKey(use), 'no']]))).toHaveLength(2);
});

describe('rights that an author lacks', () => {
  const creating = (verb: string): Right => ({
    verb,
    group: '',
    resource: 'configmaps',
    effect: 'create ConfigMaps',
    rule: 'authors',
    path: 'spec.contents.resources[0]',
  });
  const all = ['create', 'patch', 'delete'].map(creating);

  test('missing verbs on one resource are one violation, by Reeve itself', () => {
    const answers: Answers = new Map([
      [rightKey(creating('create')), 'no'],
      [rightKey(creating('patch')), 'yes'],
      [rightKey(creating('delete')), 'no'],
    ]);
    expect(refusalsFor(all, answers)).toEqual([
      {
        policy: '',
        by: 'reeve',
        rule: 'authors',
        path: 'spec.contents.resources[0]',
        found: 'user "alice" without verbs "create" and "delete" on configmaps, cluster-wide',
        accepted: 'a user with verbs "create" and "delete" on configmaps, cluster-wide',
        message:
          'spec.contents.resources[0]: user "alice" may not create ConfigMaps ' +
          '(verbs "create" and "delete" on configmaps, cluster-wide)',
        contact: 'a cluster administrator',
      },
    ]);
    expect(refusalsFor(all)[0]?.accepted).toBe(
      'a user with verbs "create", "patch" and "delete" on configmaps, cluster-wide',
    );
  });

  test('a violation of requesters does not hide the rights that an author lacks', () => {
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

describe('the provider that refuses', () => {
  test.for([
    [use, undefined],
    [useShare, 'share'],
    [{ ...use, group: 'example.com' }, 'reeve'],
  ] as const)('%j is refused by %s', ([right, by]) => {
    expect(refusalsFor([right])[0]).toMatchObject({ policy: 'p', rule: 'steering' });
    expect(refusalsFor([right])[0]?.by).toBe(by);
  });
});

describe('the missing right in a refusal', () => {
  test.for([
    [use, 'verb "use" on namespacepolicies/p'],
    [useShare, 'verb "use" on secretshares/p'],
    [
      { ...use, verb: 'get', group: '', resource: 'secrets', name: 's', namespace: 'ns' },
      'verb "get" on secrets/s in namespace ns',
    ],
    [
      { ...allOf, verb: 'create', group: 'apps', resource: 'deployments' },
      'verb "create" on deployments.apps, cluster-wide',
    ],
  ] as const)('%j is named as: %s', ([right, missing]) => {
    expect(refusedFor(right)).toMatchObject({
      found: `user "alice" without ${missing}`,
      accepted: `a user with ${missing}`,
      message: `label team=a would bring namespace n under NamespacePolicy p, and user "alice" may not do that (${missing})`,
    });
  });

  test('a right without a cause is needed by the write as a whole', () => {
    const { cause: _cause, ...whole } = use;
    expect(refusedFor(whole)?.message).toMatch(/^this write would bring namespace n under /);
  });

  test('the refusal ends with the contact of the provider, or with a cluster administrator', () => {
    const messageFor = (right: Right) =>
      refusalMessage(
        settle({ ...nothingToDecide, rights: [right] }, new Map([[rightKey(right), 'no']]), review),
        review,
      );
    const refusal =
      'Namespace n is refused: label team=a would bring namespace n under NamespacePolicy p, and ' +
      'user "alice" may not do that (verb "use" on namespacepolicies/p)\nContact: ';
    expect(messageFor(use)).toBe(`${refusal}a cluster administrator`);
    expect(messageFor({ ...use, contact: 'platform@example.com' })).toBe(`${refusal}platform@example.com`);
  });
});

test('where only requesters may create, the right to use the policy is not asked for; the right to use a share is', () => {
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

test('notices about a provider are part of the verdict, whether the write is allowed or not', () => {
  const notices = ['SecretShare/s now reaches 1 namespace: a'];
  const provider = aProviderReview({ resource: 'secretshares', object: { metadata: { name: 's' } } });
  expect(settle({ ...nothingToDecide, notices }, new Map(), provider)).toMatchObject({
    allowed: true,
    notices,
  });
  expect(settle({ ...nothingToDecide, notices, rights: [use] }, new Map(), provider)).toMatchObject({
    allowed: false,
    notices,
  });
});

test('a refused write of a namespace has no notices, because it changes nothing', () => {
  const notices = ['SecretShare s now provides Secret s here'];
  expect(settle({ ...nothingToDecide, notices }, new Map(), review)).toMatchObject({
    allowed: true,
    notices,
  });
  expect(settle({ ...nothingToDecide, notices, rights: [use] }, new Map(), review)).toMatchObject({
    allowed: false,
    notices: [],
  });
});

test.for([
  ['yes', undefined],
  ['no', 'user "alice" may not delete namespace n (verb "use" on namespacepolicies/p)'],
  [
    'unknown',
    'this write would delete namespace n, and the API server did not answer whether user "alice" has the right (verb "use" on namespacepolicies/p)',
  ],
] as const)('a violation whose right is answered with %s says %s', ([answer, message]) => {
  const { cause: _cause, ...uncaused } = use;
  const right: Right = { ...uncaused, effect: 'delete namespace n', rule: 'rule' };
  const violation: JudgedViolation = {
    violation: { policy: 'p', rule: 'namespaces.deletion', path: 'metadata', found: 'x', accepted: 'y' },
    actions: ['Deny'],
    permittedBy: right,
  };
  const decision = { ...nothingToDecide, violations: [violation] };
  const { allowed, denials } = settle(decision, new Map([[rightKey(right), answer]]), review);
  expect(allowed).toBe(answer === 'yes');
  expect(denials[0]?.message).toBe(message);
});

// The number of violations is bounded, and grace for old violations stays exact.
import { describe, expect, test } from 'vitest';
import { decide } from '../../../../src/policy/decide/decide.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { settle } from '../../../../src/policy/decide/settle.ts';
import { aNamespace, aPolicy, aReview, aSnapshot, circumstances } from '../../../support/engine.ts';

const namespace = aNamespace({ name: 'ns' });

function bindingOf(count: number, prefix = 'u'): KubeObject {
  const subjects = Array.from({ length: count }, (_, i) => ({ kind: 'User', name: `${prefix}${i}` }));
  return { metadata: { name: 'b', namespace: 'ns' }, roleRef: { kind: 'Role', name: 'r' }, subjects };
}

function decideBinding(object: KubeObject, oldObject?: KubeObject, actions: readonly string[] = ['Deny']) {
  const policy = aPolicy('p', { validationActions: actions, rbac: { forbiddenSubjects: ['User/*'] } });
  const review = aReview({
    resource: 'rolebindings',
    object,
    ...(oldObject === undefined ? {} : { oldObject }),
  });
  const decision = decide(review, aSnapshot([policy], [namespace]), circumstances);
  return { decision, verdict: settle(decision, new Map(), review) };
}

describe.each([['Deny'], ['Audit'], ['Warn', 'Audit']])(
  '%s %s: tens of thousands of violations of a rule',
  (...actions) => {
    test('the first hundred violations are listed and the others are counted', () => {
      const { decision, verdict } = decideBinding(bindingOf(45_000), undefined, actions);
      expect(decision.violations).toHaveLength(101);
      expect(decision.violations.at(-1)?.violation.found).toBe('44900 more like these');
      expect(verdict.allowed).toBe(!actions.includes('Deny'));
    });
  },
);

test('a hundred violations are all listed', () => {
  expect(decideBinding(bindingOf(100)).decision.violations).toHaveLength(100);
});

test('one new violation among many old ones is found', () => {
  const old = bindingOf(10_000);
  const more = { ...old, subjects: [...(old['subjects'] as unknown[]), { kind: 'User', name: 'new' }] };
  const { violations } = decideBinding(more, old).decision;
  expect(violations.map(({ violation }) => violation.found)).toEqual(['User/new']);
});

test.for([
  [['Deny'], []],
  [['Warn'], [['Warn']]],
  [['Audit'], [['Audit']]],
  [['Warn', 'Audit'], [['Warn', 'Audit']]],
  [['Deny', 'Audit'], [['Audit']]],
] as const)('with %j, a violation that the old object had is reported by %j', ([actions, reported]) => {
  const { decision, verdict } = decideBinding(bindingOf(1), bindingOf(1), actions);
  expect(decision.violations.map((each) => each.actions)).toEqual(reported);
  expect(verdict.allowed).toBe(true);
});

test('a Docker configuration with too many registries is one violation', () => {
  const auths = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`r${i}.example.com`, {}]));
  const policy = aPolicy('p', { secrets: { dockerConfig: { allowedRegistries: ['*.example.com'] } } });
  const review = aReview({
    resource: 'secrets',
    object: {
      metadata: { name: 's', namespace: 'ns' },
      type: 'kubernetes.io/dockerconfigjson',
      stringData: { '.dockerconfigjson': JSON.stringify({ auths }) },
    },
  });
  expect(decide(review, aSnapshot([policy], [namespace]), circumstances).violations).toHaveLength(1);
});

test('counting for a quota stops once the quota is reached', () => {
  const policy = aPolicy('p', { namespaces: { quota: { label: 'team', max: 2 } } });
  let looked = 0;
  const snapshot = {
    ...aSnapshot([policy]),
    *namespaces() {
      for (let i = 0; i < 1000; i += 1) {
        looked += 1;
        yield aNamespace({ name: `n${i}`, labels: { team: 'red' } });
      }
    },
  };
  const review = aReview({ object: aNamespace({ name: 'new', labels: { team: 'red' } }) });
  expect(decide(review, snapshot, circumstances).violations).toHaveLength(1);
  expect(looked).toBeLessThan(5);
});

test('a validation that reads the request has no grace, because it cannot judge the old object alone', () => {
  const validation = { name: 'v', expression: 'request.operation == "CREATE"', message: 'create it again' };
  const snapshot = aSnapshot([aPolicy('p', { validations: [validation] })]);
  const object = aNamespace({ name: 'ns', labels: { team: 'a' } });
  const review = aReview({ operation: 'UPDATE', object, oldObject: namespace });
  expect(decide(review, snapshot, circumstances).violations).toHaveLength(1);
});

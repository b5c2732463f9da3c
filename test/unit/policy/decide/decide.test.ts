import { describe, expect, test } from 'vitest';
import { unlimitedBudget, type Budget } from '../../../../src/policy/terms/budget.ts';
import { decide } from '../../../../src/policy/decide/decide.ts';
import { mutate } from '../../../../src/policy/decide/mutate.ts';
import { settle } from '../../../../src/policy/decide/settle.ts';
import { aNamespace, aPolicy, aReview, aSnapshot, circumstances } from '../../../support/engine.ts';
import { namespaceNeeded } from '../../../../src/policy/compile/snapshot.ts';

const { now } = circumstances;
const strict = aPolicy('strict', {
  namespaces: { required: { labels: { team: {} } }, defaults: { labels: { env: 'dev' } } },
  secrets: { maxBytes: 1, defaults: { labels: { a: 'b' } } },
});

/** Returns a budget that is spent after a number of checks. */
function budgetOf(checks: number): Budget {
  let left = checks;
  return {
    ...unlimitedBudget,
    isSpent() {
      left -= 1;
      return left < 0;
    },
  };
}

describe('the evaluation budget', () => {
  const snapshot = aSnapshot([strict], [aNamespace({ name: 'ns' })]);
  const create = aReview({ object: aNamespace({ name: 'n' }) });
  const secret = aReview({ resource: 'secrets', object: { metadata: { name: 's', namespace: 'ns' } } });

  test.for([0, 1, 2])('a review whose budget ends after %d checks is refused', (checks) => {
    const decision = decide(create, snapshot, { now, budget: budgetOf(checks) });
    expect(decision.overBudget).toBe(true);
    expect(settle({ ...decision, violations: [] }, new Map(), create).allowed).toBe(false);
    expect(decide(secret, snapshot, { now, budget: budgetOf(checks) }).overBudget).toBe(true);
  });

  test('a mutation without budget changes nothing', () => {
    const spent = { now, budget: budgetOf(0) };
    expect(mutate(create, snapshot, spent)).toMatchObject({ overBudget: true, patch: [] });
    expect(mutate(secret, snapshot, spent)).toMatchObject({ overBudget: true, patch: [] });
  });

  test('a mutation whose budget ends between two defaults sets neither', () => {
    const two = aPolicy('two', { namespaces: { defaults: { labels: { a: '1', b: '2' } } } });
    // One check for the policy, one for its first key.
    const mutation = mutate(create, aSnapshot([two]), { now, budget: budgetOf(2) });
    expect(mutation).toMatchObject({ overBudget: true, patch: [] });
  });
});

describe('policies that only report', () => {
  const validations = [{ name: 'no', expression: 'false', message: 'm' }];
  const warning = (name: string) => aPolicy(name, { validationActions: ['Warn'], validations });
  const deny = aPolicy('m-deny', { validations });
  const create = aReview({ object: aNamespace({ name: 'n' }) });
  test('a policy with Deny is judged before policies that only warn, and the reasons keep the order of the names', () => {
    const snapshot = aSnapshot([warning('a'), deny, warning('z')]);
    const full = decide(create, snapshot, circumstances);
    expect(full.violations.map(({ violation }) => violation.policy)).toEqual(['a', 'm-deny', 'z']);
    expect(full).toMatchObject({ policies: ['a', 'm-deny', 'z'], unjudged: [], overBudget: false });
    // One check each for the match, the rule, and the steering of the policy with Deny; one after them.
    const short = decide(create, snapshot, { now, budget: budgetOf(4) });
    expect(short.violations.map(({ violation }) => violation.policy)).toEqual(['m-deny']);
    expect(settle(short, new Map(), create)).toMatchObject({ allowed: false, overBudget: false });
  });

  test.for(['namespaces', 'secrets'] as const)(
    'a write of %s is allowed when no budget is left for policies that only warn, and a warning names them',
    (resource) => {
      const spec = { validationActions: ['Audit', 'Warn'], validations, secrets: { maxBytes: 1 } };
      const snapshot = aSnapshot([aPolicy('a', spec), aPolicy('b', spec)], [aNamespace({ name: 'ns' })]);
      const review =
        resource === 'namespaces'
          ? create
          : aReview({ resource, object: { metadata: { name: 's', namespace: 'ns' } } });
      const decision = decide(review, snapshot, { now, budget: budgetOf(2) });
      expect(settle(decision, new Map(), review)).toMatchObject({
        allowed: true,
        overBudget: false,
        unjudged: ['a', 'b'],
        notices: [
          'policies a, b were not judged, because evaluating all policies costs more than one request may cost; without Deny, this blocks no write, ' +
            'even one that takes a namespace out of their match',
        ],
      });
    },
  );

  test('a policy that warns and provides contents must be judged, because it decides about rights', () => {
    const roleRef = { kind: 'ClusterRole', name: 'view' };
    const roleBindings = [{ name: 'r', roleRef, subjects: [{ kind: 'User', name: 'u' }] }];
    const snapshot = aSnapshot([aPolicy('a', { validationActions: ['Warn'], contents: { roleBindings } })]);
    expect(decide(create, snapshot, { now, budget: budgetOf(1) }).overBudget).toBe(true);
  });
});

describe('the namespace that must be known', () => {
  const { policies } = aSnapshot([strict]);
  const inNamespace = (
    resource: 'secrets' | 'roles',
    namespace: string,
    operation: 'CREATE' | 'DELETE' = 'CREATE',
  ) => aReview({ resource, namespace, operation, object: { metadata: { name: 'x' } } });

  test.for([
    ['a Secret needs its namespace if a policy has rules for Secrets', inNamespace('secrets', 'ns'), 'ns'],
    ['a Role needs no namespace if no policy has rules for Roles', inNamespace('roles', 'ns'), undefined],
    ['the deletion of a Secret needs no namespace', inNamespace('secrets', 'ns', 'DELETE'), undefined],
    [
      'a Secret in an excluded namespace needs no namespace',
      inNamespace('secrets', 'kube-system'),
      undefined,
    ],
    ['a Namespace needs no other namespace', aReview({ object: aNamespace({ name: 'ns' }) }), undefined],
  ] as const)('%s', ([, review, needed]) => {
    expect(namespaceNeeded(review, policies)).toBe(needed);
  });
});

test('a decision names the matching policies sorted by name', () => {
  const policies = ['b', 'a', 'c'].map((name) =>
    aPolicy(name, name === 'c' ? { match: { names: ['other'] } } : {}),
  );
  const decision = decide(aReview({ object: aNamespace({ name: 'n' }) }), aSnapshot(policies), circumstances);
  expect(decision.policies).toEqual(['a', 'b']);
});

test('the deletion of a Secret is not decided', () => {
  const review = aReview({
    resource: 'secrets',
    operation: 'DELETE',
    oldObject: { metadata: { name: 's', namespace: 'ns' } },
  });
  expect(decide(review, aSnapshot([strict]), circumstances)).toMatchObject({ violations: [], rights: [] });
});

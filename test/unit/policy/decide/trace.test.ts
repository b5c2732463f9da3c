// The trace reports each rule of each policy that matches, and changes no decision.
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { auditNamespace } from '../../../../src/policy/decide/audit.ts';
import { decide } from '../../../../src/policy/decide/decide.ts';
import type { Review, RuleOutcome } from '../../../../src/policy/terms/review.ts';
import { aNamespace, aPolicy, aReview, aSnapshot, circumstances } from '../../../support/engine.ts';

const policies = [
  aPolicy('env', {
    namespaces: { required: { labels: { env: { values: ['dev', 'prod'] } } }, deletion: { protect: true } },
    exceptions: [{ namespaces: ['old-*'], rules: ['namespaces.required'], reason: 'SEC-1' }],
  }),
  aPolicy('names', { validationActions: ['Audit'], namespaces: { name: { pattern: 'team-.*' } } }),
  aPolicy('bindings', { rbac: { forbiddenSubjects: ['User/*'] } }),
];

function outcomesOf(fields: Partial<Review>, namespaces: readonly KubeObject[] = []) {
  const outcomes: RuleOutcome[] = [];
  const review = aReview(fields);
  const snapshot = aSnapshot(policies, namespaces);
  const decision = decide(review, snapshot, { ...circumstances, trace: (outcome) => outcomes.push(outcome) });
  expect(decision).toEqual(decide(review, snapshot, circumstances));
  return outcomes.map(
    ({ policy, rule, kind, fresh, old }) =>
      `${policy} ${rule}: ${kind}, ${fresh.length} fresh, ${old.length} old`,
  );
}

const named = (name: string, env?: string): KubeObject =>
  aNamespace({ name, ...(env !== undefined && { labels: { env } }) });

describe('a write of a Namespace', () => {
  test.for<[title: string, fields: Partial<Review>, outcomes: readonly string[]]>([
    [
      'rules that hold are traced, and so are rules of a policy that only audits',
      { object: named('x', 'dev') },
      [
        'env namespaces.required: judged, 0 fresh, 0 old',
        'env namespaces.deletion: judged, 0 fresh, 0 old',
        'names namespaces.name: judged, 1 fresh, 0 old',
      ],
    ],
    [
      'a rule with an exception for the namespace is traced as excepted',
      { object: named('old-x') },
      [
        'env namespaces.required: excepted, 0 fresh, 0 old',
        'env namespaces.deletion: judged, 0 fresh, 0 old',
        'names namespaces.name: judged, 1 fresh, 0 old',
      ],
    ],
    [
      'a write that changes no metadata is not judged, so nothing is traced',
      { object: named('team-x', 'b'), oldObject: named('team-x', 'b'), operation: 'UPDATE' },
      [],
    ],
    [
      'a violation of a policy that only audits is traced as fresh, although the old object has it as well',
      {
        object: aNamespace({ name: 'x', labels: { env: 'dev', a: 'b' } }),
        oldObject: named('x', 'dev'),
        operation: 'UPDATE',
      },
      [
        'env namespaces.required: judged, 0 fresh, 0 old',
        'env namespaces.deletion: judged, 0 fresh, 0 old',
        'names namespaces.name: judged, 1 fresh, 0 old',
      ],
    ],
    [
      'a violation that the update keeps is traced as old, although a policy with Deny alone does not report it',
      {
        object: aNamespace({ name: 'team-x', labels: { a: 'b' } }),
        oldObject: named('team-x'),
        operation: 'UPDATE',
      },
      [
        'env namespaces.required: judged, 0 fresh, 1 old',
        'env namespaces.deletion: judged, 0 fresh, 0 old',
        'names namespaces.name: judged, 0 fresh, 0 old',
      ],
    ],
    [
      'a deletion leaves no object, so rules about the state of an object are not asked',
      { oldObject: named('team-x'), operation: 'DELETE' },
      [
        'env namespaces.required: unasked, 0 fresh, 0 old',
        'env namespaces.deletion: judged, 1 fresh, 0 old',
        'names namespaces.name: unasked, 0 fresh, 0 old',
      ],
    ],
  ])('%s', ([, fields, outcomes]) => {
    expect(outcomesOf(fields)).toEqual(outcomes);
  });
});

test('a write in a namespace is traced with the rules of its kind only', () => {
  const binding = {
    metadata: { name: 'b', namespace: 'ns' },
    roleRef: { kind: 'Role', name: 'r' },
    subjects: [{ kind: 'User', name: 'u' }],
  };
  expect(outcomesOf({ resource: 'rolebindings', object: binding }, [named('ns')])).toEqual([
    'bindings rbac.forbiddenSubjects: judged, 1 fresh, 0 old',
  ]);
});

test('an audit is traced with its rules', () => {
  const outcomes: RuleOutcome[] = [];
  const [policy = aPolicy('none', {})] = policies;
  const trace = (outcome: RuleOutcome): void => void outcomes.push(outcome);
  const { violations } = auditNamespace(policy, named('team-x'), { ...circumstances, trace });
  expect(outcomes).toHaveLength(1);
  expect(outcomes[0]).toMatchObject({ policy: 'env', rule: 'namespaces.required', kind: 'judged' });
  expect(outcomes[0]?.fresh).toMatchObject(violations.map(({ path, found }) => ({ path, found })));
});

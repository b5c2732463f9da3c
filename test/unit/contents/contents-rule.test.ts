// Tests when a Namespace is judged by its contents. The golden cases in `contents` have the messages.
import { describe, expect, test } from 'vitest';
import type { ObjectMeta } from '../../../src/base/metadata.ts';
import { auditNamespace } from '../../../src/policy/decide/audit.ts';
import { decide } from '../../../src/policy/decide/decide.ts';
import { aNamespace, aPolicy, aReview, aSnapshot, circumstances } from '../../support/engine.ts';

const group = "${namespaceObject.metadata.annotations['ad/view']}";
const roleRef = { kind: 'ClusterRole', name: 'view' };
const policy = aPolicy('p', {
  contents: { roleBindings: [{ name: 'viewers', roleRef, subjects: [{ kind: 'Group', name: group }] }] },
});
const annotations = { 'ad/view': 'system:masters' };

function rulesBroken(metadata: ObjectMeta): readonly string[] {
  const review = aReview({ object: aNamespace(metadata) });
  return decide(review, aSnapshot([policy]), circumstances).violations.map(({ violation }) => violation.rule);
}

test('a content that fails breaks the rule contents', () => {
  expect(rulesBroken({ name: 'n', annotations })).toEqual(['contents']);
});

test('a Namespace that the API server has not named yet is not judged by its contents', () => {
  expect(rulesBroken({ name: '', annotations })).toEqual([]);
});

test('a Namespace that is being deleted is not judged by its contents', () => {
  expect(rulesBroken({ name: 'n', annotations, deletionTimestamp: '2026-11-21T12:00:00Z' })).toEqual([]);
});

test('a content that fails in an existing Namespace is no violation, because the status has the failure', () => {
  const audit = auditNamespace(policy, aNamespace({ name: 'n', annotations }), circumstances);
  expect(audit).toEqual({ isMatched: true, violations: [] });
});

test('contents without a template add no rule', () => {
  const fixed = { name: 'viewers', roleRef, subjects: [{ kind: 'Group', name: 'viewers' }] };
  expect(aPolicy('p', { contents: { roleBindings: [fixed] } }).rules.namespaces).toEqual([]);
  expect(policy.rules.namespaces).toHaveLength(1);
});

describe('a content that fails in a namespace with an exception', () => {
  const brokenIn = (name: string, expiresAt?: string): number => {
    const excepted = aPolicy('p', {
      contents: { roleBindings: policy.contents.map(({ value }) => value) },
      exceptions: [
        {
          namespaces: ['n'],
          contents: ['RoleBinding/viewers'],
          ...(expiresAt === undefined ? {} : { expiresAt }),
        },
      ],
    });
    const review = aReview({ object: aNamespace({ name, annotations }) });
    return decide(review, aSnapshot([excepted]), circumstances).violations.length;
  };

  test('the exception covers the error while it lasts', () => {
    expect([brokenIn('n'), brokenIn('n', '2026-11-21T13:00:00Z'), brokenIn('other')]).toEqual([0, 0, 1]);
  });

  test('the error counts again when the exception has ended', () => {
    expect(brokenIn('n', '2026-11-21T11:00:00Z')).toBe(1);
  });

  test('an exception from a content without a template adds no rule, and makes no policy read Namespaces', () => {
    const fixed = { name: 'viewers', roleRef, subjects: [{ kind: 'Group', name: 'viewers' }] };
    const { rules, readsNamespace } = aPolicy('p', {
      contents: { roleBindings: [fixed] },
      exceptions: [{ namespaces: ['n'], contents: ['RoleBinding/viewers'] }],
    });
    expect([rules.namespaces, readsNamespace]).toEqual([[], false]);
  });
});

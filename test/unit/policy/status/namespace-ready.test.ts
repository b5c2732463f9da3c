import { describe, expect, test } from 'vitest';
import { roleBindingType } from '../../../../src/base/object-type.ts';
import {
  conflictResult,
  failedResult,
  syncedResult,
  undesiredResult,
  type ObjectResult,
} from '../../../../src/policy/plan/observed.ts';
import { namespaceCompliance, namespaceReadiness } from '../../../../src/policy/status/namespace-ready.ts';

const about = (name: string) => ({ provider: 'NamespacePolicy/p', key: `/Secret/${name}` }) as const;
type Wanted = Parameters<typeof namespaceReadiness>[0];
const wanted = (...names: readonly string[]): Wanted => ({
  claims: new Map(names.map((name) => [`/Secret/${name}` as const, []])),
  fields: new Map(),
  frozen: new Map(),
  skipped: [],
});

function readiness(
  desired: Wanted,
  results: readonly ObjectResult[],
  unowned: Parameters<typeof namespaceReadiness>[2] = [],
): string {
  const { status, reason, message } = namespaceReadiness(desired, results, unowned);
  return `${status} ${reason}: ${message}`;
}

test('a namespace for which nothing is provided is ready', () => {
  expect(readiness(wanted(), [])).toBe('True NothingProvided: no policy or share provides objects here');
});

test('a namespace is not ready while an unwanted object remains', () => {
  const results = [syncedResult(about('a')), undesiredResult(about('c'), 'TooManyDeletions', 'x')];
  expect(readiness(wanted('a'), results)).toBe('False TooManyDeletions: Secret c of NamespacePolicy/p: x');
});

test('a namespace is ready if a suspended policy has its objects', () => {
  const frozen = new Map([['NamespacePolicy/p', { reason: 'Suspended', message: 'x' }]] as const);
  expect(readiness({ ...wanted('a'), frozen }, [syncedResult(about('a'))])).toMatch(/^True Synced/);
});

describe('a namespace that lacks a label or annotation', () => {
  const skipped = ['viewers', 'editors', 'admins'].map((name) => ({
    provider: 'NamespacePolicy/p' as const,
    type: roleBindingType,
    name,
    message: `annotation ad/${name} is missing`,
  }));

  test('the message says how many objects there are, and which one is skipped for which annotation', () => {
    const results = ['a', 'b', 'c'].map((name) => syncedResult(about(name)));
    expect(readiness({ ...wanted('a', 'b', 'c'), skipped: skipped.slice(0, 1) }, results)).toBe(
      'True Synced: 3 of 4 provided; RoleBinding viewers skipped: annotation ad/viewers is missing',
    );
  });

  test('the message names the first skipped object, and counts the others', () => {
    expect(readiness({ ...wanted(), skipped }, [])).toBe(
      'True NothingProvided: 0 of 3 provided; RoleBinding viewers skipped: annotation ad/viewers is missing, and 2 more',
    );
    expect(readiness({ ...wanted(), skipped: skipped.slice(1) }, [])).toMatch(/, and 1 more$/);
  });

  test('a missing object comes before a skipped one', () => {
    const results = [failedResult(about('a'), 'Rejected', 'no')];
    expect(readiness({ ...wanted('a'), skipped }, results)).toBe(
      'False Rejected: Secret a of NamespacePolicy/p: no',
    );
  });
});

describe('a namespace that is not ready', () => {
  test('the message names the missing object with the first key, in any order of the work', () => {
    const results = [
      failedResult(about('z'), 'Rejected', 'no'),
      failedResult(about('b'), 'SourceMissing', 'no source'),
      syncedResult(about('a')),
    ];
    const expected = 'False SourceMissing: Secret b of NamespacePolicy/p: no source';
    expect(readiness(wanted('a', 'b', 'z'), results)).toBe(expected);
    expect(readiness(wanted('a', 'b', 'z'), results.toReversed())).toBe(expected);
  });

  test('a namespace is not ready while one of two providers of an object wants it otherwise', () => {
    const loser = { ...about('a'), provider: 'NamespacePolicy/q' } as const;
    const results = [syncedResult(about('a')), conflictResult(loser, 'ProvidedByAnother', 'p has it')];
    expect(readiness(wanted('a'), results)).toBe(
      'False ProvidedByAnother: Secret a of NamespacePolicy/q: p has it',
    );
  });

  test('a failure to write an object is named before the conflict of a provider that does not own it', () => {
    const loser = { ...about('a'), provider: 'NamespacePolicy/b' } as const;
    const results = [
      conflictResult(loser, 'ProvidedByAnother', 'p'),
      failedResult(about('a'), 'Rejected', 'no'),
    ];
    const expected = 'False Rejected: Secret a of NamespacePolicy/p: no';
    expect(readiness(wanted('a'), results)).toBe(expected);
    expect(readiness(wanted('a'), results.toReversed())).toBe(expected);
  });

  test('a namespace is not ready while an object has the label of Reeve and names no policy or share', () => {
    expect(readiness(wanted(), [], [{ key: '/Secret/z' }, { key: '/Secret/a' }])).toBe(
      'False OwnerMissing: Secret a has the label app.kubernetes.io/managed-by=reeve but no annotation ' +
        'reeve.dev/owner with a policy or share, so Reeve leaves it alone, and the guard lets no user change it; ' +
        'a member of the group reeve:break-glass can delete it or remove the label',
    );
  });

  test('a namespace is not ready if a policy has an error for it', () => {
    const frozen = new Map([
      ['NamespacePolicy/p', { reason: 'MatchFailed', message: 'match condition c: no such key' }],
    ] as const);
    expect(readiness({ ...wanted(), frozen }, [])).toBe(
      'False MatchFailed: NamespacePolicy/p: match condition c: no such key',
    );
  });
});

describe('the compliance of a namespace', () => {
  const policy = 'NamespacePolicy/rules' as const;
  const violation = {
    policy: 'rules',
    rule: 'namespaces.required',
    path: 'metadata.labels["team"]',
    found: 'nothing',
    accepted: 'any value',
  };

  test.each([
    ['a namespace that no rule judges has no condition', [], []],
    [
      'a namespace without a violation is compliant',
      [{ policy, violations: [] }],
      ['True NoViolations: the Namespace violates no rule'],
    ],
    [
      'the message names the policy, the rule and the contact of a violation',
      [{ policy, violations: [{ ...violation, contact: '#platform' }] }],
      [
        'False Violated: 1 violation: policy rules, namespaces.required: metadata.labels["team"]: found nothing; ' +
          'accepted: any value (ask #platform)',
      ],
    ],
    [
      'the message of a rule stands for found and accepted',
      [
        { policy, violations: [] },
        {
          policy: 'NamespacePolicy/more' as const,
          violations: [violation, { ...violation, rule: 'validations/short', message: 'too long' }],
        },
      ],
      [
        'False Violated: 2 violations: policy more, namespaces.required: metadata.labels["team"]: found nothing; ' +
          'accepted: any value; policy more, validations/short: too long',
      ],
    ],
  ])('%s', (_title, judged, expected) => {
    const shown = namespaceCompliance(judged).map(
      ({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`,
    );
    expect(shown).toEqual(expected.map((each) => `reeve.dev/Compliant ${each}`));
  });

  test('a message of many violations is cut at 1,024 characters', () => {
    const violations = Array.from({ length: 50 }, () => violation);
    const [condition] = namespaceCompliance([{ policy, violations }]);
    expect(condition?.message).toMatch(/^50 violations: .*…$/);
    expect(condition?.message).toHaveLength(1024);
  });
});

import { describe, expect, test } from 'vitest';
import type { Desired } from '../../../../src/policy/desired/desired.ts';
import {
  conflictResult,
  failedResult,
  syncedResult,
  undesiredResult,
  type ObjectResult,
} from '../../../../src/policy/plan/object-result.ts';
import { namespaceReadiness } from '../../../../src/policy/status/namespace-ready.ts';

const about = (name: string) => ({ owner: 'NamespacePolicy/p', key: `/Secret/${name}` }) as const;
const wanted = (...names: readonly string[]): Pick<Desired, 'claims' | 'frozen'> => ({
  claims: new Map(names.map((name) => [`/Secret/${name}` as const, []])),
  frozen: new Map(),
});

function readiness(desired: Pick<Desired, 'claims' | 'frozen'>, outcomes: readonly ObjectResult[]): string {
  const { status, reason, message } = namespaceReadiness(desired, outcomes);
  return `${status} ${reason}: ${message}`;
}

describe('a namespace is ready', () => {
  test('when nothing is provided', () => {
    expect(readiness(wanted(), [])).toBe('True NothingProvided: no policy or share provides anything here');
  });

  test('when all is there, though others want the same, or something is too much', () => {
    const outcomes = [
      syncedResult(about('a')),
      conflictResult(about('b'), 'ProvidedByAnother', 'x', false),
      undesiredResult(about('c'), 'TooManyDeletions', 'x'),
    ];
    expect(readiness(wanted('a', 'b'), outcomes)).toMatch(/^True Synced/);
  });

  test('when a policy is suspended that has what it wants', () => {
    const frozen = new Map([['NamespacePolicy/p', { reason: 'Suspended', message: 'x' }]] as const);
    expect(readiness({ ...wanted('a'), frozen }, [syncedResult(about('a'))])).toMatch(/^True Synced/);
  });
});

describe('a namespace is not ready', () => {
  test('when something is missing: the first by its key is named, however the work was ordered', () => {
    const outcomes = [
      failedResult(about('z'), 'Rejected', 'no'),
      failedResult(about('b'), 'SourceMissing', 'gone'),
      syncedResult(about('a')),
    ];
    const expected = 'False SourceMissing: Secret b of NamespacePolicy/p: gone';
    expect(readiness(wanted('a', 'b', 'z'), outcomes)).toBe(expected);
    expect(readiness(wanted('a', 'b', 'z'), outcomes.toReversed())).toBe(expected);
  });

  test('when nobody can say what a policy wants of it', () => {
    const frozen = new Map([
      ['NamespacePolicy/p', { reason: 'MatchFailed', message: 'match condition c: no such key' }],
    ] as const);
    expect(readiness({ ...wanted(), frozen }, [])).toBe(
      'False MatchFailed: NamespacePolicy/p: match condition c: no such key',
    );
  });
});

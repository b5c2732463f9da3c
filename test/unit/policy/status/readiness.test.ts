import { describe, expect, test } from 'vitest';
import type { Desired } from '../../../../src/policy/desired/desired.ts';
import { conflict, failed, synced, undesired, type Outcome } from '../../../../src/policy/plan/outcome.ts';
import { readinessOf } from '../../../../src/policy/status/readiness.ts';

const about = (name: string) => ({ owner: 'NamespacePolicy/p', key: `/Secret/${name}` }) as const;
const wanted = (...names: readonly string[]): Pick<Desired, 'claims' | 'frozen'> => ({
  claims: new Map(names.map((name) => [`/Secret/${name}` as const, []])),
  frozen: new Map(),
});

function readiness(desired: Pick<Desired, 'claims' | 'frozen'>, outcomes: readonly Outcome[]): string {
  const { status, reason, message } = readinessOf(desired, outcomes);
  return `${status} ${reason}: ${message}`;
}

describe('a namespace is ready', () => {
  test('when nothing is provided', () => {
    expect(readiness(wanted(), [])).toBe('True NothingProvided: no policy or share provides anything here');
  });

  test('when all is there, though others want the same, or something is too much', () => {
    const outcomes = [
      synced(about('a')),
      conflict(about('b'), 'ProvidedByAnother', 'x', false),
      undesired(about('c'), 'TooManyDeletions', 'x'),
    ];
    expect(readiness(wanted('a', 'b'), outcomes)).toMatch(/^True Synced/);
  });

  test('when a policy is suspended that has what it wants', () => {
    const frozen = new Map([['NamespacePolicy/p', { reason: 'Suspended', message: 'x' }]] as const);
    expect(readiness({ ...wanted('a'), frozen }, [synced(about('a'))])).toMatch(/^True Synced/);
  });
});

describe('a namespace is not ready', () => {
  test('when something is missing: the first by its key is named, however the work was ordered', () => {
    const outcomes = [
      failed(about('z'), 'Rejected', 'no'),
      failed(about('b'), 'SourceMissing', 'gone'),
      synced(about('a')),
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

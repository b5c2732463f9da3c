// The kind SecretShare: what parses to what, and what the types promise.
import { kinds } from '../../../../src/api/kinds.ts';
import { describe, expect, expectTypeOf, it, test } from 'vitest';
import { renderProblem } from '../../../../src/base/problem.ts';
import type { SecretShare } from '../../../../src/api/secret-share/secret-share.ts';
import { acceptedShares, minimalShare, refusedShares } from './secret-share-cases.ts';

type SecretShareSpec = SecretShare['spec'];

function shareWith(spec: unknown, more: object = {}): unknown {
  return { apiVersion: 'reeve.dev/v1alpha1', kind: 'SecretShare', metadata: { name: 'test' }, spec, ...more };
}

function problemsOf(value: unknown): readonly string[] {
  const parsed = kinds.SecretShare.parse(value);
  return parsed.ok ? [] : parsed.problems.map(renderProblem);
}

describe('kinds.SecretShare.parse', () => {
  it('the parser sets the defaults', () => {
    expect(kinds.SecretShare.parse(shareWith({ ...minimalShare, target: {} }))).toEqual({
      ok: true,
      value: shareWith({
        ...minimalShare,
        target: { type: '', immutable: false },
        deletionPolicy: 'Delete',
        maxDeletions: 20,
        suspend: false,
      }),
    });
  });

  it('the parser adds no target if none is given', () => {
    const parsed = kinds.SecretShare.parse(shareWith(minimalShare));
    expect(parsed.ok && Object.hasOwn(parsed.value.spec, 'target')).toBe(false);
  });

  it('parsing the result again returns the same', () => {
    for (const [, spec] of acceptedShares) {
      const once = kinds.SecretShare.parse(shareWith(spec));
      expect(once.ok && kinds.SecretShare.parse(once.value)).toEqual(once);
    }
  });

  it.each([undefined, null, 5, 'text', [], {}, Object.create(null)])(
    'the parser refuses %o without throwing',
    (value) => {
      expect(kinds.SecretShare.parse(value).ok).toBe(false);
    },
  );

  it('the parser keeps a valid status and drops an invalid one', () => {
    const status = {
      observedGeneration: 2,
      desired: 3,
      synced: 1,
      conflicts: 1,
      failed: 1,
      failures: [
        { namespace: 'a', kind: 'Secret', name: 'regcred', reason: 'Conflict', message: 'It is there.' },
      ],
      confirmationUsed: '30',
      conditions: [
        {
          type: 'SourceAvailable',
          status: 'False',
          observedGeneration: 2,
          lastTransitionTime: '2026-11-21T12:00:00Z',
          reason: 'SourceMissing',
          message: 'There is no Secret reeve-shared/regcred.',
        },
      ],
    };
    expect(kinds.SecretShare.parse(shareWith(minimalShare, { status }))).toMatchObject({ value: { status } });
    const odd = kinds.SecretShare.parse(shareWith(minimalShare, { status: { desired: 'three' } }));
    expect(odd.ok && Object.hasOwn(odd.value, 'status')).toBe(false);
    expect(odd.ok).toBe(true);
  });

  it('the parser keeps unknown metadata', () => {
    const metadata = { name: 'test', generation: 3, uid: 'u' };
    expect(kinds.SecretShare.parse(shareWith(minimalShare, { metadata }))).toMatchObject({
      value: { metadata },
    });
  });

  it.each([
    ['another kind', { kind: 'NamespacePolicy' }, 'kind: found "NamespacePolicy"; accepted: SecretShare'],
    ['another version', { apiVersion: 'v1' }, 'apiVersion: found "v1"; accepted: reeve.dev/v1alpha1'],
    ['a long name', { metadata: { name: 'n'.repeat(64) } }, 'metadata.name: found 64 characters'],
    ['no name', { metadata: {} }, 'metadata.name: found nothing; accepted: a name of at most 63'],
    ['an unknown part', { data: {} }, 'data: found an unknown field'],
  ])('the parser refuses %s', (_title, more, part) => {
    expect(problemsOf(shareWith(minimalShare, more))).toEqual([expect.stringContaining(part)]);
  });

  it('the parser refuses a share without a spec', () => {
    expect(problemsOf(shareWith(undefined))).toEqual([expect.stringContaining('spec: found nothing')]);
  });
});

describe('accepted shares', () => {
  it.each(acceptedShares)('%s', (_title, spec) => {
    expect(problemsOf(shareWith(spec))).toEqual([]);
  });
});

describe('refused shares', () => {
  it.each(refusedShares)('%s', (_title, spec, part) => {
    expect(problemsOf(shareWith(spec))).toEqual([expect.stringContaining(part)]);
  });
});

test('fields with a default are never undefined in the type', () => {
  expectTypeOf<NonNullable<SecretShareSpec['source']>['namespace']>().toEqualTypeOf<string>();
  expectTypeOf<SecretShareSpec['deletionPolicy']>().toEqualTypeOf<'Delete' | 'Orphan'>();
  expectTypeOf<SecretShareSpec['maxDeletions']>().toEqualTypeOf<number>();
  expectTypeOf<NonNullable<SecretShareSpec['target']>['type']>().toEqualTypeOf<string>();
  expectTypeOf<NonNullable<SecretShare['status']>['desired']>().toEqualTypeOf<number | undefined>();
});

import { describe, expect, test } from 'vitest';
import type { ProviderState } from '../../../../src/policy/terms/provider-id.ts';
import {
  providerStatus,
  statusPatch,
  type StatusFacts,
} from '../../../../src/policy/status/provider-status.ts';
import { defaultProviderState } from '../../../support/owner-state.ts';

const state: ProviderState = { ...defaultProviderState, generation: 3, maxDeletions: 10 };

const facts: StatusFacts = {
  state,
  problem: undefined,
  counts: { desired: 3, synced: 3, conflicts: 0, failed: 0, stuck: 0 },
  failures: [],
  waiting: 0,
  held: undefined,
  source: undefined,
  missingRights: [],
  partsWithoutHook: [],
  matched: 2,
  violations: { count: 0, top: [] },
  isConfirmationSpent: true,
};

const now = new Date('2026-11-21T12:00:00.123Z');
const failure = { namespace: 'a', kind: 'Secret', name: 's', reason: 'Rejected', message: 'no' };
const source = { kind: 'unavailable', reason: 'SourceMissing', message: 'there is no Secret x/y' } as const;

function conditionsOf(
  fields: Partial<StatusFacts>,
  owner: Partial<ProviderState> = {},
): Record<string, string> {
  const status = providerStatus({ ...facts, ...fields, state: { ...state, ...owner } }, undefined, now);
  const conditions = status['conditions'] as { type: string; status: string; reason: string }[];
  return Object.fromEntries(
    conditions.map(({ type, status: value, reason }) => [type, `${value} ${reason}`]),
  );
}

describe('the conditions of an owner', () => {
  test.each<readonly [string, Partial<StatusFacts>, Partial<ProviderState>, string, string, string]>([
    ['all is there', {}, {}, 'True Synced', 'False Done', 'False NotStalled'],
    [
      'something failed',
      { counts: { ...facts.counts, failed: 1 }, failures: [failure] },
      {},
      'False Failed',
      'False Done',
      'False NotStalled',
    ],
    [
      'something cannot be removed',
      { counts: { ...facts.counts, stuck: 1 }, failures: [failure] },
      {},
      'False Failed',
      'False Done',
      'False NotStalled',
    ],
    [
      'there is a conflict',
      { counts: { ...facts.counts, conflicts: 1 }, failures: [failure] },
      {},
      'False Conflicts',
      'False Done',
      'False NotStalled',
    ],
    [
      'namespaces are waited for',
      { waiting: 2 },
      {},
      'False Reconciling',
      'True Reconciling',
      'False NotStalled',
    ],
    [
      'the fuse holds',
      { held: { count: 30, limit: 10 } },
      {},
      'False TooManyDeletions',
      'False Done',
      'True TooManyDeletions',
    ],
    [
      'the fuse holds while namespaces are waited for',
      { held: { count: 30, limit: 10 }, waiting: 2 },
      {},
      'False TooManyDeletions',
      'False Done',
      'True TooManyDeletions',
    ],
    [
      'it does not load',
      { problem: 'spec: found x; accepted: y' },
      { isValid: false },
      'False Invalid',
      'False Done',
      'True Invalid',
    ],
    ['it is suspended', {}, { isSuspended: true }, 'True Suspended', 'False Done', 'False NotStalled'],
    [
      'it is suspended and something is missing',
      { counts: { ...facts.counts, failed: 1 }, failures: [failure] },
      { isSuspended: true },
      'False Suspended',
      'False Done',
      'False NotStalled',
    ],
    [
      'it is being deleted',
      { counts: { ...facts.counts, desired: 0, synced: 0 } },
      { isDeleting: true },
      'False Deleting',
      'True Deleting',
      'False NotStalled',
    ],
  ])('when %s', (_what, fields, owner, ready, working, stalled) => {
    expect(conditionsOf(fields, owner)).toEqual({ Ready: ready, Reconciling: working, Stalled: stalled });
  });

  test('of a share tell of its source too', () => {
    const share = { id: 'SecretShare/s' } as const;
    expect(conditionsOf({ source: { kind: 'unread' } }, share)).toMatchObject({
      SourceAvailable: 'True Available',
      Ready: 'True Synced',
    });
    expect(conditionsOf({ source }, share)).toMatchObject({
      SourceAvailable: 'False SourceMissing',
      Ready: 'False SourceMissing',
    });
  });
});

describe('the status of an owner', () => {
  test('is the same when it is worked out again later', () => {
    const stored = providerStatus(facts, undefined, now);
    expect(
      statusPatch(stored, providerStatus(facts, stored, new Date('2027-01-01T00:00:00Z'))),
    ).toBeUndefined();
  });

  test('turns a condition when its status changes, and only then', () => {
    const stored = providerStatus(facts, undefined, now);
    const later = new Date('2027-01-01T00:00:00Z');
    const times = (status: unknown) =>
      (status as { conditions: { lastTransitionTime: string }[] }).conditions.map(
        ({ lastTransitionTime }) => lastTransitionTime,
      );
    expect(times(stored)).toEqual(Array.from({ length: 3 }, () => '2026-11-21T12:00:00Z'));
    expect(
      times(providerStatus({ ...facts, counts: { ...facts.counts, desired: 9, synced: 9 } }, stored, later)),
    ).toEqual(times(stored));
    expect(times(providerStatus({ ...facts, waiting: 1 }, stored, later))).toEqual([
      '2027-01-01T00:00:00Z',
      '2027-01-01T00:00:00Z',
      '2026-11-21T12:00:00Z',
    ]);
  });

  test('keeps what it said when the policy does not load any more', () => {
    const stored = providerStatus(facts, undefined, now);
    const broken = {
      ...facts,
      state: { ...state, isValid: false, generation: 4 },
      counts: { ...facts.counts, desired: 0, synced: 0 },
      matched: 0,
    };
    expect(providerStatus(broken, stored, now)).toMatchObject({
      matched: 2,
      desired: 3,
      synced: 3,
      observedGeneration: 4,
    });
  });

  test.each<readonly [string, Partial<ProviderState>, boolean, string | undefined]>([
    ['none', {}, true, undefined],
    ['one that is needed still', { confirmation: '5' }, false, undefined],
    ['one that is needed no more', { confirmation: '5' }, true, '5'],
    ['one that has been spent', { confirmation: '5', confirmationUsed: '5' }, false, '5'],
    ['another one than was spent', { confirmation: '6', confirmationUsed: '5' }, false, undefined],
    ['one that was taken away', { confirmationUsed: '5' }, true, undefined],
  ])('of confirmations: %s', (_what, owner, isConfirmationSpent, expected) => {
    const status = providerStatus(
      { ...facts, isConfirmationSpent, state: { ...state, ...owner } },
      undefined,
      now,
    );
    expect(status['confirmationUsed']).toBe(expected);
  });

  test('a text that a namespace or an object gave is cut and printable', () => {
    const message = `a\u001b[31m${'x'.repeat(5000)}`;
    const status = providerStatus(
      { ...facts, failures: [{ ...failure, message }], counts: { ...facts.counts, failed: 1 } },
      undefined,
      now,
    );
    const [first] = status['failures'] as { message: string }[];
    expect(first?.message.length).toBeLessThanOrEqual(1024);
    expect(JSON.stringify(status)).not.toContain('\\u001b');
  });

  test('the patch names what changes and takes away what is no more', () => {
    expect(statusPatch({ desired: 1, synced: 1, confirmationUsed: '5' }, { desired: 2, synced: 1 })).toEqual({
      desired: 2,
      confirmationUsed: null,
    });
    expect(statusPatch(undefined, { desired: 2 })).toEqual({ desired: 2 });
    expect(statusPatch({ a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } })).toBeUndefined();
  });
});

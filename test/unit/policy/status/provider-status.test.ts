import { describe, expect, test } from 'vitest';
import type { ProviderState } from '../../../../src/policy/terms/provider-id.ts';
import {
  providerStatus,
  statusPatch,
  type StatusFacts,
} from '../../../../src/policy/status/provider-status.ts';
import { noViolations, syncedFacts as facts, syncedState as state } from '../../../support/status-facts.ts';

const now = new Date('2026-11-21T12:00:00.123Z');
const failure = { namespace: 'a', kind: 'Secret', name: 's', reason: 'Rejected', message: 'no' };
const skipped = {
  namespace: 'a',
  kind: 'RoleBinding',
  name: 'viewers',
  message: 'annotation ad/view is missing',
};
const violation = {
  namespace: 'old',
  policy: 'p',
  rule: 'namespaces.required',
  path: 'x',
  found: 'y',
  accepted: 'z',
};
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

const withFailure = { failures: [failure] };

describe('the conditions of a provider', () => {
  test.each<readonly [string, Partial<StatusFacts>, Partial<ProviderState>, Record<string, string>]>([
    ['a provider whose objects are in sync is ready', {}, {}, { Ready: 'True Synced' }],
    [
      'a provider with a failed object is not ready',
      { counts: { ...facts.counts, failed: 1 }, ...withFailure },
      {},
      { Ready: 'False Failed' },
    ],
    [
      'a provider with an object that cannot be removed is not ready',
      { counts: { ...facts.counts, stuck: 1 }, ...withFailure },
      {},
      { Ready: 'False Failed' },
    ],
    [
      'a provider with a conflict is not ready',
      { counts: { ...facts.counts, conflicts: 1 }, ...withFailure },
      {},
      { Ready: 'False Conflicts' },
    ],
    [
      'a provider with namespaces left to reconcile is reconciling',
      { waiting: 2 },
      {},
      { Ready: 'False Reconciling', Reconciling: 'True Reconciling' },
    ],
    [
      'a provider whose deletions the fuse holds back is stalled',
      { held: { count: 30, recent: 0, limit: 10, since: 0 } },
      {},
      { Ready: 'False TooManyDeletions', Stalled: 'True TooManyDeletions' },
    ],
    [
      'the fuse counts for more than namespaces left to reconcile',
      { held: { count: 30, recent: 0, limit: 10, since: 0 }, waiting: 2 },
      {},
      { Ready: 'False TooManyDeletions', Stalled: 'True TooManyDeletions' },
    ],
    [
      'a provider that does not load is stalled',
      { problem: 'spec: found x; accepted: y' },
      { isValid: false },
      { Ready: 'False Invalid', Stalled: 'True Invalid' },
    ],
    ['a suspended provider in sync is ready', {}, { isSuspended: true }, { Ready: 'True Suspended' }],
    [
      'a suspended provider with a failed object is not ready',
      { counts: { ...facts.counts, failed: 1 }, ...withFailure },
      { isSuspended: true },
      { Ready: 'False Suspended' },
    ],
    [
      'a provider that is being deleted is reconciling',
      { counts: { ...facts.counts, desired: 0, synced: 0 } },
      { isDeleting: true },
      { Ready: 'False Deleting', Reconciling: 'True Deleting' },
    ],
  ])('%s', (_what, fields, owner, conditions) => {
    expect(conditionsOf(fields, owner)).toEqual(conditions);
  });

  const noObjects = { ...facts.counts, desired: 0, synced: 0 };
  test.each<readonly [string, Partial<StatusFacts>, Partial<ProviderState>]>([
    ['3 objects are in sync', {}, {}],
    ['1 object is in sync', { counts: { ...noObjects, desired: 1, synced: 1 } }, {}],
    [
      '2 violations, first in namespace old: namespaces.required; 3 objects are in sync',
      { violations: { ...noViolations, count: 2, top: [violation] } },
      {},
    ],
    [
      '3 objects are in sync; 2 skipped, first RoleBinding viewers in namespace a: annotation ad/view is missing',
      { counts: { ...facts.counts, skipped: 2 }, skipped: [skipped] },
      {},
    ],
    [
      'no object is provided; 2 skipped, first RoleBinding viewers in namespace a: annotation ad/view is missing',
      { counts: { ...noObjects, skipped: 2 }, skipped: [skipped] },
      {},
    ],
    [
      '1 violation, first RoleBinding root in namespace old: rbac.allowedRoleRefs; 3 objects are in sync',
      {
        violations: {
          ...noViolations,
          count: 1,
          top: [{ ...violation, kind: 'RoleBinding', name: 'root', rule: 'rbac.allowedRoleRefs' }],
        },
      },
      {},
    ],
    [
      '3 objects are in sync; Secrets: judged when written',
      { violations: { ...noViolations, leavesOutSecrets: true } },
      {},
    ],
    [
      'no namespace matches now',
      { counts: noObjects, matched: 0, withoutEffect: ['no namespace matches now'] },
      {},
    ],
    [
      '3 objects are in sync; spec.exceptions[0] expired',
      { withoutEffect: ['spec.exceptions[0] expired'] },
      {},
    ],
    ['the matching namespaces need no object', { counts: noObjects }, { provides: true }],
    ['this policy has rules only and provides no objects', { counts: noObjects }, { provides: false }],
    ['suspended: nothing is created, changed or deleted, not even at its expiry', {}, { isSuspended: true }],
    ['2 namespaces left to reconcile', { waiting: 2 }, {}],
    [
      '1 object failed; first Secret s in namespace a: no',
      { counts: { ...facts.counts, failed: 1 }, ...withFailure },
      {},
    ],
    [
      '1 object failed; first Secret s in namespace b: no',
      {
        counts: { ...facts.counts, failed: 1, conflicts: 1 },
        failures: [
          { ...failure, reason: 'AlreadyExists', message: 'it exists' },
          { ...failure, namespace: 'b' },
        ],
      },
      {},
    ],
    [
      '1 conflict; first in namespace a: no',
      {
        counts: { ...facts.counts, conflicts: 1 },
        failures: [{ namespace: 'a', reason: 'x', message: 'no' }],
      },
      {},
    ],
  ])('the message is: %s', (message, fields, owner) => {
    const { conditions } = providerStatus(
      { ...facts, ...fields, state: { ...state, ...owner } },
      undefined,
      now,
    ) as { conditions: readonly { type: string; message: string }[] };
    expect(conditions.find(({ type }) => type === 'Ready')?.message).toBe(message);
  });

  test('a share reports its source in a condition of its own', () => {
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

describe('the status of a provider', () => {
  test('a later status with the same facts needs no patch', () => {
    const stored = providerStatus(facts, undefined, now);
    expect(
      statusPatch(stored, providerStatus(facts, stored, new Date('2027-01-01T00:00:00Z'))),
    ).toBeUndefined();
  });

  test('lastTransitionTime changes with the status of a condition, and only then', () => {
    const stored = providerStatus(facts, undefined, now);
    const later = new Date('2027-01-01T00:00:00Z');
    const times = (status: unknown) =>
      (status as { conditions: { lastTransitionTime: string }[] }).conditions.map(
        ({ lastTransitionTime }) => lastTransitionTime,
      );
    expect(times(stored)).toEqual(['2026-11-21T12:00:00Z']);
    expect(
      times(providerStatus({ ...facts, counts: { ...facts.counts, desired: 9, synced: 9 } }, stored, later)),
    ).toEqual(times(stored));
    expect(times(providerStatus({ ...facts, waiting: 1 }, stored, later))).toEqual([
      '2027-01-01T00:00:00Z',
      '2027-01-01T00:00:00Z',
    ]);
  });

  test('conditions of an earlier version that are no longer reported are removed', () => {
    const idle = ['Reconciling', 'Stalled'].map((type) => ({
      type,
      status: 'False',
      reason: 'Idle',
      message: '',
    }));
    const patch = statusPatch({ conditions: idle }, providerStatus(facts, { conditions: idle }, now));
    expect(patch).toMatchObject({ conditions: [{ type: 'Ready', status: 'True' }] });
    expect(patch?.['conditions']).toHaveLength(1);
  });

  test('the counts stay while the stored version does not load', () => {
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
    ['no confirmation is not used', {}, true, undefined],
    ['a confirmation that the fuse needs is not used', { confirmation: '5' }, false, undefined],
    ['a confirmation that the fuse no longer needs is used', { confirmation: '5' }, true, '5'],
    ['a used confirmation stays used', { confirmation: '5', confirmationUsed: '5' }, false, '5'],
    ['another confirmation is not used', { confirmation: '6', confirmationUsed: '5' }, false, undefined],
    ['a removed confirmation is no longer used', { confirmationUsed: '5' }, true, undefined],
  ])('%s', (_what, owner, isConfirmationSpent, expected) => {
    const status = providerStatus(
      { ...facts, isConfirmationSpent, state: { ...state, ...owner } },
      undefined,
      now,
    );
    expect(status['confirmationUsed']).toBe(expected);
  });

  test('a text from a namespace or an object is cut and printable', () => {
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

  test('the patch sets changed fields and removes missing fields', () => {
    expect(statusPatch({ desired: 1, synced: 1, confirmationUsed: '5' }, { desired: 2, synced: 1 })).toEqual({
      desired: 2,
      confirmationUsed: null,
    });
    expect(statusPatch(undefined, { desired: 2 })).toEqual({ desired: 2 });
    expect(statusPatch({ a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } })).toBeUndefined();
    expect(statusPatch({ a: { x: 1, y: 2 } }, { a: { x: 3 } })).toEqual({ a: { x: 3, y: null } });
  });
});

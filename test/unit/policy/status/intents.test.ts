// The status of a binding says which intents it keeps, with what, and what is missing.
import { describe, expect, it, test } from 'vitest';
import { bindingStatus } from '../../../../src/api/intents/intent-binding.ts';
import { validate } from '../../../../src/schema/validate.ts';
import { providerStatus, type StatusFacts } from '../../../../src/policy/status/provider-status.ts';
import type { IntentFacts } from '../../../../src/policy/status/intents.ts';
import type { ProviderState } from '../../../../src/policy/terms/provider-id.ts';
import { syncedFacts, syncedState } from '../../../support/status-facts.ts';

const now = new Date('2026-11-21T12:00:00Z');
const id = 'SecurityIntentBinding/shop/b';

const kept: IntentFacts = {
  named: ['a', 'b'],
  bound: ['a', 'b'],
  missing: [],
  rendered: [{ adapter: 'network', intent: 'a', kind: 'NetworkPolicy', name: 'a' }],
  unsupported: [],
};
const missing: IntentFacts = { ...kept, bound: ['a'], missing: ['b'] };
const unsupported: IntentFacts = {
  ...kept,
  unsupported: [{ intent: 'b', id: 'virtualPatch', adapters: ['x'], message: 'it needs a feed' }],
};

function statusOf(
  intents: IntentFacts | undefined,
  facts: Partial<StatusFacts> = {},
  state: Partial<ProviderState> = {},
) {
  return providerStatus(
    { ...syncedFacts, intents, ...facts, state: { ...syncedState, id, ...state } },
    undefined,
    now,
  );
}

function conditionsOf(...given: Parameters<typeof statusOf>): Readonly<Record<string, readonly string[]>> {
  const conditions = statusOf(...given)['conditions'] as Record<
    'type' | 'status' | 'reason' | 'message',
    string
  >[];
  return Object.fromEntries(
    conditions.map(({ type, status, reason, message }) => [type, [`${status} ${reason}`, message]]),
  );
}

describe('IntentsResolved and Ready', () => {
  test.for([
    ['with all intents', kept, {}, {}, 'True Resolved', 'True Synced'],
    ['without one intent', missing, {}, {}, 'False IntentNotFound', 'False IntentNotFound'],
    ['with an intent that nothing keeps', unsupported, {}, {}, 'False Unsupported', 'False Unsupported'],
    [
      'with a missing and an unsupported intent',
      { ...unsupported, missing: ['c'] },
      {},
      {},
      'False IntentNotFound',
      'False IntentNotFound',
    ],
    [
      'suspended, without one intent',
      missing,
      {},
      { isSuspended: true },
      'False IntentNotFound',
      'False IntentNotFound',
    ],
    [
      'with a failed object, without one intent',
      missing,
      { counts: { ...syncedFacts.counts, failed: 1 } },
      {},
      'False IntentNotFound',
      'False Failed',
    ],
    ['while namespaces wait', missing, { waiting: 2 }, {}, 'False IntentNotFound', 'False Reconciling'],
    ['that does not load', kept, { problem: 'x' }, { isValid: false }, 'Unknown Invalid', 'False Invalid'],
    [
      'that has never loaded',
      undefined,
      { problem: 'x' },
      { isValid: false },
      'Unknown Invalid',
      'False Invalid',
    ],
  ] as const)('a binding %s', ([, intents, facts, state, resolved, ready]) => {
    const conditions = conditionsOf(intents, facts, state);
    expect([conditions['IntentsResolved']?.[0], conditions['Ready']?.[0]]).toEqual([resolved, ready]);
  });

  test.for([
    [kept, 'all 2 intents are kept'],
    [{ ...kept, named: ['a'] }, 'the intent is kept'],
    [missing, 'SecurityIntent b does not exist; create it, or remove it from spec.intents'],
    [
      { ...missing, missing: ['b', 'c', 'd'] },
      'SecurityIntent b does not exist (and 2 more); create it, or remove it from spec.intents',
    ],
    [unsupported, 'SecurityIntent b (virtualPatch) is not kept: it needs a feed'],
  ] as const)('%#: the message says what to do', ([intents, message]) => {
    expect(conditionsOf(intents)['IntentsResolved']?.[1]).toBe(message);
  });

  it('Ready says what is in sync, besides what is missing', () => {
    expect(conditionsOf(missing)['Ready']?.[1]).toBe(
      'SecurityIntent b does not exist; create it, or remove it from spec.intents; 3 objects are in sync',
    );
  });

  it('a policy has no such condition', () => {
    expect(conditionsOf(undefined, {}, { id: 'NamespacePolicy/p' })).not.toHaveProperty('IntentsResolved');
  });
});

it('the fields list bound intents, what is rendered and what is not kept, as the CRD allows', () => {
  const status = statusOf(unsupported);
  expect(status).toMatchObject({
    intents: 2,
    boundIntents: ['a', 'b'],
    rendered: [{ adapter: 'network', intent: 'a', kind: 'NetworkPolicy', name: 'a' }],
    unsupported: [{ intent: 'b', id: 'virtualPatch', adapters: ['x'], message: 'it needs a feed' }],
    matched: 2,
    desired: 3,
    skipped: 0,
  });
  expect(validate(bindingStatus, status)).toMatchObject({ ok: true });
});

it('a status stays within the limits of the CRD, whatever the intents give', () => {
  const part = kept.rendered[0] ?? { adapter: '', intent: '', kind: '', name: '' };
  const names = Array.from({ length: 20 }, (_, index) => `intent-${index}`);
  const many: IntentFacts = {
    named: names,
    bound: names,
    missing: [],
    rendered: Array.from({ length: 300 }, () => part),
    unsupported: names.map((intent) => ({
      intent,
      id: 'virtualPatch',
      adapters: Array.from({ length: 20 }, () => 'x'),
      message: 'y'.repeat(5000),
    })),
  };
  expect(validate(bindingStatus, statusOf(many))).toMatchObject({ ok: true });
});

it('a confirmation is asked for in the namespace of the binding', () => {
  const held = { count: 5, recent: 0, limit: 1, since: 0 };
  expect(conditionsOf(kept, { held })['Stalled']?.[1]).toContain(
    'kubectl annotate securityintentbinding.reeve.dev b -n shop reeve.dev/confirm-deletions=5 --overwrite',
  );
});

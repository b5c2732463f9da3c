// The plan of an uninstall: objects fare as if their provider were deleted, with any number confirmed.
import { describe, expect, test } from 'vitest';
import type { ObjectWriter } from '../../../src/base/object-writer.ts';
import { observeObject, type Observed } from '../../../src/policy/plan/observed.ts';
import type { ProviderState } from '../../../src/policy/terms/provider-id.ts';
import { clearContents, countOf, planContents } from '../../../src/uninstall/contents.ts';
import { defaultProviderState } from '../../support/owner-state.ts';

const state: ProviderState = {
  ...defaultProviderState,
  maxDeletions: 1,
};

function marked(name: string, owner?: string, more: object = {}): Observed {
  return observeObject(
    { apiVersion: 'v1', kind: 'ConfigMap' },
    {
      metadata: {
        name,
        namespace: 'team-a',
        ...more,
        labels: { 'app.kubernetes.io/managed-by': 'reeve' },
        ...(owner === undefined ? {} : { annotations: { 'reeve.dev/owner': owner } }),
      },
    },
  );
}

const three = ['a', 'b', 'c'].map((name) => marked(name, state.id));

describe('the plan', () => {
  test.for<readonly [string, Partial<ProviderState> | undefined, boolean, 'delete' | 'release', string]>([
    ['deletes more objects than the policy allows', {}, false, 'delete', ''],
    ['deletes objects of a policy that allows no deletion', { maxDeletions: 0 }, false, 'delete', ''],
    ['deletes objects of a policy that is being deleted', { isDeleting: true }, false, 'delete', ''],
    ['deletes more objects than were confirmed on the policy', { confirmation: '2' }, false, 'delete', ''],
    [
      'releases objects of a policy with deletionPolicy Orphan',
      { deletionPolicy: 'Orphan' },
      false,
      'release',
      'deletionPolicy: Orphan',
    ],
    ['releases objects of a suspended policy', { isSuspended: true }, false, 'release', 'it is suspended'],
    [
      'releases objects of a policy that does not load',
      { isValid: false },
      false,
      'release',
      'it does not load',
    ],
    ['releases objects of a deleted policy', undefined, false, 'release', 'it no longer exists'],
    ['releases all objects with --keep-contents', {}, true, 'release', '--keep-contents'],
  ])('%s', ([, parts, keepContents, fate, reason]) => {
    const providers = parts === undefined ? [] : [{ ...state, ...parts }];
    const plan = planContents(
      { providers, marked: three, accounts: [], grants: [], unseen: [] },
      keepContents,
    );
    expect(plan).toEqual({
      providers: [{ provider: state.id, fate, reason, objects: three }],
      accounts: 0,
      grants: 0,
      foreign: [],
    });
    expect(countOf(plan, fate === 'delete' ? 'deleted' : 'kept')).toBe(3);
  });

  test('it gives adopted objects back, and counts them among those that stay', () => {
    const annotations = { 'reeve.dev/owner': state.id, 'reeve.dev/adopted': 'true' };
    const metadata = { name: 'd', namespace: 'team-a', labels: { 'app.kubernetes.io/managed-by': 'reeve' } };
    const type = { apiVersion: 'v1', kind: 'ConfigMap' };
    const adopted = observeObject(type, { metadata: { ...metadata, annotations } });
    const plan = planContents(
      { providers: [state], marked: [...three, adopted], accounts: [], grants: [], unseen: [] },
      false,
    );
    expect(plan.providers.map(({ fate, objects }) => [fate, objects.length])).toEqual([
      ['delete', 3],
      ['give-back', 1],
    ]);
    expect([countOf(plan, 'deleted'), countOf(plan, 'kept')]).toEqual([3, 1]);
  });

  test('it leaves objects alone that name no provider', () => {
    const others = [marked('x'), marked('y', 'Deployment/z')];
    const facts = { providers: [state], marked: [...others, ...three], accounts: [], grants: [], unseen: [] };
    expect(planContents(facts, false)).toMatchObject({ providers: [{ objects: three }], foreign: others });
  });

  test('it lists the providers by name', () => {
    const share = { ...state, id: 'SecretShare/s' } as const;
    const facts = {
      providers: [state, share],
      marked: [marked('s', share.id), ...three],
      accounts: [],
      grants: [],
      unseen: [],
    };
    const plan = planContents(facts, false);
    expect(plan.providers.map(({ provider }) => provider)).toEqual([state.id, share.id]);
    expect([countOf(plan, 'deleted'), countOf(plan, 'kept')]).toEqual([4, 0]);
  });
});

test('an object that waits for the finalizer of another program is not deleted again, and holds nothing up', async () => {
  const ending = marked('a', state.id, { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/y'] });
  const facts = { providers: [state], marked: [ending], accounts: [], grants: [], unseen: [] };
  const writer = undefined as unknown as ObjectWriter;
  const removal = { facts: () => Promise.resolve(facts), writer, say: () => 0, patienceMs: 0 };
  expect(await clearContents({ ...removal, keepContents: false })).toEqual([]);
});

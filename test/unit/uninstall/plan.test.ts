// What becomes of objects when Reeve goes: the same as if their policy or share went, with any number confirmed.
import { describe, expect, test } from 'vitest';
import { observeObject, type Observed } from '../../../src/policy/plan/observed.ts';
import type { ProviderState } from '../../../src/policy/terms/provider-id.ts';
import { countOf, planContents } from '../../../src/uninstall/plan.ts';
import { defaultProviderState } from '../../support/owner-state.ts';

const state: ProviderState = {
  ...defaultProviderState,
  maxDeletions: 1,
};

function marked(name: string, owner?: string): Observed {
  return observeObject(
    { apiVersion: 'v1', kind: 'ConfigMap' },
    {
      metadata: {
        name,
        namespace: 'team-a',
        labels: { 'app.kubernetes.io/managed-by': 'reeve' },
        ...(owner === undefined ? {} : { annotations: { 'reeve.dev/owner': owner } }),
      },
    },
  );
}

const three = ['a', 'b', 'c'].map((name) => marked(name, state.id));

describe('objects', () => {
  test.for<readonly [string, Partial<ProviderState> | undefined, boolean, 'delete' | 'release', string]>([
    ['of a policy, beyond its limit', {}, false, 'delete', ''],
    ['of one that is to delete nothing at all', { maxDeletions: 0 }, false, 'delete', ''],
    ['of one that goes already', { isDeleting: true }, false, 'delete', ''],
    ['confirmed for fewer', { confirmation: '2' }, false, 'delete', ''],
    [
      'of one that leaves them behind',
      { deletionPolicy: 'Orphan' },
      false,
      'release',
      'deletionPolicy: Orphan',
    ],
    ['of one that is suspended', { isSuspended: true }, false, 'release', 'it is suspended'],
    ['of one that does not load', { isValid: false }, false, 'release', 'it does not load'],
    ['of one that is gone', undefined, false, 'release', 'it is not there any more'],
    ['that are to be kept', {}, true, 'release', '--keep-contents'],
  ])('%s', ([, parts, keepContents, fate, reason]) => {
    const owners = parts === undefined ? [] : [{ ...state, ...parts }];
    const plan = planContents({ owners, marked: three, unseen: [] }, keepContents);
    expect(plan).toEqual({ owners: [{ owner: state.id, fate, reason, objects: three }], foreign: [] });
    expect(countOf(plan, fate)).toBe(3);
  });

  test('that name nobody are left to whoever has labeled them', () => {
    const others = [marked('x'), marked('y', 'Deployment/z')];
    const facts = { owners: [state], marked: [...others, ...three], unseen: [] };
    expect(planContents(facts, false)).toMatchObject({ owners: [{ objects: three }], foreign: others });
  });

  test('of several are told one owner after the other, by name', () => {
    const share = { ...state, id: 'SecretShare/s' } as const;
    const facts = { owners: [state, share], marked: [marked('s', share.id), ...three], unseen: [] };
    const plan = planContents(facts, false);
    expect(plan.owners.map(({ owner }) => owner)).toEqual([state.id, share.id]);
    expect([countOf(plan, 'delete'), countOf(plan, 'release')]).toEqual([4, 0]);
  });
});

import { describe, expect, test } from 'vitest';
import { judgeFuse, parseConfirmation } from '../../../../src/policy/plan/fuse.ts';
import type { ProviderState } from '../../../../src/policy/terms/provider-id.ts';
import { defaultProviderState } from '../../../support/owner-state.ts';

const owner: ProviderState = {
  ...defaultProviderState,
  maxDeletions: 10,
};

describe('the fuse', () => {
  test.each<readonly [string, Partial<ProviderState> | undefined, number, number, boolean, string]>([
    ['nothing to lose', {}, 0, 0, false, 'delete'],
    ['as many as the limit', {}, 10, 0, false, 'delete'],
    ['one more', {}, 11, 0, false, 'hold'],
    ['some of them lately', {}, 5, 6, false, 'hold'],
    ['no deletion at all allowed', { maxDeletions: 0 }, 1, 0, false, 'hold'],
    ['confirmed', { confirmation: '11' }, 11, 0, false, 'delete'],
    ['confirmed for fewer', { confirmation: '10' }, 11, 0, false, 'hold'],
    ['confirmed, and spent', { confirmation: '11', confirmationUsed: '11' }, 11, 0, false, 'hold'],
    ['confirmed anew', { confirmation: '12', confirmationUsed: '11' }, 11, 0, false, 'delete'],
    ['confirmed with something that is no number', { confirmation: 'yes' }, 11, 0, false, 'hold'],
    ['going', { isDeleting: true }, 10, 0, false, 'delete'],
    ['going with more than the limit', { isDeleting: true }, 11, 0, false, 'release'],
    [
      'going, confirmed',
      { isDeleting: true, confirmation: '11', confirmationUsed: '11' },
      11,
      0,
      false,
      'delete',
    ],
    ['going with its kind', { isDeleting: true }, 1, 0, true, 'release'],
    ['its kind going alone', {}, 1, 0, true, 'delete'],
    ['going while suspended', { isDeleting: true, isSuspended: true }, 1, 0, false, 'release'],
    ['going while it does not load', { isDeleting: true, isValid: false }, 1, 0, false, 'release'],
    ['orphaning', { deletionPolicy: 'Orphan' }, 1, 0, false, 'release'],
    ['orphaning more than the limit', { deletionPolicy: 'Orphan' }, 99, 0, false, 'release'],
    ['unknown', undefined, 1, 0, false, 'release'],
  ])('%s', (_what, fields, outstanding, recent, isKindTerminating, expected) => {
    const state = fields === undefined ? undefined : { ...owner, ...fields };
    expect(judgeFuse(state, { outstanding, recent }, isKindTerminating).kind).toBe(expected);
  });

  test.each([
    ['0', 0],
    ['17', 17],
    ['', undefined],
    [' 1', undefined],
    ['1e3', undefined],
    ['-1', undefined],
    ['1234567890', undefined],
    [undefined, undefined],
  ])('reads the confirmation %j as %j', (text, expected) => {
    expect(parseConfirmation(text)).toBe(expected);
  });
});

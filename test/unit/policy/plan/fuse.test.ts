import { describe, expect, test } from 'vitest';
import {
  allowsDeletions,
  heldText,
  judgeFuse,
  orphanedText,
  parseConfirmation,
  termsOf,
} from '../../../../src/policy/plan/fuse.ts';
import type { ProviderState } from '../../../../src/policy/terms/provider-id.ts';
import { defaultProviderState } from '../../../support/owner-state.ts';

const owner: ProviderState = {
  ...defaultProviderState,
  maxDeletions: 10,
};

describe('the fuse', () => {
  test.each<readonly [string, Partial<ProviderState> | undefined, number, boolean, string]>([
    ['a provider that is not deleted lets its deletions wait for a count', {}, 99, false, 'wait'],
    ['a provider being deleted deletes as many as the limit', { isDeleting: true }, 10, false, 'delete'],
    ['a provider being deleted releases more than the limit', { isDeleting: true }, 11, false, 'release'],
    [
      'a provider being deleted deletes a confirmed number, also with a used confirmation',
      { isDeleting: true, confirmation: '11', confirmationUsed: '11' },
      11,
      false,
      'delete',
    ],
    ['a provider whose CRD is being deleted releases its objects', { isDeleting: true }, 1, true, 'release'],
    ['a CRD being deleted changes nothing for a provider that is not', {}, 1, true, 'wait'],
    [
      'a suspended provider being deleted releases its objects',
      { isDeleting: true, isSuspended: true },
      1,
      false,
      'release',
    ],
    [
      'an invalid provider being deleted releases its objects',
      { isDeleting: true, isValid: false },
      1,
      false,
      'release',
    ],
    [
      'a provider with deletionPolicy Orphan releases its objects',
      { deletionPolicy: 'Orphan' },
      1,
      false,
      'release',
    ],
    [
      'a provider with deletionPolicy Orphan releases more than the limit',
      { deletionPolicy: 'Orphan' },
      99,
      false,
      'release',
    ],
    ['an unknown provider releases its objects', undefined, 1, false, 'release'],
  ])('%s', (_what, fields, count, isKindTerminating, expected) => {
    const state = fields === undefined ? undefined : { ...owner, ...fields };
    expect(judgeFuse(state, count, isKindTerminating).kind).toBe(expected);
  });

  test.each<readonly [string, Partial<ProviderState>, number, number, boolean]>([
    ['no deletion is allowed', {}, 0, 0, true],
    ['as many deletions as the limit are allowed', {}, 10, 0, true],
    ['one deletion above the limit is not allowed', {}, 11, 0, false],
    ['deletions of the last ten minutes count', {}, 5, 6, false],
    ['a limit of zero allows no deletion', { maxDeletions: 0 }, 1, 0, false],
    ['a confirmed number of deletions is allowed', { confirmation: '11' }, 11, 0, true],
    [
      'a confirmation must reach the number that waits, without earlier deletions',
      { confirmation: '5' },
      5,
      9,
      true,
    ],
    ['a confirmation of fewer deletions does not count', { confirmation: '10' }, 11, 0, false],
    ['a used confirmation does not count', { confirmation: '11', confirmationUsed: '11' }, 11, 0, false],
    [
      'a new confirmation counts after a used one',
      { confirmation: '12', confirmationUsed: '11' },
      11,
      0,
      true,
    ],
    ['a confirmation that is not a number does not count', { confirmation: 'yes' }, 11, 0, false],
  ])('%s', (_what, fields, count, earlier, expected) => {
    const terms = termsOf({ ...owner, ...fields });
    expect(allowsDeletions({ count, earlier, ...terms })).toBe(expected);
  });

  test('the text of held deletions tells the objects that exist from those deleted before', () => {
    expect(heldText({ count: 1, recent: 2, limit: 2, since: 0 })).toBe(
      '1 object would be deleted, after 2 in the ten minutes before, and maxDeletions is 2',
    );
    expect(heldText({ count: 3, recent: 0, limit: 2, since: 0 })).toBe(
      '3 objects would be deleted, and maxDeletions is 2',
    );
  });

  test('the text of orphaned objects names their number and the cause', () => {
    expect(orphanedText('KindDeleted', 10, 'NamespacePolicy/apps')).toBe(
      '10 objects stay without Reeve: its CustomResourceDefinition was deleted too; find them by the label ' +
        'reeve.dev/orphaned-from=apps; a new NamespacePolicy of this name takes them back',
    );
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
  ])('the confirmation %j is read as %j', (text, expected) => {
    expect(parseConfirmation(text)).toBe(expected);
  });
});

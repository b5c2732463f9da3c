import { describe, expect, test } from 'vitest';
import { heldText, judgeFuse, orphanedText, parseConfirmation } from '../../../../src/policy/plan/fuse.ts';
import type { ProviderState } from '../../../../src/policy/terms/provider-id.ts';
import { defaultProviderState } from '../../../support/owner-state.ts';

const owner: ProviderState = {
  ...defaultProviderState,
  maxDeletions: 10,
};

describe('the fuse', () => {
  test.each<readonly [string, Partial<ProviderState> | undefined, number, number, boolean, string]>([
    ['no deletion passes', {}, 0, 0, false, 'delete'],
    ['as many deletions as the limit pass', {}, 10, 0, false, 'delete'],
    ['one deletion above the limit is held', {}, 11, 0, false, 'hold'],
    ['deletions of the last minute count', {}, 5, 6, false, 'hold'],
    ['a limit of zero holds every deletion', { maxDeletions: 0 }, 1, 0, false, 'hold'],
    ['a confirmed number of deletions passes', { confirmation: '11' }, 11, 0, false, 'delete'],
    ['a confirmation of fewer deletions does not count', { confirmation: '10' }, 11, 0, false, 'hold'],
    [
      'a used confirmation does not count',
      { confirmation: '11', confirmationUsed: '11' },
      11,
      0,
      false,
      'hold',
    ],
    [
      'a new confirmation counts after a used one',
      { confirmation: '12', confirmationUsed: '11' },
      11,
      0,
      false,
      'delete',
    ],
    ['a confirmation that is not a number does not count', { confirmation: 'yes' }, 11, 0, false, 'hold'],
    ['a provider being deleted deletes as many as the limit', { isDeleting: true }, 10, 0, false, 'delete'],
    ['a provider being deleted releases more than the limit', { isDeleting: true }, 11, 0, false, 'release'],
    [
      'a provider being deleted deletes a confirmed number, also with a used confirmation',
      { isDeleting: true, confirmation: '11', confirmationUsed: '11' },
      11,
      0,
      false,
      'delete',
    ],
    [
      'a provider whose CRD is being deleted releases its objects',
      { isDeleting: true },
      1,
      0,
      true,
      'release',
    ],
    ['a CRD being deleted changes nothing for a provider that is not', {}, 1, 0, true, 'delete'],
    [
      'a suspended provider being deleted releases its objects',
      { isDeleting: true, isSuspended: true },
      1,
      0,
      false,
      'release',
    ],
    [
      'an invalid provider being deleted releases its objects',
      { isDeleting: true, isValid: false },
      1,
      0,
      false,
      'release',
    ],
    [
      'a provider with deletionPolicy Orphan releases its objects',
      { deletionPolicy: 'Orphan' },
      1,
      0,
      false,
      'release',
    ],
    [
      'a provider with deletionPolicy Orphan releases more than the limit',
      { deletionPolicy: 'Orphan' },
      99,
      0,
      false,
      'release',
    ],
    ['an unknown provider releases its objects', undefined, 1, 0, false, 'release'],
  ])('%s', (_what, fields, outstanding, recent, isKindTerminating, expected) => {
    const state = fields === undefined ? undefined : { ...owner, ...fields };
    expect(judgeFuse(state, { outstanding, recent }, isKindTerminating).kind).toBe(expected);
  });

  test('the text of held deletions tells the objects that exist from those deleted before', () => {
    expect(heldText({ outstanding: 1, recent: 2, limit: 2 })).toBe(
      '1 object would be deleted, after 2 within the last minute, and maxDeletions is 2',
    );
    expect(heldText({ outstanding: 3, recent: 0, limit: 2 })).toBe(
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

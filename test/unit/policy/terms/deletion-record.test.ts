import { expect, test } from 'vitest';
import {
  deletionFields,
  deletionRecordOf,
  noDeletions,
  recentIn,
  withDeletions,
  type DeletionRecord,
} from '../../../../src/policy/terms/deletion-record.ts';

const noon = Date.parse('2026-11-23T12:00:00Z');
const record: DeletionRecord = {
  held: { count: 38, since: noon },
  recent: [
    { at: noon - 600_000, count: 4 },
    { at: noon - 10_000, count: 2 },
  ],
  underway: ['a', 'b'],
};

test('a status gives back what was written to it', () => {
  expect(deletionRecordOf(deletionFields(record))).toEqual(record);
  expect(deletionFields(record)['held']).toEqual({ count: 38, since: '2026-11-23T12:00:00Z' });
});

test('nothing to remember needs no field, and removes the fields of before', () => {
  expect(deletionFields(noDeletions)).toEqual({});
  expect(withDeletions({ matched: 3, ...deletionFields(record) }, noDeletions)).toEqual({ matched: 3 });
});

test.each([
  undefined,
  null,
  'text',
  {},
  { held: { count: 3 }, deletions: [] },
  { held: { since: 'yesterday' }, deletions: { recent: {}, underway: 'a' } },
  { deletions: { recent: [{ at: 3, count: 1 }, null], underway: [1, null] } },
])('the status %j remembers nothing', (status) => {
  expect(deletionRecordOf(status)).toBe(noDeletions);
});

test('the ten minutes end with the hold, however long it lasts', () => {
  expect(recentIn(record, new Date(noon + 86_400_000))).toBe(2);
  expect(recentIn({ ...record, held: undefined }, new Date(noon))).toBe(2);
  expect(recentIn({ ...record, held: undefined }, new Date(noon + 600_000))).toBe(0);
});

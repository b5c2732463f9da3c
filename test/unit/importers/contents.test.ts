// Subjects of bindings, as other tools write them.
import { expect, test } from 'vitest';
import { boundSubjects } from '../../../src/importers/contents.ts';
import { Reader } from '../../../src/importers/reader.ts';

test('a subject without a kind or a name is reported, and the others are kept', () => {
  const reader = new Reader([{ kind: 'User', name: 'alice' }, { name: 'bob' }, { kind: 'Group' }, 5]);
  expect(boundSubjects(reader)).toEqual([{ kind: 'User', name: 'alice' }]);
  expect(reader.lost().map(({ from }) => from.path)).toEqual(['[1]', '[2]']);
  expect(reader.unread()).toEqual([[3]]);
});

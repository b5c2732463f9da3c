// Label selectors as text.
import { parseSelectorText } from '../../../src/schema/selector.ts';
import { expect, test } from 'vitest';

test('each requirement of a text is one of the selector', () => {
  expect(parseSelectorText('a==b , example.com/c,!d,e!=f,g in (h, i),j notin (k),l=')).toEqual([
    { key: 'a', operator: 'In', values: ['b'] },
    { key: 'example.com/c', operator: 'Exists' },
    { key: 'd', operator: 'DoesNotExist' },
    { key: 'e', operator: 'NotIn', values: ['f'] },
    { key: 'g', operator: 'In', values: ['h', 'i'] },
    { key: 'j', operator: 'NotIn', values: ['k'] },
    { key: 'l', operator: 'In', values: [''] },
  ]);
});

test('an empty text has no requirement', () => {
  expect(parseSelectorText(' ')).toEqual([]);
});

test.each(['a > 3', 'a in b', '-a', 'a=b=c', 'a in (b', '!a=b', 'a=ä'])('%j is no requirement', (text) => {
  expect(parseSelectorText(`x=y,${text}`)).toEqual(expect.any(String));
});

// Checks that only the class and the stack of an error are logged, never its message.
import { expect, test } from 'vitest';
import { traceOf } from '../../../src/observe/log.ts';

test('the class and the stack of an error are reported, and its message is not', () => {
  const { error, frames } = traceOf(new TypeError('c4n4ry\n    at c4n4ry (c4n4ry:1:1)'));
  expect(error).toBe('TypeError');
  expect(frames[0]).toMatch(/^at .*error-frames\.test\.ts:\d+:\d+/);
  expect(JSON.stringify(frames)).not.toContain('c4n4ry');
});

test('a stack in an unknown format is left out', () => {
  const changed = new Error('before');
  expect(changed.stack).toContain('before');
  changed.message = 'after';
  expect(traceOf(changed).frames).toEqual([]);
  const own = new Error('x');
  own.stack = 'c4n4ry';
  expect(traceOf(own).frames).toEqual([]);
});

test.each([
  ['c4n4ry', 'string'],
  [undefined, 'undefined'],
  [null, 'object'],
  [{ message: 'c4n4ry' }, 'object'],
])('the type is reported for %j, which is not an error', (thrown, error) => {
  expect(traceOf(thrown)).toEqual({ error, frames: [] });
});

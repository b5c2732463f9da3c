// What of an error may be logged: its name and where it was thrown, never its text.
import { expect, test } from 'vitest';
import { traceOf } from '../../../src/observe/error-frames.ts';

test('tells the name of an error and where it was, but not its text', () => {
  const { error, frames } = traceOf(new TypeError('c4n4ry\n    at c4n4ry (c4n4ry:1:1)'));
  expect(error).toBe('TypeError');
  expect(frames[0]).toMatch(/^at .*error-frames\.test\.ts:\d+:\d+/);
  expect(JSON.stringify(frames)).not.toContain('c4n4ry');
});

test('tells nothing of a stack that it does not understand', () => {
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
])('tells the type of what is no error: %j', (thrown, error) => {
  expect(traceOf(thrown)).toEqual({ error, frames: [] });
});

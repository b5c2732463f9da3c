// Listeners with `last` are called after all others, in whatever order they were added.
import { expect, test } from 'vitest';
import { Listeners } from '../../../src/base/listeners.ts';

test('a listener with `last` comes after listeners that were added later', () => {
  const listeners = new Listeners<string>();
  listeners.add('worker', { last: true });
  listeners.add('first cache');
  listeners.add('second cache');
  expect([...listeners]).toEqual(['first cache', 'second cache', 'worker']);
});

test('a listener is called no more after it unsubscribed', () => {
  const listeners = new Listeners<string>();
  const unsubscribe = [listeners.add('cache'), listeners.add('worker', { last: true })];
  for (const end of unsubscribe) end();
  expect([...listeners]).toEqual([]);
});

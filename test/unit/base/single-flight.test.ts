// Several callers ask for the same key at the same time, and some of them abort.
import { expect, test } from 'vitest';
import { SingleFlight } from '../../../src/base/abort.ts';
import { rejectionOf } from '../kube/stub-api-server.ts';

test('all callers at the same time get one answer, and a later caller gets a new one', async () => {
  const flights = new SingleFlight<number>();
  let asked = 0;
  const work = (): Promise<number> => Promise.resolve((asked += 1));
  expect(await Promise.all([flights.run('a', work), flights.run('a', work), flights.run('b', work)])).toEqual(
    [1, 1, 2],
  );
  expect(await flights.run('a', work)).toBe(3);
});

test('an error reaches all waiting callers, and not a later one', async () => {
  const flights = new SingleFlight<number>();
  const failing = (): Promise<number> => Promise.reject(new Error('no'));
  const failures = await Promise.all([
    rejectionOf(flights.run('a', failing)),
    rejectionOf(flights.run('a', failing)),
  ]);
  expect(failures).toEqual([new Error('no'), new Error('no')]);
  expect(await flights.run('a', () => Promise.resolve(1))).toBe(1);
});

test('a caller that aborts does not affect the other callers', async () => {
  const flights = new SingleFlight<number>();
  const { promise, resolve } = Promise.withResolvers<number>();
  const leaving = new AbortController();
  const first = rejectionOf(flights.run('a', () => promise, leaving.signal));
  const second = flights.run('a', () => Promise.resolve(2), new AbortController().signal);
  leaving.abort('gone');
  expect(await first).toBe('gone');
  resolve(1);
  expect(await second).toBe(1);
});

test('a late error does no harm when all callers have aborted', async () => {
  const flights = new SingleFlight<number>();
  const { promise, reject } = Promise.withResolvers<number>();
  const leaving = new AbortController();
  const only = rejectionOf(flights.run('a', () => promise, leaving.signal));
  leaving.abort('gone');
  expect(await only).toBe('gone');
  reject(new Error('late'));
  expect(await flights.run('b', () => Promise.resolve(1))).toBe(1);
});

test('a caller whose signal has already aborted starts no work', async () => {
  const asked: string[] = [];
  const work = (): Promise<number> => Promise.resolve(asked.push('x'));
  expect(await rejectionOf(new SingleFlight<number>().run('a', work, AbortSignal.abort('gone')))).toBe(
    'gone',
  );
  expect(asked).toEqual([]);
});

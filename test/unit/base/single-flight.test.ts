// Many who ask the same thing at the same time, and some who go away.
import { expect, test } from 'vitest';
import { SingleFlight } from '../../../src/base/single-flight.ts';
import { failureOf } from '../kube/stub-api-server.ts';

test('one answer for all who ask at the same time, and a new one for who asks later', async () => {
  const flights = new SingleFlight<number>();
  let asked = 0;
  const work = (): Promise<number> => Promise.resolve((asked += 1));
  expect(await Promise.all([flights.run('a', work), flights.run('a', work), flights.run('b', work)])).toEqual(
    [1, 1, 2],
  );
  expect(await flights.run('a', work)).toBe(3);
});

test('a failure is for all who wait, and not for who asks later', async () => {
  const flights = new SingleFlight<number>();
  const failing = (): Promise<number> => Promise.reject(new Error('no'));
  const failures = await Promise.all([
    failureOf(flights.run('a', failing)),
    failureOf(flights.run('a', failing)),
  ]);
  expect(failures).toEqual([new Error('no'), new Error('no')]);
  expect(await flights.run('a', () => Promise.resolve(1))).toBe(1);
});

test('one who goes away takes the answer from nobody', async () => {
  const flights = new SingleFlight<number>();
  const { promise, resolve } = Promise.withResolvers<number>();
  const leaving = new AbortController();
  const first = failureOf(flights.run('a', () => promise, leaving.signal));
  const second = flights.run('a', () => Promise.resolve(2), new AbortController().signal);
  leaving.abort('gone');
  expect(await first).toBe('gone');
  resolve(1);
  expect(await second).toBe(1);
});

test('when all have gone, a late failure disturbs nobody', async () => {
  const flights = new SingleFlight<number>();
  const { promise, reject } = Promise.withResolvers<number>();
  const leaving = new AbortController();
  const only = failureOf(flights.run('a', () => promise, leaving.signal));
  leaving.abort('gone');
  expect(await only).toBe('gone');
  reject(new Error('late'));
  expect(await flights.run('b', () => Promise.resolve(1))).toBe(1);
});

test('who has gone already asks nothing', async () => {
  const asked: string[] = [];
  const work = (): Promise<number> => Promise.resolve(asked.push('x'));
  expect(await failureOf(new SingleFlight<number>().run('a', work, AbortSignal.abort('gone')))).toBe('gone');
  expect(asked).toEqual([]);
});

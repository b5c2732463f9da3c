import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Deadline } from '../../../src/admission/http/deadline.ts';
import { LongDecisions } from '../../../src/admission/long-decisions.ts';
import type { Budget, Steps } from '../../../src/policy/terms/budget.ts';

/** A decision of one step. */
function* atOnce<T>(result: T): Steps<T> {
  yield;
  return result;
}

/** Starts with a clock that only the test moves. */
function start() {
  const clock = { time: 0, now: () => new Date(0), monotonic: () => clock.time };
  const decisions = new LongDecisions(clock);
  const make = <T>(decide: (budget: Budget) => Steps<T>, milliseconds = 4000) =>
    decisions.make(decide, new Deadline(clock, milliseconds));
  return { clock, make };
}

test('other work gets its turn between two slices of a long decision', async () => {
  const { clock, make } = start();
  const turns: string[] = [];
  const decision = make(function* steps() {
    for (let step = 1; step <= 3; step += 1) {
      turns.push(`step ${step}`);
      clock.time += 10;
      yield;
    }
    return 'decided';
  });
  const other = (async () => {
    for (let turn = 1; turn <= 2; turn += 1) {
      await setImmediate();
      turns.push('other');
    }
  })();
  expect(await decision).toBe('decided');
  await other;
  expect(turns.indexOf('other')).toBeLessThan(turns.indexOf('step 3'));
});

test('a decision begins only when the one before it has ended', async () => {
  const { clock, make } = start();
  const turns: string[] = [];
  const decide = (name: string) =>
    make(function* steps() {
      for (let step = 1; step <= 3; step += 1) {
        turns.push(name);
        clock.time += 10;
        yield;
      }
      return name;
    });
  expect(await Promise.all([decide('a'), decide('b')])).toEqual(['a', 'b']);
  expect(turns.join('')).toBe('aaabbb');
});

test('a decision whose time ends while it waits has no result, and the next one is made', async () => {
  const { clock, make } = start();
  const first = make(function* steps() {
    clock.time += 1000;
    yield;
    return 'first';
  });
  const late = make(() => atOnce('late'), 500);
  const next = make(() => atOnce('next'));
  expect(await Promise.all([first, late, next])).toEqual(['first', undefined, 'next']);
});

test('a decision that fails lets the next one begin', async () => {
  const { make } = start();
  const failing = make(() => {
    throw new TypeError('x');
  });
  await expect(failing).rejects.toThrow(TypeError);
  expect(await make(() => atOnce('next'))).toBe('next');
});

test('each step has a part of the budget, and all steps together leave time to ask for rights', async () => {
  const { clock, make } = start();
  const spent = await make(function* steps(budget) {
    const seen: boolean[] = [];
    for (const milliseconds of [99, 100, 50, 2751, 0]) {
      clock.time += milliseconds;
      seen.push(budget.isSpent());
      yield;
    }
    return seen;
  });
  expect(spent).toEqual([false, true, false, true, true]);
});

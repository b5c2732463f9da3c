import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Deadline } from '../../../src/base/clock.ts';
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
  const makeFor = async <T>(
    [user, subject]: readonly [string, string],
    decide: (budget: Budget) => Steps<T>,
    milliseconds = 4000,
  ) => {
    const made = await decisions.make({ user, subject }, decide, new Deadline(clock, milliseconds));
    return made.kind === 'made' ? made.value : { waitedFor: made.subject };
  };
  const make = <T>(decide: (budget: Budget) => Steps<T>) => makeFor(['ann', 'p'], decide);
  /** Returns a decision of three long steps, which are noted by its name. */
  const threeSteps = (name: string, turns: string[]) =>
    function* steps(): Steps<string> {
      for (let step = 1; step <= 3; step += 1) {
        turns.push(name);
        clock.time += 10;
        yield;
      }
      return name;
    };
  return { clock, make, makeFor, threeSteps };
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

test('a decision begins only when the one before it, of the same user, has ended', async () => {
  const { make, threeSteps } = start();
  const turns: string[] = [];
  expect(await Promise.all(['a', 'b'].map((name) => make(threeSteps(name, turns))))).toEqual(['a', 'b']);
  expect(turns.join('')).toBe('aaabbb');
});

test('decisions of two users take turns, however many one of them has asked for', async () => {
  const { makeFor, threeSteps } = start();
  const turns: string[] = [];
  const decide = (user: string) => makeFor([user, 'p'], threeSteps(user, turns));
  await Promise.all(['a', 'a', 'a', 'b'].map(decide));
  expect(turns.join('')).toBe('abababaaaaaa');
});

test('a decision that has waited for half its time names what is in front, and the next one is made', async () => {
  const { clock, makeFor } = start();
  const first = makeFor(['ann', 'slow'], function* steps() {
    clock.time += 1000;
    yield;
    return 'first';
  });
  const late = makeFor(['ann', 'late'], () => atOnce('late'), 1900);
  const next = makeFor(['ann', 'next'], () => atOnce('next'), 2100);
  const fourth = makeFor(['bob', 'late'], () => atOnce('of bob'), 100);
  expect(await Promise.all([first, late, next, fourth])).toEqual([
    'first',
    { waitedFor: 'slow' },
    'next',
    'of bob',
  ]);
});

test('a decision that fails lets the next one begin', async () => {
  const { make } = start();
  const failing = make(() => {
    throw new TypeError('x');
  });
  await expect(failing).rejects.toThrow(TypeError);
  expect(await make(() => atOnce('next'))).toBe('next');
});

test('each step has a part of the units, and a step that spends it leaves the next step its own', async () => {
  const { make } = start();
  const spent = await make(function* steps(budget) {
    const seen: boolean[] = [];
    for (const units of [499_999, 500_000, 0]) {
      budget.spend(units);
      seen.push(budget.isSpent());
      yield;
    }
    return [...seen, budget.isLate];
  });
  expect(spent).toEqual([false, true, false, false]);
});

test('all steps together have a limit, which no clock moves', async () => {
  const { make } = start();
  const stepsDone = await make(function* steps(budget) {
    let done = 0;
    for (; done < 100 && !budget.isSpent(); done += 1) {
      budget.spend(500_000);
      yield;
    }
    return [done, budget.isLate];
  });
  expect(stepsDone).toEqual([40, false]);
});

test('the time of all steps together leaves some to ask for rights, and its end is no fault of the units', async () => {
  const { clock, make } = start();
  const seen = await make(function* steps(budget) {
    const all: (readonly boolean[])[] = [];
    for (const milliseconds of [2999, 1, 0]) {
      clock.time += milliseconds;
      yield;
      all.push([budget.isSpent(), budget.isLate]);
    }
    return all;
  });
  expect(seen).toEqual([
    [false, false],
    [true, true],
    [true, true],
  ]);
});

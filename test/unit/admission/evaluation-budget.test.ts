import { expect, test } from 'vitest';
import { EvaluationBudget } from '../../../src/admission/judge-review.ts';

/** Starts a budget of a million units, due at 1000 ms of a clock that only the test moves. */
function start() {
  const clock = { time: 0, reads: 0 };
  const monotonic = (): number => {
    clock.reads += 1;
    return clock.time;
  };
  const budget = new EvaluationBudget(1_000_000, monotonic, 1000);
  const work = (policy: string, units: number): void => {
    budget.charge(policy);
    budget.spend(units);
  };
  return { budget, clock, work };
}

test('the policies that used most of the budget are named with their units, the most expensive first', () => {
  const { budget, work } = start();
  work('cheap', 1000);
  work('dear', 200_000);
  work('dearer', 300_000);
  work('dear', 200_000);
  work('idle', 0);
  expect(budget.isSpent()).toBe(false);
  expect(budget.dearest()).toEqual([
    { policy: 'dear', units: 400_000 },
    { policy: 'dearer', units: 300_000 },
  ]);
});

test('work before the first policy is charged to none, and at most three policies are named', () => {
  const { budget, work } = start();
  work('', 100_000);
  for (const policy of ['a', 'b', 'c', 'd']) work(policy, 50_000);
  expect(budget.dearest().map(({ policy }) => policy)).toEqual(['a', 'b', 'c']);
});

test('a budget ends with its units, and then no lack of time is reported', () => {
  const { budget, clock, work } = start();
  work('a', 999_999);
  expect(budget.isSpent()).toBe(false);
  clock.time = 2000;
  work('a', 1);
  expect(budget.isSpent()).toBe(true);
  expect(budget.isLate).toBe(false);
});

test('a budget ends when the answer is due, and says that this was a lack of time', () => {
  const { budget, clock, work } = start();
  clock.time = 1000;
  work('a', 500_000);
  expect(budget.isSpent()).toBe(true);
  expect(budget.isLate).toBe(true);
});

test('a review that does little work reads no clock', () => {
  const { budget, clock, work } = start();
  clock.time = 2000;
  for (let check = 1; check <= 100; check += 1) {
    work('a', 200);
    expect(budget.isSpent()).toBe(false);
  }
  expect(clock.reads).toBe(0);
  work('a', 1);
  expect(budget.isSpent()).toBe(true);
});

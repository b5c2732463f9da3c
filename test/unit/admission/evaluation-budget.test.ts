import { expect, test } from 'vitest';
import { EvaluationBudget } from '../../../src/admission/evaluation-budget.ts';

/** Starts a budget with a CPU time that only `work` spends. */
function start(isLate = false) {
  let time = 100;
  const clock = (): number => time;
  const budget = new EvaluationBudget({ cpuTime: clock, monotonic: clock }, 1000, isLate ? time : Infinity);
  const work = (policy: string, milliseconds: number): void => {
    budget.charge(policy);
    budget.isSpent();
    time += milliseconds;
  };
  return { budget, work };
}

test('the policies that used most of the time are named, the slowest first', () => {
  const { budget, work } = start();
  work('quick', 1);
  work('slow', 200);
  work('slower', 300);
  work('slow', 200);
  work('idle', 0);
  expect(budget.isSpent()).toBe(false);
  expect(budget.slowest()).toEqual(['slow', 'slower']);
});

test('time before the first policy is charged to none, and at most three policies are named', () => {
  const { budget, work } = start();
  work('', 500);
  for (const policy of ['a', 'b', 'c', 'd']) work(policy, 50);
  expect(budget.slowest()).toEqual(['a', 'b', 'c']);
});

test('a budget ends with its CPU time, or when the answer is due', () => {
  const { budget, work } = start();
  work('a', 999);
  expect(budget.isSpent()).toBe(false);
  work('a', 1);
  expect(budget.isSpent()).toBe(true);
  expect(start(true).budget.isSpent()).toBe(true);
});

test('a thread that waits for a CPU uses no budget', () => {
  let passed = 0;
  const budget = new EvaluationBudget({ cpuTime: () => 5, monotonic: () => passed }, 1000, Infinity);
  passed = 10_000;
  expect(budget.isSpent()).toBe(false);
});

test('the CPU time is not read again before a twentieth of the budget has passed', () => {
  let [passed, reads] = [0, 0];
  const clocks = { cpuTime: () => (reads += 1), monotonic: () => passed };
  const budget = new EvaluationBudget(clocks, 1000, Infinity);
  for (passed = 0; passed < 50; passed++) budget.isSpent();
  expect(reads).toBe(1);
  budget.isSpent();
  expect(reads).toBe(2);
});

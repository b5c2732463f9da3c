// The bench computes figures from samples, judges them by their goal, and notices when they are worse than before.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chosenMeasurements, completedBy } from '../../bench/bench.ts';
import { benchRows } from '../../bench/goals.ts';
import { measurements } from '../../bench/measurements.ts';
import { figureOf, isMet, isWorse, merged, parsedResults, type Results } from '../../bench/results.ts';
import { inTurn, type Goal, type Measurement, type Row } from '../../bench/row.ts';

function row(goal: Goal, threshold = { ratio: 1.2, absolute: 0.1 }): Row {
  return { id: 'some', title: 'some row', unit: 'ms', goal, threshold };
}

const ratioAtMost = row({ of: 'ratio', is: 'at most', limit: 1.5 });
const ratioAtLeast = row({ of: 'ratio', is: 'at least', limit: 0.75 }, { ratio: 1.2, absolute: 0.05 });
const exactly = row({ of: 'count', is: 'exactly', limit: 1000 });

test('a ratio is the median of the ratios of all rounds, not the ratio of the medians', () => {
  const figure = figureOf(ratioAtMost, { ours: [2, 30, 3], baseline: [1, 10, 2] });
  expect(figure).toEqual({ figure: 2, noise: 0.75, ours: 3, baseline: 2, rounds: 3 });
});

test('a difference is the median of the differences of all rounds', () => {
  const difference = row({ of: 'difference', is: 'at most', limit: 1 });
  expect(figureOf(difference, { ours: [5, 9, 6], baseline: [4, 4, 4] }).figure).toBe(2);
});

test('a value needs no baseline', () => {
  const value = row({ of: 'value', is: 'at most', limit: 2 });
  expect(figureOf(value, { ours: [1, 2, 9] })).toEqual({ figure: 2, noise: 4, ours: 2, rounds: 3 });
});

test.each([
  ['exactly', [1000, 1000, 999], 999],
  ['exactly', [1000, 1000, 1000], 1000],
  ['at most', [4, 9, 5], 9],
  ['at least', [4, 9, 5], 4],
] as const)('the goal "%s" compares the worst count of the rounds %j', (is, ours, expected) => {
  expect(figureOf(row({ of: 'count', is, limit: 1000 }), { ours }).figure).toBe(expected);
});

test.each([
  ['no round', { ours: [], baseline: [] }],
  ['a baseline of zero', { ours: [1], baseline: [0] }],
  ['a round without its baseline', { ours: [1, 1], baseline: [1] }],
  ['no baseline', { ours: [1] }],
])('samples with %s give no figure', (_, samples) => {
  expect(() => figureOf(ratioAtMost, samples)).toThrow('some has no usable samples');
});

test.each([
  [ratioAtMost, 1.5, true],
  [ratioAtMost, 1.51, false],
  [ratioAtLeast, 0.75, true],
  [ratioAtLeast, 0.74, false],
  [exactly, 1000, true],
  [exactly, 1001, false],
])('the goal of %o is judged for %d: %s', ({ goal }, figure, expected) => {
  expect(isMet(goal, figure)).toBe(expected);
});

test.each([
  ['both thresholds exceeded', ratioAtMost, 1.3, 1, true],
  ['the ratio exceeded alone', ratioAtMost, 0.13, 0.1, false],
  ['the difference exceeded alone', ratioAtMost, 3.5, 3, false],
  ['an improvement', ratioAtMost, 1, 2, false],
  ['a lower figure that should be high', ratioAtLeast, 0.5, 0.7, true],
  ['a higher figure that should be high', ratioAtLeast, 0.9, 0.7, false],
  ['a count farther from its goal', exactly, 1003, 1001, true],
  ['a count nearer to its goal', exactly, 1001, 997, false],
])('%s is judged against the saved figure', (_, each, figure, saved, expected) => {
  expect(isWorse(each, figure, saved)).toBe(expected);
});

const machine = { processor: 'P', cores: 2, memoryGiB: 8, node: '24.0.0' };
const figure = { figure: 1, noise: 0, ours: 1, rounds: 5 };
const saved: Results = { machine, rows: { one: figure, two: figure } };

test('saving keeps the rows that were not measured', () => {
  const { rows } = merged(saved, machine, { two: { ...figure, figure: 2 } });
  expect([rows['one']?.figure, rows['two']?.figure]).toEqual([1, 2]);
});

test('saving drops figures of another machine', () => {
  expect(Object.keys(merged(saved, { ...machine, cores: 4 }, { two: figure }).rows)).toEqual(['two']);
});

test('a saved file gives the same results again', () => {
  expect(parsedResults(JSON.stringify(saved), 'some.json')).toEqual(saved);
});

test.each([
  '',
  '{',
  'null',
  '[]',
  '{}',
  '{"machine": {}}',
  '{"machine": {}, "rows": {"one": {"figure": "1"}}}',
])('the file %j is no file of results', (text) => {
  expect(() => parsedResults(text, 'some.json')).toThrow('some.json does not hold results of the bench');
});

test('Reeve and the baseline take turns, and the first round does not count', async () => {
  const order: string[] = [];
  const step = (name: string) => (round: number) => {
    order.push(`${name}${round}`);
    return Promise.resolve(round);
  };
  expect(await inTurn(2, step('a'), step('b'))).toEqual({ ours: [1, 2], baseline: [1, 2] });
  expect(order).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2']);
  expect(await inTurn(2, step('a'), step('b'), 0)).toEqual({ ours: [0, 1], baseline: [0, 1] });
});

test('each row is measured, and each measured row has a goal', () => {
  const measured = measurements.flatMap(({ rows }) => rows);
  expect([...new Set(measured)].toSorted()).toEqual(benchRows.map(({ id }) => id).toSorted());
});

test('--quick measures a row completely or not at all', () => {
  const of = (isQuick: boolean): readonly string[] =>
    measurements.filter((each) => each.isQuick === isQuick).flatMap(({ rows }) => rows);
  expect(of(true).filter((id) => of(false).includes(id))).toEqual([]);
});

const measure = () => Promise.resolve({});
const choices: readonly Measurement[] = [
  { rows: ['one', 'two'], isQuick: true, measure },
  { rows: ['three'], isQuick: false, measure },
  { rows: ['three', 'four'], isQuick: false, measure },
];

test.each([
  [{ isQuick: false, only: [] }, [0, 1, 2]],
  [{ isQuick: true, only: [] }, [0]],
  [{ isQuick: false, only: ['two'] }, [0]],
  [{ isQuick: false, only: ['three'] }, [1, 2]],
  [{ isQuick: false, only: ['four', 'one'] }, [0, 2]],
])('with %j, every measurement of a chosen row is made', (options, expected) => {
  expect(chosenMeasurements(choices, options).map((each) => choices.indexOf(each))).toEqual(expected);
});

test.each([
  [
    [0, 1, 2],
    [['one', 'two'], [], ['three', 'four']],
  ],
  [[1], [[]]],
  [[2], [['four']]],
])('a row of the measurements %j is complete after the last one', (indexes, expected) => {
  const chosen = choices.filter((_, index) => indexes.includes(index));
  expect(chosen.map((each) => completedBy(each, chosen, choices))).toEqual(expected);
});

test.each([
  [{ isQuick: false, only: ['five'] }, 'there is no row five; rows: one, two, three, four'],
  [{ isQuick: true, only: ['one', 'three'] }, 'there is no row three with --quick; rows: one, two'],
])('%j names the rows that there are', (options, message) => {
  expect(() => chosenMeasurements(choices, options)).toThrow(message);
});

test('ids and titles of rows are unique', () => {
  expect(new Set(benchRows.map(({ id }) => id)).size).toBe(benchRows.length);
  expect(new Set(benchRows.map(({ title }) => title)).size).toBe(benchRows.length);
});

test('each missed goal of the saved results has its reason', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../bench/results.json'), 'utf8');
  const { rows } = JSON.parse(text) as Results;
  const missing = benchRows.filter(({ id, goal, why }) => {
    const found = rows[id];
    return found !== undefined && !isMet(goal, found.figure) && why === undefined;
  });
  expect(missing.map(({ id }) => id)).toEqual([]);
});

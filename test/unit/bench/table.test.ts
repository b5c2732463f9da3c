// The page of performance shows every row with its figure, and says why a goal is missed.
import { expect, test } from 'vitest';
import type { Figure, Results } from '../../bench/results.ts';
import type { Row } from '../../bench/row.ts';
import { pageWithTable, resultsTable, runLine } from '../../bench/table.ts';

const threshold = { ratio: 1.2, absolute: 0.1 };
const fast: Row = {
  id: 'fast',
  title: 'a fast thing',
  unit: 'ms',
  goal: { of: 'ratio', is: 'at most', limit: 1.5 },
  threshold,
};
const slow: Row = {
  ...fast,
  id: 'slow',
  title: 'a slow thing',
  goal: { of: 'value', is: 'at most', limit: 2 },
  why: 'the disk is slow',
};
const found: Figure = { figure: 1.234, noise: 0.051, ours: 1234.5, baseline: 1000, rounds: 5 };
const machine = { processor: 'P', cores: 2, memoryGiB: 8, node: '24.0.0' };

function tableOf(rows: Results['rows']): string {
  return resultsTable([fast, slow], { machine, rows });
}

test('a row shows the medians, the figure, the noise and the goal', () => {
  expect(tableOf({ fast: found })).toContain(
    '| a fast thing | 1,235 ms | 1,000 ms | 1.23x        | 5 %   | at most 1.5x | yes |',
  );
});

test('a row of one round has no noise', () => {
  expect(tableOf({ fast: { ...found, noise: 0, rounds: 1 } })).toContain(
    '| 1.23x        | 1 round | at most',
  );
});

test('a row that is missing in the results says so', () => {
  expect(tableOf({})).toContain(
    '| a slow thing | -     | -        | not measured | -     | at most 2 ms | -   |',
  );
});

test('the reason stands below the table when a goal is missed, and only then', () => {
  const { baseline: _, ...single } = found;
  expect(tableOf({ slow: { ...single, figure: 3 } })).toContain('- a slow thing: the disk is slow.');
  expect(tableOf({ slow: { ...single, figure: 2 } })).not.toContain('the disk');
});

test('a missed goal without a reason is noticed', () => {
  expect(tableOf({ fast: { ...found, figure: 1.6 } })).toContain('- a fast thing: not explained yet.');
});

test('the table replaces what stands between its markers', () => {
  const page = 'before\n<!-- generated: bench -->\nold\n<!-- generated: end -->\nafter\n';
  const text = pageWithTable(page, 'new\n');
  expect(text).toBe('before\n<!-- generated: bench -->\n\nnew\n\n<!-- generated: end -->\nafter\n');
  expect(pageWithTable(text, 'new\n')).toBe(text);
});

test('a page without the markers is an error', () => {
  expect(() => pageWithTable('text\n', 'new\n')).toThrow('lacks the line');
});

test('the line of a run shows the saved figure, and says when the new one is worse', () => {
  expect(runLine(fast, found, undefined)).toContain('at most 1.5x: ok (nothing saved)');
  expect(runLine(fast, { ...found, figure: 1.7 }, found)).toContain('MISSED (saved 1.23, WORSE)');
});

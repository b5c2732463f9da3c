// Every threat of docs/security.md, and every fault of docs/faults.md, has a test that is there, on a real control plane.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { proofRows, rowFaults } from './proof-tables.ts';
import { testTitles } from './test-titles.ts';

const root = join(import.meta.dirname, '..', '..');

function textOf(path: string): string | undefined {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

describe.for(['docs/security.md', 'docs/faults.md'])('%s', (page) => {
  const rows = proofRows(textOf(page) ?? '');

  test('has rows', () => {
    expect(rows.length).toBeGreaterThan(20);
  });

  test.for(rows)('$claim', (row) => {
    expect(rowFaults(row, textOf)).toEqual([]);
  });
});

describe('a row', () => {
  const source = `
    describe('a group', () => {
      test.concurrent.for(cases)('a case: %s', async () => {});
      test('not here', () => {});
    });`;
  const sourceOf = (path: string): string | undefined =>
    path === 'test/e2e/a.test.ts' || path === 'test/unit/a.test.ts' ? source : undefined;
  const faultsOf = (cell: string): readonly string[] =>
    proofRows(`| Threat | Test |\n| --- | --- |\n| x | ${cell} |\n`).flatMap((row) =>
      rowFaults(row, sourceOf),
    );

  test.for([
    ['`test/e2e/a.test.ts › a group › a case: %s`', []],
    ['`test/unit/a.test.ts › a group` and `test/e2e/a.test.ts › a case: %s`', []],
    ['', ['it names no test']],
    ['later', ['it names no test']],
    ['`test/unit/a.test.ts › a group`', ['none of its tests runs on a real control plane']],
    ['`test/e2e/b.test.ts › a group`', ['there is no file test/e2e/b.test.ts']],
    ['`test/e2e/a.test.ts`', ['test/e2e/a.test.ts: no title is named']],
    ['`test/e2e/a.ts › a group`', ['test/e2e/a.ts is no file of tests']],
    ['`test/e2e/a.test.ts › a group › another`', ['test/e2e/a.test.ts has no test another']],
    ['`test/e2e/a.test.ts › a grou`', ['test/e2e/a.test.ts has no test a grou']],
  ] as const)('with the tests %s', ([cell, faults]) => {
    expect(faultsOf(cell)).toEqual(faults);
  });

  test('of a table about something else needs none', () => {
    expect(proofRows('| Promise | Where |\n| --- | --- |\n| x | y |\n')).toEqual([]);
  });
});

test.for<readonly [string, readonly string[]]>([
  [`test('one', () => {})`, ['one']],
  [`it.each([['a', 1], ['b', 2]])('%s: %i', () => {})`, ['%s: %i']],
  [`describeControllers('all', { timeout: 1 }, () => {})`, ['all']],
  [`test.for([\n  { x: 'y' },\n] as const)(\n  'long: $x',\n  async () => {})`, ['long: $x']],
  [`test.for(cases)(\n  'long: $x',\n  async () => {})`, ['long: $x']],
  ['test(`it\\`s ${x}`, () => {})', ['it`s ${x}']],
  [`test("Reeve's", () => {})`, ["Reeve's"]],
  [`expect(a).toBe('b', 1)`, []],
  [`  // test('no', () => {})`, []],
  [`/* test('no', () => {})\n */ test('yes', () => {})`, ['yes']],
  [`/** What "it's" is. */ test('yes', () => {})`, ['yes']],
  [`test('/*', () => {}); test('*/', () => {})`, ['/*', '*/']],
  [`test.skip('no', () => {}); test('yes', () => {})`, ['yes']],
  [`describe.concurrent.skip('no', () => {}); test('yes', () => {})`, ['yes']],
  [`it.skip.for([['a', 1]])('no: %s', () => {}); test('yes', () => {})`, ['yes']],
  [`test.todo('no'); test('yes', () => {})`, ['yes']],
  [`test.fails('no', () => {})`, []],
])('titles in %s', ([source, titles]) => {
  expect([...testTitles(source)]).toEqual(titles);
});

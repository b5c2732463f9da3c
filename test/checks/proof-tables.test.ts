// Every row of docs/security.md and docs/faults.md has a test on a real control plane, and every named test exists.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { proofPages, proofProblems, readProofs, rowNames, rowProblems, type Proof } from './proof-tables.ts';
import { testTitles } from './test-titles.ts';

const root = join(import.meta.dirname, '..', '..');

function textOf(path: string): string | undefined {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

const proofs = readProofs(textOf('test/checks/proofs.yaml') ?? '');
const rows = Object.entries(proofPages).flatMap(([page, path]) => rowNames(page, textOf(path) ?? ''));

describe('a row of the pages has a test on a real control plane', () => {
  test('each page has more than twenty rows', () => {
    for (const page of Object.keys(proofPages)) {
      expect(rows.filter((row) => row.startsWith(`${page}: `)).length).toBeGreaterThan(20);
    }
  });

  test('no two rows of a page have the same name', () => {
    expect(rows).toEqual([...new Set(rows)]);
  });

  test.for(rows)('%s', (row) => {
    expect(rowProblems(row, proofs)).toEqual([]);
  });
});

describe('a test named in test/checks/proofs.yaml exists', () => {
  test.for(proofs)('$path › $title', (proof) => {
    expect(proofProblems(proof, rows, textOf)).toEqual([]);
  });
});

const at = (path: string): Proof => ({ path, title: 'x', rows: ['security: a'] });

test.for([
  [[], ['no test proves it']],
  [[{ ...at('test/e2e/a.test.ts'), rows: ['security: b'] }], ['no test proves it']],
  [[at('test/unit/a.test.ts')], ['none of its tests runs on a real control plane']],
  [[at('test/unit/a.test.ts'), at('test/e2e/a.test.ts')], []],
  [[at('test/contract/a.test.ts')], []],
] as const)('a row with the tests %j has the expected problems', ([tests, problems]) => {
  expect(rowProblems('security: a', tests)).toEqual(problems);
});

describe('problems of an entry', () => {
  const source = `
    describe('a group', () => {
      test.concurrent.for(cases)('a case: %s', async () => {});
      test('not here', () => {});
    });`;
  const sourceOf = (path: string): string | undefined => (path.includes('/a.') ? source : undefined);

  test.for([
    ['test/e2e/a.test.ts', 'a group › a case: %s', []],
    ['test/unit/a.test.ts', 'a case: %s', []],
    ['test/e2e/b.test.ts', 'a group', ['there is no file test/e2e/b.test.ts']],
    ['test/e2e/a.ts', 'a group', ['test/e2e/a.ts is not a file of tests']],
    ['test/e2e/a.test.ts', 'b', ['test/e2e/a.test.ts has no title "b"']],
    [
      'test/e2e/a.test.ts',
      'a group › a case of %s',
      ['test/e2e/a.test.ts has no title "a case of %s"; the closest is "a case: %s"'],
    ],
  ] as const)('%s › %s', ([path, title, problems]) => {
    expect(proofProblems({ path, title, rows: ['faults: a'] }, ['faults: a'], sourceOf)).toEqual(problems);
  });

  test('a row that the pages do not have', () => {
    const proof = { path: 'test/e2e/a.test.ts', title: 'a group', rows: ['faults: a', 'faults: b'] };
    expect(proofProblems(proof, ['faults: a'], sourceOf)).toEqual(['there is no row "faults: b"']);
  });
});

test('a table about something else has no rows to prove', () => {
  expect(rowNames('security', '| Promise | Where |\n| --- | --- |\n| x | y |\n')).toEqual([]);
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

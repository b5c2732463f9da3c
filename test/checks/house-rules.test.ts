// The rules of the house on made-up files: each problem is named with its place, and good files have none.
import { expect, test } from 'vitest';
import { houseProblems } from './house-rules.ts';
import type { SourceFile } from './source-files.ts';

const readme: SourceFile = { path: 'src/room/README.md', text: 'Begin with `a.ts`.\n'.repeat(20) };

function code(path: string, text = ''): SourceFile {
  return { path, text };
}

test('a folder with a README and few files has no problem', () => {
  expect(houseProblems([readme, code('src/room/a.ts', '// Reads a file.\nexport const a = 1;')])).toEqual([]);
});

test('a folder without a README is a problem', () => {
  expect(houseProblems([code('src/room/a.ts')])).toEqual([
    'src/room: README.md is missing, with 15 to 30 lines',
  ]);
});

test('a folder without a README is a problem, even if it holds only folders', () => {
  const inner: SourceFile = { ...readme, path: 'src/room/inner/README.md' };
  expect(houseProblems([inner, code('src/room/inner/a.ts')])).toEqual([
    'src/room: README.md is missing, with 15 to 30 lines',
  ]);
});

test('a README that is too long is a problem', () => {
  const long = { ...readme, text: 'Read `a.ts`.\n'.repeat(31) };
  expect(houseProblems([long, code('src/room/a.ts')])).toEqual([
    'src/room/README.md: 31 lines, must have 15 to 30',
  ]);
});

test('a README that names a file that does not exist is a problem', () => {
  const text = readme.text.replace('`a.ts`', '`a.ts` and `old.ts`');
  expect(houseProblems([{ ...readme, text }, code('src/room/a.ts')])).toEqual([
    'src/room/README.md: old.ts does not exist',
  ]);
});

test('26 files beside each other are a problem', () => {
  const names = Array.from({ length: 26 }, (_, index) => `f${index}.ts`);
  const text = `${names.map((name) => `\`${name}\``).join(', ')}\n`.repeat(20);
  const files = names.map((name) => code(`src/room/${name}`));
  expect(houseProblems([{ ...readme, text }, ...files])).toEqual([
    'src/room: 26 files beside each other, at most 25',
  ]);
});

test('more than 20 names that two files export are a problem', () => {
  const names = Array.from({ length: 21 }, (_, index) => `export const n${index} = 1;`).join('\n');
  const problems = houseProblems([readme, code('src/room/a.ts', names), code('src/room/b.ts', names)]);
  expect(problems).toHaveLength(21);
  expect(problems[0]).toBe('n0 is exported by src/room/a.ts and src/room/b.ts, at most 20 names may be');
});

test.each([
  ['a comment', '// Whoever reads it.'],
  ['a doc comment', '  /** Of all objects the first. */'],
  ['a text', "test('nobody waits for it', () => undefined);"],
])('the old style in %s is a problem', (_, line) => {
  expect(houseProblems([readme, code('src/room/a.ts', line)])).toHaveLength(1);
});

test('code that only looks like the old style is no problem', () => {
  expect(houseProblems([readme, code('src/room/a.ts', "const nobody = 'somebody';")])).toEqual([]);
});

test.each([
  ["test('refuses a name', () => 0);", 1],
  ["it.each(cases)('with %s are refused', () => 0);", 1],
  ["test.for([\n  ['a'],\n] as const)('of %s: one', () => 0);", 1],
  ["test('a name is refused', () => 0);", 0],
  ["test('with --force, the name is taken', () => 0);", 0],
  ["test('at most three names are listed', () => 0);", 0],
  ["describe.each(cases)('with %s', () => 0); describe('is refused, too', () => 0);", 0],
])('titles of tests without a subject are problems, and titles of groups are none: %s', (source, count) => {
  expect(houseProblems([code('test/unit/a.test.ts', source)])).toHaveLength(count);
});

// Every document is short enough and names only what exists; the check finds each kind of mistake.
import { expect, test } from 'vitest';
import { documentPaths, documentProblems, thisRepository, type Repository } from './documents.ts';

const real = thisRepository();

test('there are documents to check', () => {
  const files = 'manifests/chart/files';
  const some = [
    'README.md',
    'docs/architecture.md',
    `${files}/alerts.yaml`,
    `${files}/dashboards/reeve.json`,
  ];
  expect(documentPaths()).toEqual(expect.arrayContaining(some));
});

test.for(documentPaths())('%s names only what exists', (path) => {
  expect(documentProblems(path, real.textOf(path), real)).toEqual([]);
});

const small: Repository = {
  hasFile: (path) => ['docs/a.md', 'docs/b.md', 'src/x.ts'].includes(path),
  textOf: () => '# The `b` page\n\n```sh\n# no heading\n```\n',
  scripts: ['test:quick'],
  metrics: ['reeve_x_seconds'],
};

test.for([
  ['docs/a.md', '[b](b.md) [c](https://example.com) [d](#here)\n\n## Here\n', []],
  ['docs/a.md', '[b](b.md#the-b-page)', []],
  ['docs/a.md', '[b](b.md#no-heading)', ['link to b.md#no-heading, but there is no such heading']],
  ['docs/a.md', '[b](#there)', ['link to #there, but there is no such heading']],
  ['docs/a.md', '[c](c.md)', ['link to c.md, which does not exist']],
  ['docs/a.md', '`npm run --silent test:quick -- x`', []],
  ['docs/a.md', '`npm run test:slow`', ['package.json has no script test:slow']],
  ['docs/a.md', '`reeve_x_seconds_sum` and `reeve_x_seconds`', []],
  ['docs/a.md', '`reeve_y_total`', ['there is no metric reeve_y_total']],
  ['docs/a.md', '`src/y.ts`', []],
  ['docs/architecture.md', '`src/x.ts`', []],
  ['docs/architecture.md', '`src/y.ts`', ['src/y.ts does not exist']],
  ['README.md', 'x'.repeat(15_000), []],
  ['README.md', 'x'.repeat(15_001), ['15001 bytes, must have at most 15000']],
  ['docs/security.md', 'x'.repeat(22_001), ['22001 bytes, must have at most 22000']],
] as const)('%s with %s', ([path, text, problems]) => {
  expect(documentProblems(path, text, small)).toEqual(problems.map((problem) => `${path}: ${problem}`));
});

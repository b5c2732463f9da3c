// The journeys of docs/architecture.md name exactly the files that a review, an event and a policy file pass.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { journeyProblems } from './journeys/journey-problems.ts';
import { filesOfNamespaceEvent, filesOfPolicyFile, filesOfReview } from './journeys/journeys.ts';

const page = readFileSync('docs/architecture.md', 'utf8');

test.for([
  ['A review', filesOfReview],
  ['A namespace event', filesOfNamespaceEvent],
  ['A policy file', filesOfPolicyFile],
] as const)('the journey "%s" names every file that it passes, and no other', async ([journey, filesOf]) => {
  expect(journeyProblems(page, journey, await filesOf())).toEqual([]);
});

const small = `# Architecture
## Three journeys
Left out: \`src/base\`.
### A review
It passes 2 files. Left out here: \`src/certs\`.

1. **Take it**: \`src/a.ts\` and
   \`src/b.ts\`.

Another way leads through \`src/c.ts\`.

### A namespace event
1. \`src/d.ts\`
## Glossary
\`src/e.ts\`
`;

test.for([
  ['the named files', ['src/a.ts', 'src/b.ts'], []],
  ['a file of a folder left out', ['src/a.ts', 'src/b.ts', 'src/base/x.ts', 'src/certs/y.ts'], []],
  [
    'a file that no step names',
    ['src/a.ts', 'src/b.ts', 'src/c.ts'],
    ['passes src/c.ts, which no step names'],
  ],
  [
    'a file of another journey',
    ['src/a.ts', 'src/b.ts', 'src/d.ts'],
    ['passes src/d.ts, which no step names'],
  ],
  ['too few files', ['src/b.ts'], ['does not pass src/a.ts']],
] as const)('a review that passes %s has the right problems', ([, passed, problems]) => {
  expect(journeyProblems(small, 'A review', passed)).toEqual(
    problems.map((problem) => `docs/architecture.md, "A review": ${problem}`),
  );
});

test('a wrong number of files, and no number, are problems', () => {
  const wrong = small.replace('2 files', '3 files');
  expect(journeyProblems(wrong, 'A review', ['src/a.ts', 'src/b.ts'])).toEqual([
    'docs/architecture.md, "A review": says 3 files, names 2',
  ]);
  expect(journeyProblems(small, 'A namespace event', ['src/d.ts'])).toEqual([
    'docs/architecture.md, "A namespace event": says no number of files, names 1',
  ]);
});

test('a journey without a section is a problem', () => {
  expect(journeyProblems(small, 'A flag', [])).toEqual([
    'docs/architecture.md, "A flag": there is no such journey',
  ]);
});

// The journeys of docs/architecture.md pass the files that the page names, and no more files than it allows.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { countedFiles, journeyProblems, journeysPage } from './journeys/journey-problems.ts';
import { filesOfNamespaceEvent, filesOfPolicyFile, filesOfReview } from './journeys/journeys.ts';

const page = readFileSync('docs/architecture.md', 'utf8');

const journeys = {
  'A review': filesOfReview,
  'A namespace event': filesOfNamespaceEvent,
  'A policy file': filesOfPolicyFile,
};

test('each journey passes the file that decides each step, within its limit, and the reference lists all files', async () => {
  const lists = new Map<string, readonly string[]>();
  const problems: string[] = [];
  for (const [journey, filesOf] of Object.entries(journeys)) {
    const passed = await filesOf();
    problems.push(...journeyProblems(page, journey, passed));
    lists.set(journey, countedFiles(page, journey, passed));
  }
  expect(problems).toEqual([]);
  await expect(journeysPage(lists)).toMatchFileSnapshot('../../docs/journeys.md');
});

const small = `# Architecture
## Three journeys
Left out: \`src/base\`.
### A review
It passes at most 2 files. Left out here: \`src/certs\`.

1. **Take it**: \`src/a.ts\` takes
   it.
2. **Judge it**: \`src/b.ts\`.

Another way leads through \`src/c.ts\`.

### A namespace event
1. \`src/d.ts\`
2. Two files, \`src/d.ts\` and \`src/a.ts\`.
## Glossary
\`src/e.ts\`
`;

test.for([
  ['the named files', ['src/a.ts', 'src/b.ts'], []],
  ['a file of a folder left out', ['src/a.ts', 'src/b.ts', 'src/base/x.ts', 'src/certs/y.ts'], []],
  ['more files than allowed', ['src/a.ts', 'src/b.ts', 'src/c.ts'], ['passes 3 files, at most 2']],
  ['not all files that steps name', ['src/b.ts'], ['does not pass src/a.ts']],
] as const)('a review that passes %s has the right problems', ([, passed, problems]) => {
  expect(journeyProblems(small, 'A review', passed)).toEqual(
    problems.map((problem) => `docs/architecture.md, "A review": ${problem}`),
  );
});

test('a step with two files, and a journey without a limit, are problems', () => {
  expect(journeyProblems(small, 'A namespace event', ['src/a.ts', 'src/d.ts'])).toEqual([
    'docs/architecture.md, "A namespace event": step 2 names 2 files, must name one',
    'docs/architecture.md, "A namespace event": passes 2 files, at most no number',
  ]);
});

test('a journey without a section is a problem', () => {
  expect(journeyProblems(small, 'A flag', [])).toEqual([
    'docs/architecture.md, "A flag": there is no such journey',
  ]);
});

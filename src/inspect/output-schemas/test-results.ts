// Defines the JSON of `reeve test`: the suites, their tests, and which rules no test refuses.
import { boolean, choice, object, type Infer } from '../../schema/schema.ts';
import { numberOf, header, rows, words } from './parts.ts';

const failure = object({
  description: 'An expectation that does not hold.',
  fields: {
    path: words('The expectation, such as expect.message.'),
    expected: words('What the suite expects.'),
    found: words('What Reeve answers.'),
    line: numberOf('The line in the file of the suite, from 1.'),
    column: numberOf('The column, from 1.'),
  },
  required: ['path', 'expected', 'found', 'line', 'column'],
});

const testResult = object({
  description: 'One test.',
  fields: {
    name: words('Its name.'),
    line: numberOf('The line in the file of the suite, from 1.'),
    column: numberOf('The column, from 1.'),
    passed: boolean('True if all expectations hold.'),
    failures: rows('The expectations that do not hold.', failure),
  },
  required: ['name', 'line', 'column', 'passed', 'failures'],
});

const suiteProblem = object({
  description: 'Why a suite could not run.',
  fields: {
    file: words('The file: of the suite, or one that it names.'),
    line: numberOf('The line, from 1.'),
    column: numberOf('The column, from 1.'),
    message: words('What is wrong.'),
  },
  required: ['file', 'line', 'column', 'message'],
});

const suite = object({
  description: 'One suite.',
  fields: {
    file: words('The file.'),
    problems: rows('Why the suite could not run.', suiteProblem),
    tests: rows('The tests, in the order of the file.', testResult),
  },
  required: ['file', 'problems', 'tests'],
});

const coverage = object({
  description: 'A rule that the tests do not cover.',
  fields: {
    policy: words('The policy.'),
    rule: words('The rule.'),
    gap: choice('What no test shows.', ['never refused', 'never allowed', 'never evaluated']),
  },
  required: ['policy', 'rule', 'gap'],
});

export const testResults = object({
  description: 'What reeve test found.',
  fields: {
    ...header('TestResults'),
    passed: numberOf('How many tests passed.'),
    failed: numberOf('How many tests failed.'),
    suites: rows('The suites, by file.', suite),
    coverage: rows('The rules that the tests do not cover.', coverage),
  },
  required: ['apiVersion', 'kind', 'passed', 'failed', 'suites', 'coverage'],
});

export type TestFailure = Infer<typeof failure>;
export type TestResult = Infer<typeof testResult>;
export type SuiteResult = Infer<typeof suite>;
export type CoverageGap = Infer<typeof coverage>;
export type TestResults = Infer<typeof testResults>;

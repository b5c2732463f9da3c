// Defines the flags of `reeve test`.
import { compileRegex } from '../../cel/regex.ts';
import { outputSetting } from './common-settings.ts';
import { optionalText, switchSetting } from './setting-kinds.ts';
import { commandForm, type Settings, type Values } from './settings.ts';

export const testSettings = {
  run: {
    ...optionalText({
      placeholder: 'PATTERN',
      help: 'Run only tests whose name matches. Coverage is then left out.',
      accepted: 'a pattern in RE2 syntax',
    }),
    hasVariable: false,
  },
  init: {
    ...switchSetting(
      'Write a first suite for each PATH, which is a file or folder with policies: tests/NAME.yaml beside a file, tests/suite.yaml in a folder. Never overwrites a file.',
    ),
    hasVariable: false,
  },
  update: {
    ...switchSetting(
      'Write what Reeve answers today into suites that expect something else, and run them. Comments and order stay. Read the changes before you commit them.',
    ),
    hasVariable: false,
  },
  watch: {
    ...switchSetting(
      'Run again after each change of a suite or of a file that a suite names, until a signal ends it.',
    ),
    hasVariable: false,
  },
  verbose: { ...switchSetting('List also the tests that pass.'), hasVariable: false },
  output: outputSetting(
    ['text', 'json', 'yaml', 'junit', 'github'],
    'Lines for people, JSON or YAML for programs, JUnit XML for continuous integration, or annotations of a pull request on GitHub.',
  ),
} satisfies Settings;

export type TestFlags = Values<typeof testSettings>;

export const testForm = commandForm({
  settings: testSettings,
  positionals: {
    placeholder: '[PATH ...]',
    help: 'Files and folders with suites. Default: the current folder. Hidden folders and node_modules are left out.',
    min: 0,
    max: 1000,
  },
  check: ({ run, init, update, watch, output }) => {
    const pattern = compileRegex(run ?? '');
    return [
      ...(pattern.ok ? [] : [`--run: ${pattern.problem}`]),
      ...(init && (update || run !== undefined) ? ['--init runs no test: leave out --update and --run'] : []),
      // Results in a file below the folder would be a change.
      ...(watch && (init || update || output !== 'text')
        ? ['--watch only shows results: leave out --init, --update and -o']
        : []),
    ];
  },
  examples: [
    ['reeve test', 'all suites below this folder'],
    ['reeve test policies/', 'those below policies'],
    ['reeve test --init policies/', 'write a first suite for these policies'],
    ['reeve test --update', 'expect what Reeve answers today'],
    ['reeve test --watch policies/', 'while you write policies and suites'],
    ["reeve test --run 'team namespace'", 'tests with these words in their name'],
    ['reeve test -o junit > results.xml', 'results for continuous integration'],
  ],
  exitCodes: [
    [
      0,
      'All tests passed, with --update after the update. With --init: each suite was written. With --watch: a signal ended it.',
    ],
    [1, 'A test failed. With --init: a suite was not written.'],
    [2, 'Wrong flags.'],
    [3, 'A suite could not run, or no test was found.'],
  ],
});

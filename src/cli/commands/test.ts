// The command `reeve test`: runs the suites below paths and prints the results.
import { compileRegex } from '../../cel/regex.ts';
import type { TestResults } from '../../inspect/output-schemas/test-results.ts';
import { findSuites, type FoundSuites } from '../../inspect/suites/load-suite.ts';
import { resultsForJunit, resultsForGithub, resultsText } from '../../inspect/suites/results-text.ts';
import { runSuites, type RunOptions } from '../../inspect/suites/run-suites.ts';
import { commandOf, type Call, type CommandIo } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { outputSetting } from '../flags/common-settings.ts';
import {
  optionalText,
  switchSetting,
  withoutVariable,
  type Settings,
  type Values,
} from '../flags/settings.ts';
import { sayProblems } from '../input/chosen-state.ts';
import { findInstall } from '../input/find-install.ts';
import { jsonText, yamlText } from '../output/data-text.ts';
import { styleFor } from '../output/style.ts';
import { runInit } from './test-init.ts';
import { updateSuites } from './test-update.ts';
import { runOnChanges } from './test-watch.ts';

const outputs = {
  text: (results: TestResults, { verbose }: { readonly verbose: boolean }, isColored: boolean) =>
    resultsText(results, { style: styleFor(isColored), isVerbose: verbose }),
  json: jsonText,
  yaml: yamlText,
  junit: resultsForJunit,
  github: resultsForGithub,
};

const flags = {
  run: withoutVariable(
    optionalText({
      placeholder: 'PATTERN',
      help: 'Run only tests whose name matches. Coverage is then left out.',
      accepted: 'a pattern in RE2 syntax',
    }),
  ),
  init: withoutVariable(
    switchSetting(
      'Write a first suite for each PATH, which is a file or folder with policies: tests/NAME.yaml beside a file, tests/suite.yaml in a folder. Never overwrites a file.',
    ),
  ),
  update: withoutVariable(
    switchSetting(
      'Write what Reeve answers today into suites that expect something else, and run them. Comments and order stay. Read the changes before you commit them.',
    ),
  ),
  watch: withoutVariable(
    switchSetting(
      'Run again after each change of a suite or of a file that a suite names, until a signal ends it.',
    ),
  ),
  verbose: withoutVariable(switchSetting('List also the tests that pass.')),
  output: outputSetting(
    outputs,
    'Lines for people, JSON or YAML for programs, JUnit XML for continuous integration, or annotations of a pull request on GitHub.',
  ),
} satisfies Settings;

type TestFlags = Values<typeof flags>;

export const command = commandOf({
  flags,
  outputs,
  run: runTest,
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
      // A file with results below the folder would count as a change.
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

/** Returns the exit code. */
async function runTest(
  { settings, positionals }: Call<TestFlags>,
  io: CommandIo<TestResults>,
): Promise<number> {
  const paths = positionals.length === 0 ? ['.'] : positionals;
  if (settings.init) return await runInit(paths, io);
  const run = (): Promise<number> => runOnce(settings, paths, io);
  return settings.watch ? await runOnChanges(paths, io, run) : await run();
}

async function runOnce(
  settings: TestFlags,
  paths: readonly string[],
  io: CommandIo<TestResults>,
): Promise<number> {
  const options = optionsOf(settings, io);
  const before = await findSuites(paths);
  if (!settings.update) return await runFound(settings, before, options, io);
  const isUpdated = await updateSuites(before.suites, options, io.stderr);
  const code = await runFound(settings, await findSuites(paths), options, io);
  return isUpdated ? code : 1;
}

async function runFound(
  settings: TestFlags,
  { suites, problems }: FoundSuites,
  options: RunOptions,
  io: CommandIo<TestResults>,
): Promise<number> {
  sayProblems(problems, io);
  if (suites.length === 0) {
    io.stderr('no suite was found; see reeve test --help\n');
    return exitCodes.unknown;
  }
  const results = await runSuites(suites, options);
  // A part of the tests does not show the coverage.
  const shown = settings.run === undefined ? results : { ...results, coverage: [] };
  io.print(shown);
  const isNothingRun = results.passed + results.failed === 0;
  if (settings.run !== undefined && isNothingRun) io.stderr('--run: no test has a name that matches\n');
  if (results.failed > 0) return exitCodes.no;
  const isBroken = results.suites.some((suite) => suite.problems.length > 0);
  return isNothingRun || isBroken || problems.length > 0 ? exitCodes.unknown : exitCodes.done;
}

function optionsOf({ run }: TestFlags, { clock }: Pick<CommandIo, 'clock'>): RunOptions {
  const pattern = run === undefined ? undefined : compileRegex(run);
  return {
    findInstall,
    now: clock.now(),
    isWanted: (name) => pattern?.ok !== true || pattern.regex.search(name),
  };
}

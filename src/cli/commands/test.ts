// The command `reeve test`: runs the suites below paths and prints the results.
import type { Clock } from '../../base/clock.ts';
import { compileRegex } from '../../cel/regex.ts';
import type { TestResults } from '../../inspect/output-schemas/test-results.ts';
import { findSuites, type FoundSuites } from '../../inspect/suites/load-suite.ts';
import { resultsForJunit, resultsForGithub, resultsText } from '../../inspect/suites/results-text.ts';
import { runSuites, type RunOptions } from '../../inspect/suites/run-suites.ts';
import { renderFileProblem, UnreadablePathError } from '../../state/located.ts';
import { exitCodes } from '../exit-codes.ts';
import type { TestFlags } from '../flags/test-settings.ts';
import { installFacts } from '../input/install-facts.ts';
import { dataText } from '../output/data-text.ts';
import { styleFor } from '../output/style.ts';
import { runInit } from './test-init.ts';
import { updateSuites } from './test-update.ts';
import { runOnChanges } from './test-watch.ts';

export interface TestIo {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly onSignal: (listener: () => void) => void;
  readonly isColored: boolean;
}

/** Returns the exit code. */
export async function runTest(flags: TestFlags, given: readonly string[], io: TestIo): Promise<number> {
  const paths = given.length === 0 ? ['.'] : given;
  if (flags.init) return await runInit(paths, io);
  const run = (): Promise<number> => runOnce(flags, paths, io);
  return flags.watch ? await runOnChanges(paths, io, run) : await run();
}

async function runOnce(flags: TestFlags, paths: readonly string[], io: TestIo): Promise<number> {
  const options = optionsOf(flags, io);
  const before = await foundSuites(paths, io);
  if (before === undefined) return exitCodes.unknown;
  if (!flags.update) return await runFound(flags, before, options, io);
  const isUpdated = await updateSuites(before.suites, options, io.stderr);
  const after = await foundSuites(paths, io);
  const code = after === undefined ? exitCodes.unknown : await runFound(flags, after, options, io);
  return isUpdated ? code : 1;
}

async function runFound(
  flags: TestFlags,
  { suites, problems }: FoundSuites,
  options: RunOptions,
  io: TestIo,
): Promise<number> {
  for (const problem of problems) io.stderr(`${renderFileProblem(problem)}\n`);
  if (suites.length === 0) {
    io.stderr('no suite was found; see reeve test --help\n');
    return exitCodes.unknown;
  }
  const results = await runSuites(suites, options);
  // A part of the tests says nothing about coverage.
  const shown = flags.run === undefined ? results : { ...results, coverage: [] };
  io.stdout(written(flags, shown, io));
  const isNothingRun = results.passed + results.failed === 0;
  if (flags.run !== undefined && isNothingRun) io.stderr('--run: no test has a name that matches\n');
  if (results.failed > 0) return exitCodes.no;
  const isBroken = results.suites.some((suite) => suite.problems.length > 0);
  return isNothingRun || isBroken || problems.length > 0 ? exitCodes.unknown : exitCodes.done;
}

async function foundSuites(paths: readonly string[], io: TestIo): Promise<FoundSuites | undefined> {
  try {
    return await findSuites(paths);
  } catch (error) {
    if (!(error instanceof UnreadablePathError)) throw error;
    io.stderr(`${error.message}\n`);
    return undefined;
  }
}

function optionsOf({ run }: TestFlags, { clock }: TestIo): RunOptions {
  const pattern = run === undefined ? undefined : compileRegex(run);
  return {
    installOf: installFacts,
    now: clock.now(),
    isWanted: (name) => pattern?.ok !== true || pattern.regex.search(name),
  };
}

function written({ output, verbose }: TestFlags, results: TestResults, { isColored }: TestIo): string {
  switch (output) {
    case 'text':
      return resultsText(results, { style: styleFor(isColored), isVerbose: verbose });
    case 'json':
    case 'yaml':
      return dataText(output, results);
    case 'junit':
      return resultsForJunit(results);
    case 'github':
      return resultsForGithub(results);
    default:
      return output satisfies never;
  }
}

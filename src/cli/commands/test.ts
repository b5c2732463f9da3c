// The command `reeve test`: runs the suites below paths and prints the results.
import type { Clock } from '../../base/clock.ts';
import { compileRegex } from '../../cel/regex.ts';
import type { TestResults } from '../../inspect/output-schemas/test-results.ts';
import { findSuites, type FoundSuites } from '../../inspect/suites/find-suites.ts';
import { resultsForJunit } from '../../inspect/suites/results-junit.ts';
import { resultsForGithub, resultsText } from '../../inspect/suites/results-text.ts';
import { runSuites } from '../../inspect/suites/run-suites.ts';
import { renderFileProblem, UnreadablePathError } from '../../state/file-problem.ts';
import type { TestFlags } from '../flags/test-settings.ts';
import { installFacts } from '../input/install-facts.ts';
import { jsonText } from '../output/json-text.ts';
import { styleFor } from '../output/style.ts';
import { runInit } from './test-init.ts';

export interface TestIo {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly clock: Pick<Clock, 'now'>;
  readonly isColored: boolean;
}

/** Returns the exit code: 0 if all tests passed, otherwise 1. */
export async function runTest(flags: TestFlags, given: readonly string[], io: TestIo): Promise<number> {
  const paths = given.length === 0 ? ['.'] : given;
  if (flags.init) return await runInit(paths, io);
  const found = await foundSuites(paths, io);
  if (found === undefined) return 1;
  const { suites, problems } = found;
  for (const problem of problems) io.stderr(`${renderFileProblem(problem)}\n`);
  if (suites.length === 0) {
    io.stderr('no suite was found; see reeve test --help\n');
    return 1;
  }
  const results = await resultsOf(flags, suites, io);
  io.stdout(written(flags, results, io));
  if (flags.run !== undefined && results.passed + results.failed === 0)
    io.stderr('--run: no test has a name that matches\n');
  const isWrong =
    results.passed + results.failed === 0 ||
    results.failed > 0 ||
    results.suites.some((suite) => suite.problems.length > 0);
  return isWrong || problems.length > 0 ? 1 : 0;
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

async function resultsOf(
  { run }: TestFlags,
  suites: FoundSuites['suites'],
  { clock }: TestIo,
): Promise<TestResults> {
  const pattern = run === undefined ? undefined : compileRegex(run);
  const isWanted = (name: string): boolean => pattern?.ok !== true || pattern.regex.search(name);
  const results = await runSuites(suites, { installOf: installFacts, now: clock.now(), isWanted });
  // A part of the tests says nothing about coverage.
  return run === undefined ? results : { ...results, coverage: [] };
}

function written({ output, verbose }: TestFlags, results: TestResults, { isColored }: TestIo): string {
  switch (output) {
    case 'text':
      return resultsText(results, { style: styleFor(isColored), isVerbose: verbose });
    case 'json':
      return jsonText(results);
    case 'junit':
      return resultsForJunit(results);
    case 'github':
      return resultsForGithub(results);
    default:
      return output satisfies never;
  }
}

// Writes the results of tests: lines for people, and annotations of a pull request.
import { clipped } from '../../base/text.ts';
import { renderFileProblem, shownFile } from '../../state/file-problem.ts';
import { amountOf, githubAnnotation } from '../checks/check-text.ts';
import type { CoverageGap, SuiteResult, TestFailure, TestResults } from '../output-schemas/test-results.ts';

/** How a terminal shows lines. */
interface ResultStyle {
  readonly added: (text: string) => string;
  readonly removed: (text: string) => string;
  readonly strong: (text: string) => string;
}

interface ResultsStyle {
  readonly style: ResultStyle;
  /** True to list also the tests that passed. */
  readonly isVerbose: boolean;
}

export function resultsText(results: TestResults, { style, isVerbose }: ResultsStyle): string {
  const lines = [
    ...results.suites.flatMap((suite) => suiteLines(suite, style, isVerbose)),
    style.strong(resultCounts(results)),
    ...gapLines(results.coverage),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function suiteLines(
  { file, problems, tests }: SuiteResult,
  style: ResultStyle,
  isVerbose: boolean,
): readonly string[] {
  return [
    ...problems.map((problem) => style.removed(renderFileProblem(problem))),
    ...tests.flatMap((test) => {
      const place = `${shownFile(file)}:${test.line}:${test.column}`;
      if (test.passed) return isVerbose ? [`${place}: passed: ${clipped(test.name, maxName)}`] : [];
      const title = style.removed(`${place}: failed: ${clipped(test.name, maxName)}`);
      return [title, ...test.failures.flatMap((failure) => failureLines(failure, style))];
    }),
  ];
}

const maxName = 500;

/** What the suite expects has a minus, and what Reeve answers a plus. */
function failureLines({ path, expected, found }: TestFailure, style: ResultStyle): readonly string[] {
  return [
    `    ${path}`,
    ...prefixed('    - ', expected).map((line) => style.removed(line)),
    ...prefixed('    + ', found).map((line) => style.added(line)),
  ];
}

function prefixed(prefix: string, text: string): readonly string[] {
  return text.split('\n').map((line) => `${prefix}${clipped(line, maxLine)}`);
}

const maxLine = 2000;

function resultCounts({ passed, failed, suites }: TestResults): string {
  const broken = suites.filter(({ problems }) => problems.length > 0).length;
  const counts = [
    `${passed} passed`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(broken === 0 ? [] : [`${amountOf(broken, 'suite')} could not run`]),
  ];
  return `${amountOf(passed + failed, 'test')} in ${amountOf(suites.length, 'suite')}: ${counts.join(', ')}`;
}

/** One line for each policy. */
function gapLines(gaps: readonly CoverageGap[]): readonly string[] {
  return [...Map.groupBy(gaps, ({ policy }) => policy)].map(([policy, all]) => {
    const rules = all.map(({ rule, gap }) => `${rule} was ${gap}`);
    return `policy ${clipped(policy)}: ${rules.join('; ')}`;
  });
}

export function resultsForGithub({ suites }: TestResults): string {
  return suites
    .flatMap(({ file, problems, tests }) => [
      ...problems.map((problem) => githubAnnotation({ severity: 'problem', ...problem })),
      ...tests.flatMap(({ name, failures }) =>
        failures.map(({ path, expected, found, line, column }) =>
          githubAnnotation({
            severity: 'problem',
            file,
            line,
            column,
            about: name,
            message: `${path}\n- ${expected}\n+ ${found}`,
          }),
        ),
      ),
    ])
    .join('');
}

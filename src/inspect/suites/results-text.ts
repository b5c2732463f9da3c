// Writes the results of tests: lines for people, and annotations of a pull request.
import { clipped, counted } from '../../base/text.ts';
import { renderFileProblem, shownFile } from '../../state/yaml-files.ts';
import { githubAnnotation } from '../checks/check-text.ts';
import type {
  CoverageGap,
  SuiteResult,
  TestFailure,
  TestResults,
  TestResult,
} from '../output-schemas/test-results.ts';

interface ResultStyle {
  readonly added: (text: string) => string;
  readonly removed: (text: string) => string;
  readonly strong: (text: string) => string;
}

interface ResultsStyle {
  readonly style: ResultStyle;
  /** True to list tests that passed, too. */
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

/** A minus precedes what the suite expects, and a plus precedes Reeve's answer. */
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
    ...(broken === 0 ? [] : [`${counted(broken, 'suite')} could not run`]),
  ];
  return `${counted(passed + failed, 'test')} in ${counted(suites.length, 'suite')}: ${counts.join(', ')}`;
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

// Writes the results of tests as JUnit XML, which continuous integration shows.
// https://github.com/testmoapp/junitxml

export function resultsForJunit({ passed, failed, suites }: TestResults): string {
  const errors = suites.filter(({ problems }) => problems.length > 0).length;
  const counts = { tests: passed + failed + errors, failures: failed, errors };
  const inside = suites.flatMap(suiteXml).map((line) => `  ${line}\n`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${attributes(counts)}>\n${inside.join('')}</testsuites>\n`;
}

function suiteXml({ file, problems, tests }: SuiteResult): readonly string[] {
  const failures = tests.filter(({ passed }) => !passed).length;
  const errors = problems.length === 0 ? 0 : 1;
  const counts = { name: file, tests: tests.length + errors, failures, errors };
  return [
    `<testsuite${attributes(counts)}>`,
    ...(errors === 0
      ? []
      : [
          `  <testcase${attributes({ name: 'the suite can run', classname: file, file, line: 1 })}>`,
          `    <error message="the suite could not run">${escaped(problems.map(renderFileProblem).join('\n'))}</error>`,
          '  </testcase>',
        ]),
    ...tests.flatMap((test) => testXml(test, file)),
    '</testsuite>',
  ];
}

function testXml({ name, line, failures }: TestResult, file: string): readonly string[] {
  const start = `  <testcase${attributes({ name, classname: file, file, line })}`;
  if (failures.length === 0) return [`${start}/>`];
  return [
    `${start}>`,
    ...failures.map((failure) => {
      const place = `${file}:${failure.line}:${failure.column}`;
      const text = `${place}: ${failure.path}\n- ${failure.expected}\n+ ${failure.found}`;
      return `    <failure${attributes({ message: failure.path })}>${escaped(text)}</failure>`;
    }),
    '  </testcase>',
  ];
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(String(value)).replaceAll('\n', '&#10;')}"`)
    .join('');
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML 1.0 has no place for other control characters: https://www.w3.org/TR/xml/#charsets */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll(/[&<>"]/g, (character) => entities[character] ?? '');
}

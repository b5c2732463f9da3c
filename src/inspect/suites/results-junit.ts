// Writes the results of tests as JUnit XML, which continuous integration shows.
// https://github.com/testmoapp/junitxml
import { renderFileProblem } from '../../state/file-problem.ts';
import type { SuiteResult, TestResult, TestResults } from '../output-schemas/test-results.ts';

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

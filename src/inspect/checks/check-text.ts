// Writes the findings about files: lines for people, and annotations of a pull request.
import { clipped, counted } from '../../base/text.ts';
import { shownFile } from '../../state/yaml-files.ts';
import { unreadText } from '../input/cluster-state.ts';
import type { CheckFinding, CheckResults } from '../output-schemas/check-results.ts';

/** Returns one line for each finding, in the form that editors and terminals can jump to, and the counts. */
export function findingsText({ findings = [], ...results }: CheckResults): string {
  return [...findings.map(lineOf), ...uncheckedLines(results), countsText(results), ''].join('\n');
}

/** One line for each reason: `not checked: 2 Deployments, 1 Service: no policy has rules on this kind`. */
function uncheckedLines({ unchecked = [], unread = [] }: CheckResults): readonly string[] {
  const lines = [...Map.groupBy(unchecked, ({ reason }) => reason)].map(([reason, kinds]) => {
    const amounts = kinds.map(({ kind, count }) => counted(count, clipped(kind)));
    return `not checked: ${amounts.join(', ')}: ${reason}`;
  });
  return [...lines, unreadText(unread)].filter((line) => line !== '');
}

/** Longer than any message of Reeve. */
const maxMessage = 40_000;

function lineOf({ severity, file, line, column, about, message }: CheckFinding): string {
  const subject = about === undefined ? '' : ` ${clipped(about)}:`;
  return `${shownFile(file)}:${line}:${column}: ${severity}:${subject} ${clipped(message, maxMessage)}`;
}

type Counts = Pick<CheckResults, 'files' | 'documents' | 'problems' | 'warnings'>;

function countsText({ files = 0, documents = 0, problems = 0, warnings = 0 }: Counts): string {
  const found = [
    ...(problems === 0 ? [] : [counted(problems, 'problem')]),
    ...(warnings === 0 ? [] : [counted(warnings, 'warning')]),
  ];
  return `${counted(files, 'file')}, ${counted(documents, 'document')}: ${found.length === 0 ? 'no problems' : found.join(', ')}`;
}

/** https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-error-message */
export function findingsForGithub({ findings = [], ...results }: CheckResults): string {
  const notices = uncheckedLines(results).map((line) => `::notice::${data(line)}\n`);
  return [...findings.map(githubAnnotation), ...notices].join('');
}

/** Returns one line of GitHub's workflow commands, with `about` as title. */
export function githubAnnotation({
  severity,
  file,
  line,
  column,
  about,
  message,
}: Omit<CheckFinding, 'check'>): string {
  const place = `file=${property(shownFile(file))},line=${line},col=${column}`;
  const title = about === undefined ? '' : `,title=${property(clipped(about))}`;
  return `::${severity === 'problem' ? 'error' : 'warning'} ${place}${title}::${data(message)}\n`;
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

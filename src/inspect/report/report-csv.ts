// Writes a report as CSV: one row for each entry. https://www.rfc-editor.org/rfc/rfc4180
import { clipped } from '../../base/text.ts';
import type { ReportEntry, ReportOutput } from '../output-schemas/report-output.ts';

const columns: readonly (readonly [title: string, cellOf: (entry: ReportEntry) => string | undefined])[] = [
  ['section', ({ section }) => section],
  ['policy', ({ policy }) => policy],
  ['namespace', ({ namespace }) => namespace],
  ['kind', ({ object }) => object?.kind],
  ['name', ({ object }) => object?.name],
  ['rule', ({ rule }) => rule],
  ['path', ({ path }) => path],
  ['found', ({ found }) => found],
  ['accepted', ({ accepted }) => accepted],
  ['reason', ({ reason }) => reason],
  ['message', ({ message }) => message],
  ['until', ({ until }) => until],
  ['actions', ({ actions }) => actions],
  ['contact', ({ contact }) => contact],
  ['team', ({ team }) => team],
  ['labels', ({ labels }) => labels && labelsText(labels)],
  ['written', ({ written }) => written],
];

/** Longer than any message of Reeve. */
const maxField = 40_000;

export function reportCsv({ entries }: ReportOutput): string {
  const rows = [
    columns.map(([title]) => title),
    ...entries.map((entry) => columns.map(([, cellOf]) => cellOf(entry) ?? '')),
  ];
  return rows.map((row) => `${row.map(field).join(',')}\n`).join('');
}

/** `env=prod,team=red`: as a label selector of kubectl. */
function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .toSorted()
    .join(',');
}

/** A spreadsheet would calculate a text that begins like a formula. https://owasp.org/www-community/attacks/CSV_Injection */
function field(text: string): string {
  const printable = clipped(text, maxField);
  const plain = /^[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/.test(printable) ? `'${printable}` : printable;
  return /[",]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

// Writes a report as one page of HTML: nothing is loaded, nothing runs, and every text from outside is escaped.
import { clipped } from '../../base/text.ts';
import type { ReportEntry, ReportOutput } from '../output-schemas/report-output.ts';
import { untilText } from './ends.ts';
import { compareTexts, countsIn, objectText } from './entries.ts';
import { cellText, limited, styleOf } from './matrix.ts';
import { pageStyle } from './page-style.ts';
import { headingText, whyText } from './report-text.ts';

/** With more of them, a page is slow and its matrix cannot be read. */
const maxRows = 200;
const maxColumns = 60;
const maxText = 1000;

/** The id of an entry is the target of a link. */
interface Anchored {
  readonly entry: ReportEntry;
  readonly id: string;
}

export function reportHtml(report: ReportOutput): string {
  const entries = report.entries.map((entry, index) => ({ entry, id: `e${index + 1}` }));
  const body = [
    '<h1>Reeve report</h1>',
    `<p>${escaped(headingText(report))}</p>`,
    ...report.unread.map(
      ({ kind, reason }) => `<p class="bad">${escaped(kind)} could not be read: ${escaped(reason)}</p>`,
    ),
    `<p><strong>${escaped(summaryText(report))}</strong></p>`,
    ...matrix(report, entries),
    ...byNamespace(report, entries),
    ...ends(report),
  ];
  return page(body.join('\n'));
}

function page(body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Reeve report</title>
<style>
${pageStyle}
</style>
</head>
<body>
${body}
</body>
</html>
`;
}

/** Also safe between the quotes of an attribute. */
function escaped(text: string): string {
  return clipped(text, maxText)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Long names break after a slash or a dot. No entity of `escaped` has one of these. */
function breakable(text: string): string {
  return escaped(text).replaceAll(/[/.](?=\w)/g, '$&<wbr>');
}

function summaryText({ entries }: ReportOutput): string {
  return entries.length === 0 ? 'Nothing to report.' : `${cellText(countsIn(entries))}.`;
}

function matrix(
  { cells, policies, namespaces }: ReportOutput,
  entries: readonly Anchored[],
): readonly string[] {
  const byPair = new Map(cells.map((cell) => [pairOf(cell), cell.counts]));
  // The first entry of a pair is the last one that the map gets.
  const links = new Map(entries.toReversed().map(({ entry, id }) => [pairOf(entry), id]));
  const matched = new Set(cells.map(({ policy }) => policy));
  const columns = limited(
    policies.filter((policy) => matched.has(policy)),
    maxColumns,
    cells,
    'policy',
  );
  const rows = limited(namespaces, maxRows, cells, 'namespace');
  const without = policies.filter((policy) => !matched.has(policy));
  const cellOf = (policy: string, namespace: string): string => {
    const pair = pairOf({ policy, namespace });
    const counts = byPair.get(pair);
    if (counts === undefined) return '<td class="none">-</td>';
    const id = links.get(pair);
    const text = escaped(cellText(counts));
    return `<td class="${styleOf(counts)}">${id === undefined ? text : `<a href="#${id}">${text}</a>`}</td>`;
  };
  const head = columns.shown.map((policy) => `<th scope="col">${breakable(policy)}</th>`);
  const lines = rows.shown.map((namespace) => {
    const row = columns.shown.map((policy) => cellOf(policy, namespace));
    return `<tr><th scope="row">${escaped(namespace)}</th>${row.join('')}</tr>`;
  });
  return [
    '<h2>Namespaces by policies</h2>',
    '<p>ok: all is as the policy, share or binding wants it. A dash: it does not match the namespace.</p>',
    ...leftOutText(rows.leftOut, 'namespaces'),
    ...leftOutText(columns.leftOut, 'policies'),
    ...(without.length === 0 ? [] : [`<p>Without a namespace: ${without.map(escaped).join(', ')}.</p>`]),
    '<div class="scroll"><table class="matrix">',
    `<thead><tr><th scope="col">Namespace</th>${head.join('')}</tr></thead>`,
    `<tbody>\n${lines.join('\n')}\n</tbody>`,
    '</table></div>',
  ];
}

/** Unambiguous, because no name contains a blank. */
function pairOf({
  policy,
  namespace = '',
}: {
  readonly policy: string;
  readonly namespace?: string;
}): string {
  return `${policy} ${namespace}`;
}

function leftOutText(leftOut: number, things: string): readonly string[] {
  return leftOut === 0
    ? []
    : [`<p>Those with entries come first. ${leftOut} more ${things} are left out of this table.</p>`];
}

function byNamespace({ time }: ReportOutput, entries: readonly Anchored[]): readonly string[] {
  const groups = Map.groupBy(entries, ({ entry: { namespace = '' } }) => namespace);
  const sorted = [...groups].sort(([a], [b]) => compareTexts(a, b));
  return [
    '<h2>Entries by namespace</h2>',
    ...(sorted.length === 0 ? ['<p>None.</p>'] : []),
    ...sorted.flatMap(([namespace, own]) => {
      const inOrder = own.toSorted((a, b) => compareTexts(a.entry.policy, b.entry.policy));
      const rows = inOrder.map(({ entry, id }) => {
        const { section, policy, rule, reason, until } = entry;
        const end = until === undefined ? '' : untilText(until, time);
        return rowOf([section, policy, objectText(entry), rule ?? reason ?? '', whyText(entry), end], id);
      });
      return [
        `<h3>${namespace === '' ? 'In no single namespace' : escaped(namespace)}</h3>`,
        ...table(['What', 'Policy', 'Object', 'Rule or reason', 'Why', 'Until'], rows),
      ];
    }),
  ];
}

function ends({ entries, time }: ReportOutput): readonly string[] {
  const ending = entries
    .filter(({ until }) => until !== undefined)
    .sort((a, b) => compareTexts(a.until ?? '', b.until ?? ''));
  const rows = ending.map((entry) => {
    const { section, policy, namespace = '', rule, until } = entry;
    const what = rule ?? objectText(entry);
    return rowOf([untilText(until, time), section, policy, namespace, what, whyText(entry)]);
  });
  const titles = ['Until', 'What', 'Policy', 'Namespace', 'Rules or object', 'Why'];
  return ['<h2>What ends, by date</h2>', ...(rows.length === 0 ? ['<p>Nothing.</p>'] : table(titles, rows))];
}

function rowOf(cells: readonly string[], id?: string): string {
  const anchor = id === undefined ? '' : ` id="${id}"`;
  return `<tr${anchor}>${cells.map((cell) => `<td>${breakable(cell)}</td>`).join('')}</tr>`;
}

function table(titles: readonly string[], rows: readonly string[]): readonly string[] {
  const head = titles.map((title) => `<th scope="col">${title}</th>`).join('');
  return [
    `<div class="scroll"><table>\n<thead><tr>${head}</tr></thead>`,
    `<tbody>\n${rows.join('\n')}\n</tbody>`,
    '</table></div>',
  ];
}

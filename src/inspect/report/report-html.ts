// Writes a report as one page of HTML. The page loads nothing and runs nothing, and all text from outside is escaped.
import { clipped } from '../../base/text.ts';
import {
  type ReportEntry,
  type ReportOutput,
  reportSections,
  type ReportCell,
} from '../output-schemas/report-output.ts';
import { untilText, compareTexts, countsIn, objectText, type ReportSection } from './entries.ts';
import { headingText, whyText } from './report-text.ts';

/** With more rows, a page is slow and its matrix cannot be read. */
const maxRows = 200;
const maxColumns = 60;
const maxText = 1000;

/** An entry with the id that links point to. */
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

/** Lets long names break after a slash or a dot. No entity of `escaped` contains either. */
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
  // The map keeps the last entry of a pair, so the reversed list leaves the first one.
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

/** The key is unambiguous, because no name contains a blank. */
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

// Chooses the rows, columns and words of the matrix of namespaces by policies.

type Counts = ReportCell['counts'];

/** The words for one entry and for several, and the style of their cell. */
const words: Readonly<Record<ReportSection, readonly [one: string, more: string, style: Style]>> = {
  violation: ['violation', 'violations', 'bad'],
  conflict: ['conflict', 'conflicts', 'bad'],
  blocked: ['blocked', 'blocked', 'bad'],
  held: ['held', 'held', 'warn'],
  skipped: ['skipped', 'skipped', 'warn'],
  exception: ['exception', 'exceptions', 'note'],
  grant: ['grant with an end', 'grants with an end', 'note'],
};

type Style = 'bad' | 'warn' | 'note' | 'ok';

/** Example: `2 violations, 1 conflict`. Without entries: `ok`. */
function cellText(counts: Counts): string {
  const parts = sectionsIn(counts).map((section) => {
    const count = counts[section] ?? 0;
    const [one, more] = words[section];
    return `${count} ${count === 1 ? one : more}`;
  });
  return parts.length === 0 ? 'ok' : parts.join(', ');
}

/** Returns the style of the worst entry. */
function styleOf(counts: Counts): Style {
  const [worst] = sectionsIn(counts);
  return worst === undefined ? 'ok' : words[worst][2];
}

function sectionsIn(counts: Counts): readonly ReportSection[] {
  return reportSections.filter((section) => (counts[section] ?? 0) > 0);
}

/** Returns all names. If there are too many, returns the first names, those with entries before the others. */
export function limited(
  names: readonly string[],
  limit: number,
  cells: readonly ReportCell[],
  by: 'policy' | 'namespace',
): { readonly shown: readonly string[]; readonly leftOut: number } {
  if (names.length <= limit) return { shown: names, leftOut: 0 };
  const withEntries = new Set(
    cells.filter(({ counts }) => Object.keys(counts).length > 0).map((cell) => cell[by]),
  );
  const shown = [
    ...names.filter((name) => withEntries.has(name)),
    ...names.filter((name) => !withEntries.has(name)),
  ].slice(0, limit);
  return { shown, leftOut: names.length - shown.length };
}

// Defines the style of the page: light or dark by the reader's system, and black on white on paper.

const pageStyle = `:root { color-scheme: light dark; --text: #1b1f24; --back: #fff; --line: #c8ced6; --head: #f0f3f6; --bad: #ffe3e0; --warn: #fff2cc; --note: #e2eeff; --target: #ffd54d; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --back: #14171b; --line: #434a54; --head: #21262d; --bad: #5c1f1b; --warn: #4d3d0c; --note: #17365f; --target: #7a5d00; } }
@media print { :root { --text: #000; --back: #fff; --line: #888; --head: #fff; } .scroll { overflow: visible; max-height: none; } }
body { margin: 1.5rem; color: var(--text); background: var(--back); font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .5rem; } h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; } h3 { font-size: 1rem; margin: 1.25rem 0 .35rem; }
a { color: inherit; }
.scroll { overflow: auto; max-height: 85vh; max-width: 100%; }
table { border-collapse: separate; border-spacing: 0; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border: 1px solid var(--line); border-width: 0 1px 1px 0; overflow-wrap: break-word; min-width: 5rem; max-width: 32rem; }
thead th { position: sticky; top: 0; z-index: 1; background: var(--head); border-top-width: 1px; }
tr :first-child { border-left-width: 1px; }
.matrix tbody th { position: sticky; left: 0; background: var(--head); font-weight: 600; }
.matrix thead th:first-child { left: 0; z-index: 2; }
.matrix .none { opacity: .6; }
.bad { background: var(--bad); } .warn { background: var(--warn); } .note { background: var(--note); }
p.bad { padding: .5rem; }
tr:target td { background: var(--target); }`;

// Writes a report for people: one table for each section, namespace or team, with one row for each cause.
import { listed, clipped } from '../../base/text.ts';
import type { ReportEntry, ReportOutput } from '../output-schemas/report-output.ts';
import { untilText, type ReportSection, compareTexts, objectText } from './entries.ts';

interface TextSection {
  readonly title: string;
  /** The first row holds the titles of the columns. */
  readonly rows: readonly (readonly string[])[];
}

/** Sorted as a report is. The second text follows "no". */
const sectionNames: Readonly<Record<ReportSection, readonly [title: string, things: string]>> = {
  violation: ['Violations', 'violations'],
  conflict: ['Conflicts: another owner has the object', 'conflicts'],
  blocked: ['Blocked: cannot be provided', 'blocked objects'],
  held: ['Held: no longer wanted, and not deleted', 'held objects'],
  skipped: ['Skipped: the namespace lacks a label or annotation', 'skipped contents'],
  exception: ['Exceptions, by their end', 'exceptions'],
  grant: ['RoleBindings that end, by their end', 'RoleBindings that end'],
};

type Columns = readonly (readonly [title: string, cellOf: (joined: JoinedEntry, time: string) => string])[];

const place: Columns = [
  ['POLICY', ({ policy }) => policy],
  ['NAMESPACES', ({ namespaces }) => listed(namespaces)],
];
const objectColumn: Columns = [['OBJECT', objectsText]];
const untilColumn: Columns = [['UNTIL', (entry, time) => untilText(entry.until, time)]];
const why: Columns = [['WHY', whyText]];
const outcome: Columns = [...place, ...objectColumn, ['REASON', ({ reason = '' }) => reason], ...why];

const columns: Readonly<Record<ReportSection, Columns>> = {
  violation: [
    ...place,
    ...objectColumn,
    ['RULE', ({ rule = '' }) => rule],
    ['ACTIONS', ({ actions = '' }) => actions],
    ...why,
  ],
  conflict: outcome,
  blocked: outcome,
  held: outcome,
  skipped: [...place, ...objectColumn, ...why],
  exception: [...place, ['RULES', ({ rule = '' }) => rule], ...untilColumn, ['REASON', whyText]],
  grant: [...place, ...objectColumn, ...untilColumn, ['GRANTS', whyText]],
};

/** Writes the reason as a refusal does, without the policy and the rule. */
export function whyText({ path, found = '', accepted = '', message }: ReportEntry): string {
  if (message !== undefined) return message;
  return path === undefined ? '' : `${path}: found ${found}; accepted: ${accepted}`;
}

/** Example: `RoleBinding/developers`. For several objects: `3 x Secret`. */
function objectsText({ names, object: first }: JoinedEntry): string {
  return names.length === 1 ? (names[0] ?? '') : `${names.length} x ${first?.kind ?? ''}`;
}

const groupColumns: Columns = [
  ['WHAT', ({ section }) => section],
  ...place,
  ...objectColumn,
  ['RULE OR REASON', ({ rule, reason = '' }) => rule ?? reason],
  ['UNTIL', (entry, time) => (entry.until === undefined ? '' : untilText(entry.until, time))],
  ...why,
];

export type Grouping = 'cause' | 'namespace' | 'team';

/** Leaves out sections without entries. */
export function textSections(
  { entries, time }: Pick<ReportOutput, 'entries' | 'time'>,
  grouping: Grouping,
): readonly TextSection[] {
  const sectionOf = (title: string, own: Columns, all: readonly ReportEntry[]): TextSection => ({
    title: `${title} (${all.length})`,
    rows: [
      own.map(([name]) => name),
      ...joinedEntries(all, whyText).map((joined) => own.map(([, cellOf]) => cellOf(joined, time))),
    ],
  });
  if (grouping === 'cause')
    return [...Map.groupBy(entries, ({ section }) => section)].map(([section, all]) =>
      sectionOf(sectionNames[section][0], columns[section], all),
    );
  const own = grouping === 'team' ? groupColumns : groupColumns.filter(([name]) => name !== 'NAMESPACES');
  return groupedBy(entries, grouping).map(([name, all]) =>
    sectionOf(name === '' ? `Without a ${grouping}` : `${titles[grouping]} ${name}`, own, all),
  );
}

const titles = { namespace: 'Namespace', team: 'Team' };

/** Example: `no conflicts, no held objects`. Empty if each section has entries. */
export function emptyText({ entries }: Pick<ReportOutput, 'entries'>): string {
  const filled = new Set<string>(entries.map(({ section }) => section));
  const empty = Object.entries(sectionNames).filter(([section]) => !filled.has(section));
  return empty.map(([, [, things]]) => `no ${things}`).join(', ');
}

export function headingText({ origin, time, policies, namespaces }: ReportOutput): string {
  const provider = policies.length === 1 ? 'policy, share or binding' : 'policies, shares and bindings';
  const namespace = namespaces.length === 1 ? 'namespace' : 'namespaces';
  return `${policies.length} ${provider} and ${namespaces.length} ${namespace} of ${origin}, at ${time}`;
}

// Joins entries with the same cause, and divides a report into groups: by section, namespace or team.

/** Entries that differ only in namespace and name of the object. */
interface JoinedEntry extends ReportEntry {
  readonly namespaces: readonly string[];
  readonly names: readonly string[];
}

/** Joins entries in the order of their first ones. `whyOf` returns the reason that an entry shows. */
function joinedEntries(
  entries: readonly ReportEntry[],
  whyOf: (entry: ReportEntry) => string,
): readonly JoinedEntry[] {
  const groups = Map.groupBy(entries, (entry) => {
    const { section, policy, object, rule, reason, actions, until } = entry;
    return JSON.stringify([section, policy, object?.kind, rule, reason, actions, until, whyOf(entry)]);
  });
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return [
      { ...first, namespaces: distinct(group, 'namespace'), names: [...new Set(group.map(objectText))] },
    ];
  });
}

function distinct(entries: readonly ReportEntry[], field: 'namespace'): readonly string[] {
  return [...new Set(entries.flatMap((entry) => entry[field] ?? []))];
}

/** Groups by name, sorted. Entries without a group come last. */
function groupedBy(
  entries: readonly ReportEntry[],
  field: 'namespace' | 'team',
): readonly (readonly [name: string, entries: readonly ReportEntry[]])[] {
  const groups = [...Map.groupBy(entries, (entry) => entry[field] ?? '')];
  return groups.toSorted(([a], [b]) => Number(a === '') - Number(b === '') || compareTexts(a, b));
}

// Writes a report as CSV: one row for each entry. https://www.rfc-editor.org/rfc/rfc4180

const csvColumns: readonly (readonly [title: string, cellOf: (entry: ReportEntry) => string | undefined])[] =
  [
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
    csvColumns.map(([title]) => title),
    ...entries.map((entry) => csvColumns.map(([, cellOf]) => cellOf(entry) ?? '')),
  ];
  return rows.map((row) => `${row.map(csvField).join(',')}\n`).join('');
}

/** Example: `env=prod,team=red`, as in a label selector of kubectl. */
function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .toSorted()
    .join(',');
}

/** Prefixes a text that a spreadsheet would calculate as a formula. https://owasp.org/www-community/attacks/CSV_Injection */
function csvField(text: string): string {
  const printable = clipped(text, maxField);
  const plain = /^[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/.test(printable) ? `'${printable}` : printable;
  return /[",]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

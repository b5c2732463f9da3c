// Writes a report for people: one table for each section.
import type { ReportEntry, ReportOutput } from '../output-schemas/report-output.ts';
import { untilText } from './ends.ts';
import { objectText, type ReportSection } from './entries.ts';

export interface TextSection {
  readonly title: string;
  /** The first row has the titles of the columns. */
  readonly rows: readonly (readonly string[])[];
}

/** In the order of a report. The second text follows "no". */
export const sectionNames: Readonly<Record<ReportSection, readonly [title: string, things: string]>> = {
  violation: ['Violations', 'violations'],
  conflict: ['Conflicts: another owner has the object', 'conflicts'],
  blocked: ['Blocked: cannot be provided', 'blocked objects'],
  held: ['Held: no longer wanted, and not deleted', 'held objects'],
  skipped: ['Skipped: the namespace lacks a label or annotation', 'skipped contents'],
  exception: ['Exceptions, by their end', 'exceptions'],
  grant: ['RoleBindings that end, by their end', 'RoleBindings that end'],
};

type Columns = readonly (readonly [title: string, cellOf: (entry: ReportEntry, time: string) => string])[];

const place: Columns = [
  ['POLICY', ({ policy }) => policy],
  ['NAMESPACE', ({ namespace = '' }) => namespace],
];
const object: Columns = [['OBJECT', objectText]];
const until: Columns = [['UNTIL', (entry, time) => untilText(entry.until, time)]];
const why: Columns = [['WHY', whyText]];
const outcome: Columns = [...place, ...object, ['REASON', ({ reason = '' }) => reason], ...why];

const columns: Readonly<Record<ReportSection, Columns>> = {
  violation: [
    ...place,
    ...object,
    ['RULE', ({ rule = '' }) => rule],
    ['ACTIONS', ({ actions = '' }) => actions],
    ...why,
  ],
  conflict: outcome,
  blocked: outcome,
  held: outcome,
  skipped: [...place, ...object, ...why],
  exception: [...place, ['RULES', ({ rule = '' }) => rule], ...until, ['REASON', whyText]],
  grant: [...place, ...object, ...until, ['GRANTS', whyText]],
};

/** As a refusal says it, without the policy and the rule. */
export function whyText({ path, found = '', accepted = '', message }: ReportEntry): string {
  if (message !== undefined) return message;
  return path === undefined ? '' : `${path}: found ${found}; accepted: ${accepted}`;
}

/** Only sections with entries. */
export function textSections({ entries, time }: ReportOutput): readonly TextSection[] {
  const bySection = Map.groupBy(entries, ({ section }) => section);
  return [...bySection].map(([section, all]) => ({
    title: `${sectionNames[section][0]} (${all.length})`,
    rows: [
      columns[section].map(([title]) => title),
      ...all.map((entry) => columns[section].map(([, cellOf]) => cellOf(entry, time))),
    ],
  }));
}

/** `no conflicts, no held objects`; empty if each section has entries. */
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

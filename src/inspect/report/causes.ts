// Joins entries with the same cause, and divides a report into groups: by section, namespace or team.
import type { ReportEntry } from '../output-schemas/report-output.ts';
import { compareTexts, objectText } from './entries.ts';

/** Entries that differ in the namespace and the name of the object alone. */
export interface JoinedEntry extends ReportEntry {
  readonly namespaces: readonly string[];
  readonly names: readonly string[];
}

/** In the order of their first entries. `whyOf`: what is said of an entry. */
export function joinedEntries(
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

/** By the name of the group. What belongs to none comes last. */
export function groupedBy(
  entries: readonly ReportEntry[],
  field: 'namespace' | 'team',
): readonly (readonly [name: string, entries: readonly ReportEntry[]])[] {
  const groups = [...Map.groupBy(entries, (entry) => entry[field] ?? '')];
  return groups.toSorted(([a], [b]) => Number(a === '') - Number(b === '') || compareTexts(a, b));
}

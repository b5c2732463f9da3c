// Chooses the rows, columns and words of the matrix of namespaces by policies.
import { reportSections, type ReportCell } from '../output-schemas/report-output.ts';
import type { ReportSection } from './entries.ts';

type Counts = ReportCell['counts'];

/** For one entry, for more of them, and how a cell with such an entry looks. */
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

/** `2 violations, 1 conflict`; `ok` without entries. */
export function cellText(counts: Counts): string {
  const parts = sectionsIn(counts).map((section) => {
    const count = counts[section] ?? 0;
    const [one, more] = words[section];
    return `${count} ${count === 1 ? one : more}`;
  });
  return parts.length === 0 ? 'ok' : parts.join(', ');
}

/** How the worst entry looks. */
export function styleOf(counts: Counts): Style {
  const [worst] = sectionsIn(counts);
  return worst === undefined ? 'ok' : words[worst][2];
}

function sectionsIn(counts: Counts): readonly ReportSection[] {
  return reportSections.filter((section) => (counts[section] ?? 0) > 0);
}

/** Returns all names, or, if they are too many, the first ones of those with entries and then of the others. */
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

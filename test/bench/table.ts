// The table of all rows in docs/performance.md, made from the saved results, and the lines that a run prints.
import { isMet, isWorse, type Figure, type Results } from './results.ts';
import type { Row } from './row.ts';

export const performancePage = 'docs/performance.md';
const [begin, end] = ['<!-- generated: bench -->', '<!-- generated: end -->'];

/** Returns the page with the table between its markers replaced. */
export function pageWithTable(page: string, table: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${performancePage} lacks the line ${begin} or ${end}`);
  return `${page.slice(0, from)}${begin}\n\n${table}\n${page.slice(to)}`;
}

export function resultsTable(rows: readonly Row[], { machine, rows: figures }: Results): string {
  const { processor, cores, memoryGiB, node } = machine;
  const measured = rows.map((row) => tableRow(row, figures[row.id]));
  const missed = rows.filter(({ id, goal }) => {
    const found = figures[id];
    return found !== undefined && !isMet(goal, found.figure);
  });
  return [
    `Measured on ${processor}, ${cores} cores, ${memoryGiB} GiB, Node ${node}.`,
    '',
    aligned([['What', 'Reeve', 'Baseline', 'Figure', 'Noise', 'Goal', 'Met'], ...measured]),
    ...(missed.length === 0
      ? []
      : ['', ...missed.map(({ title, why }) => `- ${title}: ${why ?? 'not explained yet'}.`)]),
    '',
  ].join('\n');
}

function tableRow(row: Row, found: Figure | undefined): readonly string[] {
  const { title, goal, unit } = row;
  if (found === undefined) return [title, '-', '-', 'not measured', '-', goalText(row), '-'];
  const { ours, baseline, figure, noise, rounds } = found;
  return [
    title,
    inUnit(ours, unit),
    baseline === undefined ? '-' : inUnit(baseline, unit),
    goal.of === 'ratio' ? `${number(figure)}x` : inUnit(figure, unit),
    rounds === 1 ? '1 round' : `${Math.round(noise * 100)} %`,
    goalText(row),
    isMet(goal, figure) ? 'yes' : 'no',
  ];
}

function goalText({ goal, unit }: Row): string {
  return `${goal.is} ${goal.of === 'ratio' ? `${goal.limit}x` : inUnit(goal.limit, unit)}`;
}

/** Pads the cells as prettier does, so that `npm run format` changes nothing. */
export function aligned([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

function inUnit(value: number, unit: Row['unit']): string {
  return unit === 'x' ? `${number(value)}x` : `${number(value)} ${unit}`;
}

/** Three digits, and a comma at the thousands. */
function number(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: Math.abs(value) >= 1000 ? 4 : 3 });
}

/** Returns the line that a run prints for a row, with the saved figure beside it. */
export function runLine(row: Row, found: Figure, saved: Figure | undefined): string {
  const [, ours = '', baseline = '', figure = '', noise = ''] = tableRow(row, found);
  const against = baseline === '-' ? ours : `${ours} against ${baseline}`;
  const goal = `${goalText(row)}: ${isMet(row.goal, found.figure) ? 'ok' : 'MISSED'}`;
  const before = saved === undefined ? 'nothing saved' : `saved ${number(saved.figure)}`;
  const worse = saved !== undefined && isWorse(row, found.figure, saved.figure) ? ', WORSE' : '';
  return `${row.id.padEnd(24)}${figure.padStart(14)}  noise ${noise.padStart(5)}  ${goal} (${before}${worse})  ${against}`;
}

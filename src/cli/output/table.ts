// Writes rows as a table for a terminal: columns as wide as their longest cell, the last one as it is.
import { clipped } from '../../base/text.ts';

/** Long enough for names of objects and paths of fields. */
const maxCell = 200;
/** Long enough for a sentence of Reeve, which only the last column holds. */
const maxLastCell = 1000;

/** The first row has the titles. Control characters never reach the terminal. */
export function tableText(rows: readonly (readonly string[])[], indent = ''): string {
  const widths: number[] = [];
  const cells = rows.map((row) =>
    row.map((cell, column) => {
      const text = clipped(cell, column === row.length - 1 ? maxLastCell : maxCell);
      if (column < row.length - 1) widths[column] = Math.max(widths[column] ?? 0, text.length);
      return text;
    }),
  );
  return cells
    .map((row) =>
      row.map((cell, column) => cell.padEnd(column === row.length - 1 ? 0 : (widths[column] ?? 0))),
    )
    .map((row) => `${indent}${row.join('  ').trimEnd()}\n`)
    .join('');
}

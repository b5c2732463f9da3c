// Runs measurements one after the other, prints their figures beside the saved ones, and saves them on request.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { openContext } from './context.ts';
import { benchRows } from './goals.ts';
import { measurements } from './measurements.ts';
import { figureOf, isWorse, merged, type Figure, type Machine, type Results } from './results.ts';
import type { BenchContext, Measurement, Row } from './row.ts';
import { performancePageFile, resultsFile } from './results-page.ts';
import { runLine } from './table.ts';

const root = join(import.meta.dirname, '../..');

export interface BenchOptions {
  readonly isQuick: boolean;
  /** Ids of rows. Empty: all. */
  readonly only: readonly string[];
  readonly isSaving: boolean;
  /** The results to compare with. Default: bench/results.json. */
  readonly comparedFile: string | undefined;
}

interface Outcome {
  readonly figures: Record<string, Figure>;
  readonly errors: string[];
}

/** Returns true when each row was measured and none is worse than its saved figure by more than its threshold. */
export async function runBench(options: BenchOptions): Promise<boolean> {
  const { isQuick, only, isSaving, comparedFile = resultsFile } = options;
  const unknown = only.find((id) => !benchRows.some((row) => row.id === id));
  if (unknown !== undefined) throw new Error(`there is no row ${unknown}; rows: ${idsOf(benchRows)}`);
  const saved = await savedResults(comparedFile);
  const chosen = measurements.filter(
    (each) => (!isQuick || each.isQuick) && (only.length === 0 || each.rows.some((id) => only.includes(id))),
  );
  const found: Outcome = { figures: {}, errors: [] };
  {
    await using opened = await openContext(isQuick);
    for (const each of chosen) await measured(each, opened.context, saved, found);
  }
  const worse = benchRows.filter((row) => {
    const [now, before] = [found.figures[row.id], saved?.rows[row.id]];
    return now !== undefined && before !== undefined && isWorse(row, now.figure, before.figure);
  });
  if (isSaving) await save(found.figures);
  for (const line of found.errors) process.stdout.write(`NOT MEASURED ${line}\n`);
  if (worse.length > 0) process.stdout.write(`worse than saved: ${idsOf(worse)}\n`);
  return found.errors.length === 0 && worse.length === 0;
}

async function measured(
  { rows, measure }: Measurement,
  context: BenchContext,
  saved: Results | undefined,
  found: Outcome,
): Promise<void> {
  const began = performance.now();
  try {
    const samples = await measure(context);
    for (const row of rowsOf(rows)) {
      const figure = figureOf(row, samples[row.id] ?? { ours: [] });
      found.figures[row.id] = figure;
      process.stdout.write(`${runLine(row, figure, saved?.rows[row.id])}\n`);
    }
  } catch (error) {
    found.errors.push(`${rows.join(', ')}: ${error instanceof Error ? error.message : String(error)}`);
  }
  context.print(`  ${rows.join(', ')}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

function rowsOf(ids: readonly string[]): readonly Row[] {
  return benchRows.filter(({ id }) => ids.includes(id));
}

function idsOf(rows: readonly Row[]): string {
  return rows.map(({ id }) => id).join(', ');
}

async function savedResults(path: string): Promise<Results | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Results);
}

/** Writes the results and the table of the page that shows them. */
async function save(figures: Readonly<Record<string, Figure>>): Promise<void> {
  const { rows, ...rest } = merged(await savedResults(resultsFile), machine(), figures);
  // In the order of the table, so that a second run changes only figures.
  const ordered = benchRows.flatMap(({ id }) => (rows[id] === undefined ? [] : [[id, rows[id]] as const]));
  const results: Results = { ...rest, rows: Object.fromEntries(ordered) };
  await mkdir(dirname(resultsFile), { recursive: true });
  await writeFile(resultsFile, `${JSON.stringify(results, undefined, 2)}\n`);
  const { path, text } = performancePageFile();
  await writeFile(join(root, path), text);
}

function machine(): Machine {
  const [first] = cpus();
  return {
    processor: first?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
  };
}

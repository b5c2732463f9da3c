// Runs measurements one after the other, prints their figures beside the saved ones, and saves them on request.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import type { BenchOptions } from './bench-command.ts';
import { openContext } from './context.ts';
import { benchRows } from './goals.ts';
import { measurements } from './measurements.ts';
import {
  figureOf,
  isSameMachine,
  isWorse,
  merged,
  parsedResults,
  type Figure,
  type Machine,
  type Results,
} from './results.ts';
import type { BenchContext, Measurement, Row, Samples } from './row.ts';
import { performancePageFile, resultsFile } from './results-page.ts';
import { runLine } from './table.ts';

const root = join(import.meta.dirname, '../..');

/** What the measurements so far have found. */
interface Outcome {
  readonly samples: Record<string, Partial<Samples>>;
  readonly figures: Record<string, Figure>;
  readonly errors: string[];
  /** Rows that lack samples because a measurement failed. */
  readonly failed: Set<string>;
}

/** Returns true when each row was measured and none is worse than its saved figure by more than its threshold. */
export async function runBench(options: BenchOptions): Promise<boolean> {
  const { isSaving, comparedFile } = options;
  const chosen = chosenMeasurements(measurements, options);
  const saved = comparedFile === undefined ? await savedResults() : await readResults(comparedFile);
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  if (saved !== undefined && !isSameMachine(saved.machine, machine()))
    say('the saved figures are from another machine, so only ratios can be compared');
  const found: Outcome = { samples: {}, figures: {}, errors: [], failed: new Set() };
  const began = performance.now();
  {
    await using opened = await openContext(options.isQuick);
    for (const each of chosen) {
      await measured(each, opened.context, found);
      const complete = completedBy(each, chosen, measurements).filter((id) => !found.failed.has(id));
      for (const row of benchRows.filter(({ id }) => complete.includes(id))) judge(row, saved, found);
    }
  }
  const worse = benchRows.filter((row) => {
    const [now, before] = [found.figures[row.id], saved?.rows[row.id]];
    return now !== undefined && before !== undefined && isWorse(row, now.figure, before.figure);
  });
  if (isSaving) await save(found.figures);
  say(`measured in ${secondsSince(began)}`);
  const left = benchRows.filter(({ id }) => !chosen.some(({ rows }) => rows.includes(id)));
  if (options.isQuick && options.only.length === 0) say(`left out by --quick: ${idsOf(left)}`);
  for (const line of found.errors) say(`NOT MEASURED ${line}`);
  if (worse.length > 0) say(`worse than saved: ${idsOf(worse)}`);
  return found.errors.length === 0 && worse.length === 0;
}

/** Returns the measurements of all rows that the options name. Throws when one of them is not measured. */
export function chosenMeasurements(
  all: readonly Measurement[],
  { isQuick, only }: Pick<BenchOptions, 'isQuick' | 'only'>,
): readonly Measurement[] {
  const possible = all.filter((each) => !isQuick || each.isQuick);
  const ids = [...new Set(possible.flatMap(({ rows }) => rows))];
  const unknown = only.find((id) => !ids.includes(id));
  if (unknown !== undefined)
    throw new Error(`there is no row ${unknown}${isQuick ? ' with --quick' : ''}; rows: ${ids.join(', ')}`);
  return possible.filter(({ rows }) => only.length === 0 || rows.some((id) => only.includes(id)));
}

/**
 * Returns the rows that have all samples after this measurement. `--only` may leave out another measurement of a row, and then
 * the row is never complete.
 */
export function completedBy(
  measurement: Measurement,
  chosen: readonly Measurement[],
  all: readonly Measurement[],
): readonly string[] {
  return measurement.rows.filter((id) => {
    const needed = all.filter(({ rows }) => rows.includes(id));
    return needed.at(-1) === measurement && needed.every((each) => chosen.includes(each));
  });
}

async function measured(
  { rows, measure }: Measurement,
  context: BenchContext,
  found: Outcome,
): Promise<void> {
  const began = performance.now();
  try {
    for (const [id, samples] of Object.entries(await measure(context)))
      found.samples[id] = { ...found.samples[id], ...samples };
  } catch (error) {
    for (const id of rows) found.failed.add(id);
    found.errors.push(`${rows.join(', ')}: ${error instanceof Error ? error.message : String(error)}`);
  }
  context.print(`  ${rows.join(', ')}: ${secondsSince(began)}`);
}

/** Prints the figure of a row whose measurements have ended. */
function judge(row: Row, saved: Results | undefined, { samples, figures, errors }: Outcome): void {
  try {
    const figure = figureOf(row, { ours: [], ...samples[row.id] });
    figures[row.id] = figure;
    process.stdout.write(`${runLine(row, figure, saved?.rows[row.id])}\n`);
  } catch (error) {
    errors.push(error instanceof Error ? error.message : String(error));
  }
}

function secondsSince(began: number): string {
  return `${((performance.now() - began) / 1000).toFixed(1)} s`;
}

function idsOf(rows: readonly Row[]): string {
  return rows.map(({ id }) => id).join(', ');
}

/** Returns undefined only when nothing has been saved yet. */
async function savedResults(): Promise<Results | undefined> {
  return existsSync(resultsFile) ? await readResults(resultsFile) : undefined;
}

async function readResults(path: string): Promise<Results> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) throw new Error(`${path} cannot be read`);
  return parsedResults(text, path);
}

/** Writes the results and the table of the page that shows them. */
async function save(figures: Readonly<Record<string, Figure>>): Promise<void> {
  const { rows, ...rest } = merged(await savedResults(), machine(), figures);
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

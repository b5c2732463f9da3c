// Figures of rows: computed from samples, judged by their goal, and compared with those of an earlier run.
import { median, quantile } from './statistics.ts';
import type { Goal, Row, Samples } from './row.ts';

export interface Figure {
  /** What the goal limits: a ratio, a difference or a value. */
  readonly figure: number;
  /** How far the middle half of all rounds is spread, relative to the figure: 0.1 is 10 %. */
  readonly noise: number;
  /** The medians, in the unit of the row. */
  readonly ours: number;
  readonly baseline?: number;
  readonly rounds: number;
}

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly node: string;
}

/** What bench/results.json holds. */
export interface Results {
  readonly machine: Machine;
  readonly rows: Readonly<Record<string, Figure>>;
}

export function figureOf({ goal, id }: Row, { ours, baseline }: Samples): Figure {
  const values = valuesOf(goal, ours, baseline);
  if (values.length === 0 || !values.every(Number.isFinite)) throw new Error(`${id} has no usable samples`);
  const figure = goal.of === 'count' ? farthest(goal, values) : median(values);
  const middle = quantile(values, 0.75) - quantile(values, 0.25);
  return {
    figure: rounded(figure),
    noise: rounded(figure === 0 ? 0 : middle / Math.abs(figure)),
    ours: rounded(median(ours)),
    ...(baseline === undefined ? {} : { baseline: rounded(median(baseline)) }),
    rounds: values.length,
  };
}

function valuesOf(
  goal: Goal,
  ours: readonly number[],
  baseline: readonly number[] | undefined,
): readonly number[] {
  if (goal.of === 'value' || goal.of === 'count') return ours;
  const other = (round: number): number => baseline?.[round] ?? Number.NaN;
  if (goal.of === 'ratio') return ours.map((value, round) => value / other(round));
  return ours.map((value, round) => value - other(round));
}

/** Every round must keep the goal of a count, so the round that is farthest from it counts. */
function farthest({ is, limit }: Goal, values: readonly number[]): number {
  const distance = (value: number): number => {
    if (is === 'at most') return value - limit;
    return is === 'at least' ? limit - value : Math.abs(value - limit);
  };
  return values.toSorted((a, b) => distance(b) - distance(a))[0] ?? Number.NaN;
}

/** Four digits are more than the noise allows, and keep the saved file short. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

export function isMet({ is, limit }: Goal, figure: number): boolean {
  if (is === 'at most') return figure <= limit;
  return is === 'at least' ? figure >= limit : figure === limit;
}

/** Returns true when the figure exceeds the saved figure by more than both thresholds, on the bad side. */
export function isWorse({ goal, threshold }: Row, figure: number, saved: number): boolean {
  if (goal.is === 'exactly') return Math.abs(figure - goal.limit) > Math.abs(saved - goal.limit);
  const [high, low] = goal.is === 'at least' ? [saved, figure] : [figure, saved];
  return high - low > threshold.absolute && high > low * threshold.ratio;
}

/** Returns the saved results with the measured ones in their place. Figures of another machine are left out. */
export function merged(saved: Results | undefined, machine: Machine, rows: Results['rows']): Results {
  const kept = saved !== undefined && isSameMachine(saved.machine, machine) ? saved.rows : {};
  return { machine, rows: { ...kept, ...rows } };
}

export function isSameMachine(one: Machine, other: Machine): boolean {
  return (
    one.processor === other.processor &&
    one.cores === other.cores &&
    one.memoryGiB === other.memoryGiB &&
    one.node === other.node
  );
}

/** Throws when the text is not what `--save` writes. */
export function parsedResults(text: string, path: string): Results {
  const found = parsed(text) as Partial<Results> | null | undefined;
  const rows: unknown = found?.rows;
  const isComplete =
    typeof found?.machine === 'object' &&
    typeof rows === 'object' &&
    rows !== null &&
    Object.values(rows).every((row: unknown) => typeof (row as Figure | null)?.figure === 'number');
  if (!isComplete) throw new Error(`${path} does not hold results of the bench`);
  return found as Results;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

// The shape of a row of the bench: what it is called, its goal, and the samples that a measurement returns for it.
import type { ClusterBinary } from '../cluster/binary.ts';
import type { BenchPlanes } from './plane/bench-planes.ts';

/**
 * What must be within a limit: the median ratio of all rounds, the median difference, the median of Reeve's own values, or
 * each of Reeve's own values (`count`).
 */
export interface Goal {
  readonly of: 'ratio' | 'difference' | 'value' | 'count';
  readonly is: 'at most' | 'at least' | 'exactly';
  readonly limit: number;
}

/** A figure is worse than a saved figure when it exceeds both. */
export interface Threshold {
  /** The factor between both figures, such as 1.25. */
  readonly ratio: number;
  /** The distance of both figures, in the unit of the goal. */
  readonly absolute: number;
}

export interface Row {
  readonly id: string;
  /** The measured thing, and the baseline. */
  readonly title: string;
  /** The unit of the samples. */
  readonly unit: 'ms' | 's' | 'us' | 'requests/s' | 'MiB' | 'kB' | '%' | 'writes' | 'lists' | 'x';
  readonly goal: Goal;
  readonly threshold: Threshold;
  /** Why the goal is missed, in one sentence. The table prints it only then. */
  readonly why?: string;
}

/** One value for each round. Values with the same index were measured one after the other. */
export interface Samples {
  readonly ours: readonly number[];
  /** Missing for a goal of `value` or `count` without a baseline. */
  readonly baseline?: readonly number[];
}

/**
 * By the id of the row. Another measurement may add the other half, for example when Reeve and its baseline need clusters of
 * different sizes.
 */
export type MeasuredRows = Readonly<Record<string, Partial<Samples>>>;

/** Measures one row or several rows that share a setup. */
export interface Measurement {
  /** The ids of its rows. `--only` names any of them. */
  readonly rows: readonly string[];
  /** `--quick` measures these only. */
  readonly isQuick: boolean;
  /** Rejects when a row cannot be measured. */
  readonly measure: (context: BenchContext) => Promise<MeasuredRows>;
}

/** What all measurements of a run share. Each part is made when a measurement first asks for it. */
export interface BenchContext {
  /** 5 or more, or 3 with `--quick`. */
  readonly rounds: number;
  /** A temporary folder, removed after the run. */
  readonly folder: string;
  /** Builds the program as it is in the image, and returns the path of its main.cjs. */
  readonly program: () => Promise<string>;
  /** Builds the load generator, and returns its path. */
  readonly loadGenerator: () => Promise<string>;
  /** Rejects when this machine has no control plane. */
  readonly controlPlane: () => Promise<Exclude<ClusterBinary, { readonly kind: 'none' }>>;
  /** Two control planes, which all measurements share. They only gain namespaces. */
  readonly planes: () => Promise<BenchPlanes>;
  /** Prints a line of progress. */
  readonly print: (line: string) => void;
}

/** Measures Reeve and the baseline in turn, so that other load affects both alike. Rounds that warm up do not count. */
export async function inTurn(
  rounds: number,
  ours: (round: number) => Promise<number>,
  baseline: (round: number) => Promise<number>,
  warmUps = 1,
): Promise<Required<Samples>> {
  const values: Required<Samples> & { ours: number[]; baseline: number[] } = { ours: [], baseline: [] };
  for (let round = 0; round < rounds + warmUps; round += 1) {
    const pair = [await ours(round), await baseline(round)] as const;
    if (round < warmUps) continue;
    values.ours.push(pair[0]);
    values.baseline.push(pair[1]);
  }
  return values;
}

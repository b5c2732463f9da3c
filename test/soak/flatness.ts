// Judges whether the resources of a process stay flat: compares low values of late and early samples, because leaks never shrink.
import { quantile } from '../bench/statistics.ts';
import type { VitalSigns } from './vital-signs.ts';

export type Measure = Exclude<keyof VitalSigns, 'age'>;

interface Limit {
  readonly ratio: number;
  /** The allowed absolute growth, for values so small that chance can double them. */
  readonly more: number;
}

const mebibyte = 1024 * 1024;

/**
 * How far the last quarter of the samples may lie above the first quarter. API servers keep idle connections for 90 s
 * and open others with each new authority, so their number varies by some dozens.
 */
export const limits: Readonly<Record<Measure, Limit>> = {
  rss: { ratio: 1.2, more: 32 * mebibyte },
  heap: { ratio: 1.1, more: 6 * mebibyte },
  external: { ratio: 1.25, more: 8 * mebibyte },
  descriptors: { ratio: 1.1, more: 60 },
  sockets: { ratio: 1.1, more: 60 },
  timers: { ratio: 1.1, more: 30 },
  handles: { ratio: 1.1, more: 60 },
};

/** The growth while a process starts is no leak. */
const warmUp = { share: 0.2, atMostSeconds: 300 };
/** Fewer samples than this prove nothing. */
const fewest = 8;
/** The quantile that stands for the minimum, so that an outlier does not matter. */
const low = 0.1;

export interface Trend {
  readonly process: string;
  readonly measure: Measure;
  readonly first: number;
  readonly last: number;
  readonly most: number;
  readonly isFlat: boolean;
}

/** Returns no trends of a process that ran too briefly. */
export function trendsOf(process: string, samples: readonly VitalSigns[]): readonly Trend[] {
  const warm = afterWarmUp(samples);
  if (warm.length < fewest) return [];
  const quarter = Math.floor(warm.length / 4);
  return (Object.keys(limits) as Measure[]).map((measure) => {
    const values = warm.map((sample) => sample[measure]);
    const first = quantile(values.slice(0, quarter), low);
    const last = quantile(values.slice(-quarter), low);
    const { ratio, more } = limits[measure];
    return { process, measure, first, last, most: Math.max(...values), isFlat: last <= first * ratio + more };
  });
}

function afterWarmUp(samples: readonly VitalSigns[]): readonly VitalSigns[] {
  const [begin, end] = [samples[0]?.age ?? 0, samples.at(-1)?.age ?? 0];
  const over = begin + Math.min((end - begin) * warmUp.share, warmUp.atMostSeconds);
  return samples.filter(({ age }) => age >= over);
}

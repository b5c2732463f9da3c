// Turns scrapes of real processes into the series of a promtool test: a healthy time, a time with a fault, and a time after it.
// https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/

/** The text of /metrics by the `instance` that Prometheus would add. */
export type Scrape = Readonly<Record<string, string>>;

/** The value of each series, such as `reeve_leader{instance="a"}`. */
export type Samples = ReadonlyMap<string, number>;

/** Minutes of each part of a test. */
export const healthyMinutes = 30;
export const faultMinutes = 90;
export const afterMinutes = 120;

/** Only these metrics are kept: a scrape has a thousand series. */
export function samplesOf(scrape: Scrape, isWanted: (metric: string) => boolean): Samples {
  return new Map(
    Object.entries(scrape).flatMap(([instance, text]) =>
      [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)(?: \d+)?$/gmu)]
        .filter(([, metric = '']) => isWanted(metric))
        .map(([, metric, labels, value]) => {
          const all = [`instance="${instance}"`, ...(labels === undefined ? [] : [labels])].join(',');
          return [`${metric}{${all}}`, Number(value)] as const;
        }),
    ),
  );
}

/** Returns samples in which the series of the metric with these labels have another value. Throws without such a series. */
export function changed(
  samples: Samples,
  series: RegExp,
  valueOf: (value: number, series: string) => number,
): Samples {
  const names = [...samples.keys()].filter((name) => series.test(name));
  if (names.length === 0) throw new Error(`no process serves ${String(series)}`);
  return new Map([
    ...samples,
    ...names.map((name) => [name, valueOf(samples.get(name) ?? 0, name)] as const),
  ]);
}

interface InputSeries {
  readonly series: string;
  readonly values: string;
}

/**
 * A gauge has the value of its time, and afterwards the healthy one again. A counter rises by the difference of both
 * scrapes in each minute of the fault, and stays. A series that a scrape lacks is missing at that time.
 */
export function seriesOf(healthy: Samples, faulty: Samples): readonly InputSeries[] {
  return [...new Set([...healthy.keys(), ...faulty.keys()])].map((series) => {
    const before = healthy.get(series);
    const during = faulty.get(series);
    return {
      series,
      values: /_(?:total|count|sum|bucket)\{/u.test(series)
        ? counterValues(before, during)
        : [part(before, healthyMinutes), part(during, faultMinutes), part(before, afterMinutes)].join(' '),
    };
  });
}

function part(value: number | undefined, minutes: number): string {
  return value === undefined ? `_x${minutes}` : `${value}x${minutes - 1}`;
}

function counterValues(before: number | undefined, during: number | undefined): string {
  if (during === undefined) return [part(before, healthyMinutes), part(undefined, faultMinutes)].join(' ');
  const rise = during - (before ?? 0);
  const last = during + rise * (faultMinutes - 1);
  return [
    part(before, healthyMinutes),
    `${during}+${rise}x${faultMinutes - 1}`,
    part(last, afterMinutes),
  ].join(' ');
}

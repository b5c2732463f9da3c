// The report of the soak for people, and its verdict.
import type { CallLedger } from './call-ledger.ts';
import type { Trend } from './flatness.ts';
import type { Trouble } from './trouble.ts';

export interface Report {
  readonly seed: number;
  readonly seconds: number;
  readonly calls: CallLedger['totals'];
  readonly trouble: Trouble;
  readonly settleSeconds: number;
  readonly deviations: readonly string[];
  readonly leaks: readonly string[];
  /** Processes that ended by themselves. */
  readonly fallen: readonly string[];
  /** How often a webhook that ran all the time got another certificate or authority, by its metrics. */
  readonly renewals: Readonly<Record<string, number>>;
  readonly trends: readonly Trend[];
  readonly logs: string;
}

/** Returns one line for each failed promise. Empty when all promises hold. */
export function faultsOf({ calls, trouble, deviations, leaks, fallen, trends }: Report): readonly string[] {
  return [
    ...(calls.failed === 0 ? [] : [`${calls.failed} calls failed that no fault excuses`]),
    ...calls.failures
      .slice(0, 20)
      .map(
        ({ at, action, status, message, during = [] }) =>
          `  ${at} ${action}: ${status} ${message}${during.length === 0 ? '' : ` (during: ${during.join(', ')})`}`,
      ),
    ...trouble.unhealed.map((each) => `not whole again: ${each}`),
    ...deviations.slice(0, 40).map((each) => `not as it should be: ${each}`),
    ...leaks.map((each) => `leaked: ${each}`),
    ...fallen.map((each) => `it ended by itself: ${each}`),
    ...trends.filter(({ isFlat }) => !isFlat).map((trend) => `not flat: ${trendLine(trend)}`),
    ...(trends.length === 0 ? ['no process lived long enough to say whether it is flat'] : []),
  ];
}

export function reportText(report: Report): string {
  const { seed, seconds, calls, trouble, settleSeconds, trends } = report;
  const faults = faultsOf(report);
  return [
    `seed ${seed}, ${seconds.toFixed(0)} s, ${calls.calls} calls (${(calls.calls / seconds).toFixed(1)} a second)`,
    ...Object.entries(calls.byOutcome).map(([outcome, count]) => `  ${count} × ${outcome}`),
    ...Object.entries(trouble.counts).map(
      ([name, count]) => `fault ${count} × ${name}: ${calls.excused[name] ?? 0} calls failed, as they may`,
    ),
    ...Object.entries(report.renewals).map(([counter, count]) => `${count} × ${counter}`),
    `settled after ${settleSeconds.toFixed(1)} s`,
    ...trends.map(trendLine),
    ...(faults.length === 0 ? ['all is well'] : [...faults, `logs: ${report.logs}`]),
  ].join('\n');
}

function trendLine({ process, measure, first, last, most }: Trend): string {
  const shown = (value: number): string => (value > 1e6 ? `${(value / 2 ** 20).toFixed(1)} MiB` : `${value}`);
  return `${process} ${measure}: ${shown(first)} first, ${shown(last)} last, ${shown(most)} at most`;
}

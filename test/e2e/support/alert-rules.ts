// Asks promtool which of Reeve's alerts fire for given samples, and what they say.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { promtool, type PromtoolOutput } from '../../support/prometheus.ts';
import { afterMinutes, faultMinutes, healthyMinutes, seriesOf, type Samples } from './scrapes.ts';

const alertsFile = join(import.meta.dirname, '../../../manifests/chart/files/alerts.yaml');
const text = readFileSync(alertsFile, 'utf8');

interface AlertRule {
  readonly alert: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly runbook: string };
}
const { groups } = parse(text) as { readonly groups: readonly { readonly rules: readonly AlertRule[] }[] };
const alertRules = groups.flatMap(({ rules }) => rules);
export const alertNames = alertRules.map(({ alert }) => alert);

export function isInAlerts(metric: string): boolean {
  return new RegExp(`\\b${metric}\\b`, 'u').test(text);
}

/** What a person reads of an alert that fires. */
export interface Firing {
  readonly alert: string;
  /** Beside the severity. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly summary: string;
}

/**
 * Succeeds if exactly these alerts fire at the end of the fault, and no alert before it and long after it. An alert
 * with a `for` must not fire in the first minute of the fault.
 */
export async function judgeAlerts(
  folder: string,
  healthy: Samples,
  faulty: Samples,
  firing: readonly Firing[],
): Promise<PromtoolOutput> {
  const end = healthyMinutes + faultMinutes - 1;
  const names = firing.map(({ alert }) => alert);
  const test = {
    interval: '1m',
    input_series: seriesOf(healthy, faulty),
    promql_expr_test: [
      firingAt(healthyMinutes - 1, []),
      firingAt(
        healthyMinutes,
        names.filter((name) => ruleOf(name)?.for === undefined),
      ),
      firingAt(end, names),
      firingAt(end + afterMinutes, []),
    ],
    alert_rule_test: firing.map(({ alert, labels = {}, summary }) => ({
      alertname: alert,
      eval_time: `${end}m`,
      exp_alerts: [
        {
          exp_labels: { ...ruleOf(alert)?.labels, ...labels },
          exp_annotations: { summary, runbook: ruleOf(alert)?.annotations.runbook },
        },
      ],
    })),
  };
  const file = join(folder, 'test.json');
  await writeFile(
    file,
    JSON.stringify({ rule_files: [alertsFile], evaluation_interval: '1m', tests: [test] }),
  );
  return await promtool('test', 'rules', file);
}

function ruleOf(name: string): AlertRule | undefined {
  return alertRules.find(({ alert }) => alert === name);
}

/** Each alert fires once: for one set of labels. */
function firingAt(minute: number, alerts: readonly string[]): object {
  return {
    expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
    eval_time: `${minute}m`,
    exp_samples: alerts.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
  };
}

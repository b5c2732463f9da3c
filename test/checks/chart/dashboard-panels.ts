// Names the panels of the dashboard, with their queries. Each row of the dashboard has a title and panels.

export interface Panel {
  readonly title: string;
  /** What a person should think of it. */
  readonly about: string;
  /** Queries by their legend, in which `{{label}}` stands for a label. */
  readonly queries: Readonly<Record<string, string>>;
  /** https://github.com/grafana/grafana/blob/main/packages/grafana-data/src/valueFormats/categories.ts */
  readonly unit?: string;
  /** A number in large print, or a table with a row for each series. Default: a graph. */
  readonly as?: 'stat' | 'table';
}

const rate = (metric: string): string => `rate(${metric}[$__rate_interval])`;
const quantile = (share: number, metric: string): string =>
  `histogram_quantile(${share}, sum by (le) (${rate(`${metric}_bucket`)}))`;

export const dashboardRows: Readonly<Record<string, readonly Panel[]>> = {
  Overview: [
    {
      title: 'Leaders',
      about: 'Must be 1.',
      queries: { leaders: 'sum(reeve_leader)' },
      as: 'stat',
    },
    {
      title: 'Webhooks',
      about: 'Replicas that answer reviews.',
      queries: { webhooks: 'count(reeve_admission_in_flight)' },
      as: 'stat',
    },
    {
      title: 'Policies and shares not ready',
      about: 'Should be 0. The table below names them.',
      queries: { 'not ready': 'count(max by (kind, name) (reeve_provider_ready) == 0) or vector(0)' },
      as: 'stat',
    },
    {
      title: 'Namespaces not ready',
      about: 'Namespaces that lack an object of a policy or share.',
      queries: { 'not ready': 'max(reeve_namespaces{ready="false"})' },
      as: 'stat',
    },
    {
      title: 'Guard and jail in force',
      about: 'Bindings that the API server enforces. 0 means that one is missing or does not deny.',
      queries: { 'all in force': 'min(reeve_guard_in_force)' },
      as: 'stat',
    },
    {
      title: 'First certificate expires in',
      about: 'Reeve renews its certificates after two thirds of their lifetime.',
      queries: { left: 'min(reeve_certificate_expiry_timestamp_seconds) - time()' },
      unit: 's',
      as: 'stat',
    },
  ],
  Admission: [
    {
      title: 'Reviews by decision',
      about: 'Reviews a second.',
      queries: { '{{decision}}': `sum by (decision) (${rate('reeve_admission_requests_total')})` },
      unit: 'reqps',
    },
    {
      title: 'Reviews by resource',
      about: 'Reviews a second.',
      queries: {
        '{{operation}} {{resource}}': `sum by (operation, resource) (${rate('reeve_admission_requests_total')})`,
      },
      unit: 'reqps',
    },
    {
      title: 'Time for a review',
      about: 'From the head of the request to its answer.',
      queries: {
        median: quantile(0.5, 'reeve_admission_duration_seconds'),
        '99 of 100': quantile(0.99, 'reeve_admission_duration_seconds'),
      },
      unit: 's',
    },
    {
      title: 'Violations by policy and rule',
      about: 'Violations a second, of rules that deny, warn or audit.',
      queries: {
        '{{action}} {{policy}} {{rule}}': `sum by (action, policy, rule) (${rate('reeve_rule_violations_total')})`,
      },
      unit: 'ops',
    },
    {
      title: 'Reviews without a decision',
      about:
        'Requests refused at the HTTP or TLS level, and reviews refused by errors or because they took too long.',
      queries: {
        'HTTP or TLS {{code}}': `sum by (code) (${rate('reeve_transport_refusals_total')})`,
        'internal error': `sum(${rate('reeve_internal_errors_total')})`,
        'took too long': `sum(${rate('reeve_evaluation_budget_refusals_total')})`,
      },
      unit: 'ops',
    },
    {
      title: 'Reviews in flight',
      about: 'Reviews that each webhook is answering.',
      queries: { '{{instance}}': 'reeve_admission_in_flight' },
    },
  ],
  Reconciler: [
    {
      title: 'Namespaces in the queue',
      about: 'Namespaces that need work.',
      queries: { namespaces: 'max(reeve_reconcile_queued)' },
    },
    {
      title: 'Oldest namespace in the queue',
      about: 'How long it has needed work.',
      queries: { age: 'max(reeve_reconcile_oldest_seconds)' },
      unit: 's',
    },
    {
      title: 'Writes',
      about: 'Objects written for policies and shares, a second.',
      queries: { '{{verb}} {{kind}}': `sum by (verb, kind) (${rate('reeve_reconcile_writes_total')})` },
      unit: 'ops',
    },
    {
      title: 'Failed writes',
      about: 'Writes that failed, a second, and calls that failed unexpectedly.',
      queries: {
        '{{kind}} {{reason}}': `sum by (kind, reason) (${rate('reeve_reconcile_failures_total')})`,
        unexpected: `sum(${rate('reeve_reconcile_faults_total')})`,
      },
      unit: 'ops',
    },
    {
      title: 'Reconciled namespaces',
      about: 'Namespaces a second. One that needs another try has the result retry.',
      queries: { '{{result}}': `sum by (result) (${rate('reeve_reconcile_rounds_total')})` },
      unit: 'ops',
    },
    {
      title: 'Time for a namespace',
      about: 'From the begin to the end of its work.',
      queries: {
        median: quantile(0.5, 'reeve_reconcile_duration_seconds'),
        '99 of 100': quantile(0.99, 'reeve_reconcile_duration_seconds'),
      },
      unit: 's',
    },
  ],
  'Policies and shares': [
    {
      title: 'Not ready',
      about: 'Their status says why.',
      queries: { '{{kind}} {{name}}': 'max by (kind, name) (reeve_provider_ready) == 0' },
      as: 'table',
    },
    {
      title: 'Objects missing',
      about: 'Objects that a policy or share wants and that are not in sync.',
      queries: {
        '{{kind}} {{name}}':
          'max by (kind, name) (reeve_provider_desired) - max by (kind, name) (reeve_provider_synced) > 0',
      },
    },
    {
      title: 'Conflicts',
      about: 'Objects whose name an object of another owner has.',
      queries: { '{{kind}} {{name}}': 'max by (kind, name) (reeve_provider_conflicts) > 0' },
    },
    {
      title: 'Held deletions',
      about: 'Objects whose deletion waits for a confirmation.',
      queries: { '{{kind}} {{name}}': 'max by (kind, name) (reeve_provider_held) > 0' },
    },
    {
      title: 'Violations of existing objects',
      about: 'Rules that existing objects violate.',
      queries: { '{{name}} {{resource}}': 'max by (name, resource) (reeve_provider_violations) > 0' },
    },
    {
      title: 'Exceptions and access that end',
      about: 'Time until the next exception or RoleBinding of a policy ends.',
      queries: {
        'exception of {{name}}': 'min by (name) (reeve_provider_exception_seconds)',
        'access of {{name}}': 'min by (name) (reeve_provider_grant_seconds)',
      },
      unit: 's',
      as: 'table',
    },
    {
      title: 'Namespaces',
      about: 'Namespaces whose condition reeve.dev/Ready is True or False.',
      queries: { 'ready: {{ready}}': 'max by (ready) (reeve_namespaces)' },
    },
  ],
  'Certificates and leader': [
    {
      title: 'Certificates expire in',
      about: 'The serving certificate of each replica, and the authority that signs them.',
      queries: { '{{certificate}} {{instance}}': 'reeve_certificate_expiry_timestamp_seconds - time()' },
      unit: 's',
    },
    {
      title: 'Renewals and recoveries',
      about: 'In the last hour. A recovery replaces a Secret that was lost or broken.',
      queries: {
        'renewed {{certificate}}': 'sum by (certificate) (increase(reeve_certificate_renewals_total[1h]))',
        'recovered {{cause}}': 'sum by (cause) (increase(reeve_certificate_recoveries_total[1h]))',
      },
    },
    {
      title: 'Repairs of webhook configurations',
      about: 'In the last hour, by what others had changed.',
      queries: {
        '{{kind}} {{found}}':
          'sum by (kind, found) (increase(reeve_webhook_configuration_repairs_total[1h]))',
      },
    },
    {
      title: 'Leader',
      about: '1 for the replica that writes.',
      queries: { '{{instance}}': 'reeve_leader' },
    },
  ],
  'API server and processes': [
    {
      title: 'Answers of the API server',
      about: 'Refusals a second: 401 is sent again with another token, 429 after a wait.',
      queries: { '{{code}}': `sum by (code) (${rate('reeve_api_refusals_total')})` },
      unit: 'reqps',
    },
    {
      title: 'Interrupted watches',
      about: 'Lists and watches that failed or were cut, a second.',
      queries: {
        '{{reason}} {{path}}': `sum by (reason, path) (${rate('reeve_watch_interruptions_total')})`,
      },
      unit: 'ops',
    },
    {
      title: 'Silence of watches',
      about: 'The API server sends something about every minute.',
      queries: { '{{instance}}': 'max by (instance) (reeve_watch_silence_seconds)' },
      unit: 's',
    },
    {
      title: 'Memory',
      about: 'Resident memory of each process.',
      queries: {
        '{{instance}}': 'process_resident_memory_bytes and on (instance) (reeve_watch_silence_seconds)',
      },
      unit: 'bytes',
    },
  ],
};

// Reports what the room `admission` does: reviews in the log, as metrics and in the feed.
import type { AdmissionObserver, DecisionRecord } from '../admission/ports.ts';
import type { ActivityObserver } from './activity.ts';
import { traceOf, type Log } from './log.ts';
import type { MetricsRegistry } from './registry.ts';

type CountedDecision = Pick<
  DecisionRecord,
  'operation' | 'resource' | 'decision' | 'overBudget' | 'unjudged' | 'rules' | 'milliseconds'
>;

interface PolicyCounts {
  readonly loaded: number;
  readonly stale: number;
  readonly refused: number;
}

const bucketSeconds: number[] = [
  0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export class AdmissionMetrics {
  readonly #requests;
  readonly #seconds;
  readonly #violations;
  readonly #transport;
  readonly #errors;
  readonly #overBudget;
  readonly #unjudged;
  readonly #inFlight;
  readonly #policies;

  constructor(registry: MetricsRegistry) {
    this.#requests = registry.counter('reeve_admission_requests_total', 'Admission reviews answered.', [
      'operation',
      'resource',
      'decision',
    ]);
    this.#seconds = registry.histogram(
      'reeve_admission_duration_seconds',
      'Time from the head of a request to its answer, in seconds.',
      ['operation', 'resource'],
      bucketSeconds,
    );
    this.#violations = registry.counter(
      'reeve_rule_violations_total',
      'Violations of rules by reviewed objects.',
      ['policy', 'rule', 'action'],
    );
    this.#transport = registry.counter(
      'reeve_transport_refusals_total',
      'Requests refused at the HTTP or TLS level.',
      ['code'],
    );
    this.#errors = registry.counter('reeve_internal_errors_total', 'Internal errors of Reeve.', []);
    this.#overBudget = registry.counter(
      'reeve_evaluation_budget_refusals_total',
      'Reviews refused because evaluating their policies costs more than the evaluation budget.',
      [],
    );
    this.#unjudged = registry.counter(
      'reeve_unjudged_policies_total',
      'Reviews that left out a policy with Warn or Audit because the evaluation budget or the time was used up.',
      ['policy'],
    );
    this.#inFlight = registry.gauge('reeve_admission_in_flight', 'Requests being answered now.', []);
    this.#policies = registry.gauge('reeve_policies', 'Policies, shares and bindings by state.', ['state']);
    // Alerts need a counter that exists before its first increase.
    this.#errors.inc(0);
    this.#overBudget.inc(0);
  }

  decided({
    operation,
    resource,
    decision,
    overBudget,
    unjudged,
    rules,
    milliseconds,
  }: CountedDecision): void {
    this.#requests.inc({ operation, resource, decision });
    this.#seconds.observe({ operation, resource }, milliseconds / 1000);
    if (overBudget) this.#overBudget.inc();
    for (const policy of unjudged) this.#unjudged.inc({ policy });
    for (const { policy, rule, action } of rules) this.#violations.inc({ policy, rule, action });
  }

  refusedTransport(code: number): void {
    this.#transport.inc({ code: String(code) });
  }

  failed(): void {
    this.#errors.inc();
  }

  began(): void {
    this.#inFlight.inc();
  }

  ended(): void {
    this.#inFlight.dec();
  }

  /** `stale`: an older version is in force, because the newest one has problems. */
  setPolicies({ loaded, stale, refused }: PolicyCounts): void {
    this.#policies.set({ state: 'loaded' }, loaded);
    this.#policies.set({ state: 'stale' }, stale);
    this.#policies.set({ state: 'refused' }, refused);
  }
}

export function admissionObserver(
  log: Log,
  metrics: AdmissionMetrics,
  activity: ActivityObserver,
): AdmissionObserver {
  return {
    decided: (record) => {
      metrics.decided(record);
      log.info('decision', decisionFields(record));
      activity.decided?.(record);
    },
    refusedTransport: (code, reason) => {
      metrics.refusedTransport(code);
      log.debug('request refused', { code, reason });
    },
    failed: (error) => {
      metrics.failed();
      const { error: name, frames } = traceOf(error);
      log.error('internal error', { error: name, frames });
    },
    began: () => metrics.began(),
    ended: () => metrics.ended(),
  };
}

const maxRules = 20;

/** Names each field, so that no other content of a review gets into the log. */
function decisionFields(record: DecisionRecord) {
  const broken = [...new Set(record.rules.map(({ policy, rule, action }) => `${action}:${policy}:${rule}`))];
  return {
    uid: record.uid,
    endpoint: record.endpoint,
    resource: record.resource,
    namespace: record.namespace,
    name: record.name,
    operation: record.operation,
    user: record.user,
    decision: record.decision,
    policies: record.policies.slice(0, maxRules),
    ...(broken.length === 0 ? {} : { rules: broken.slice(0, maxRules) }),
    ms: Math.round(record.milliseconds * 1000) / 1000,
  };
}

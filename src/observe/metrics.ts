// The metrics of admission; the only file that knows prom-client. Labels take only values that we choose ourselves.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

interface CountedDecision {
  readonly operation: string;
  readonly resource: string;
  readonly decision: string;
  readonly overBudget: boolean;
  readonly rules: readonly { readonly policy: string; readonly rule: string; readonly action: string }[];
  readonly milliseconds: number;
}

const bucketSeconds = [
  0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export class AdmissionMetrics {
  readonly #registry = new Registry();
  readonly #requests = this.#counter('reeve_admission_requests_total', 'Reviews answered.', [
    'operation',
    'resource',
    'decision',
  ]);
  readonly #seconds = new Histogram({
    name: 'reeve_admission_duration_seconds',
    help: 'From the head of a request to its answer.',
    labelNames: ['operation', 'resource'],
    buckets: bucketSeconds,
    registers: [this.#registry],
  });
  readonly #violations = this.#counter('reeve_rule_violations_total', 'Rules that objects broke.', [
    'policy',
    'rule',
    'action',
  ]);
  readonly #transport = this.#counter(
    'reeve_transport_refusals_total',
    'Requests refused by HTTP or TLS alone.',
    ['code'],
  );
  readonly #errors = this.#counter('reeve_internal_errors_total', 'Errors of the program itself.', []);
  readonly #overBudget = this.#counter(
    'reeve_evaluation_budget_refusals_total',
    'Reviews refused because their policies took too long.',
    [],
  );
  readonly #inFlight = this.#gauge('reeve_admission_in_flight', 'Requests that are being answered.', []);
  readonly #policies = this.#gauge('reeve_policies', 'Policies by state.', ['state']);

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
    // A counter that is there from the start can be alerted on before it first moves.
    this.#errors.inc(0);
    this.#overBudget.inc(0);
    this.#inFlight.set(0);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  render(): Promise<string> {
    return this.#registry.metrics();
  }

  decided({ operation, resource, decision, overBudget, rules, milliseconds }: CountedDecision): void {
    this.#requests.inc({ operation, resource, decision });
    this.#seconds.observe({ operation, resource }, milliseconds / 1000);
    if (overBudget) this.#overBudget.inc();
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

  setPolicies(loaded: number, refused: number): void {
    this.#policies.set({ state: 'loaded' }, loaded);
    this.#policies.set({ state: 'refused' }, refused);
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  #gauge<L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] });
  }
}

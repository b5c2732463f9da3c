// Writes the reference page of all metrics: it has the classes of src/observe define them, and records each definition.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AdmissionMetrics } from '../../../src/observe/admission.ts';
import { CertificateMetrics, ConfigurationMetrics } from '../../../src/observe/certificates.ts';
import { ConnectionMetrics, WatchMetrics } from '../../../src/observe/connection-metrics.ts';
import { countDroppedLines, MetricsRegistry } from '../../../src/observe/registry.ts';
import { measureProviders } from '../../../src/observe/provider-metrics.ts';
import type { Log } from '../../../src/observe/log.ts';
import { ReconcileReports } from '../../../src/observe/reconcile.ts';
import { TraceMetrics } from '../../../src/observe/tracer.ts';
import { code, page, prose, table } from './markdown.ts';

export interface Definition {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

class RecordingRegistry extends MetricsRegistry {
  readonly definitions: Definition[] = [];

  override counter<L extends string>(name: string, help: string, labels: L[]) {
    this.definitions.push({ name, type: 'counter', help, labels });
    return super.counter(name, help, labels);
  }

  override gauge<L extends string>(name: string, help: string, labels: L[]) {
    this.definitions.push({ name, type: 'gauge', help, labels });
    return super.gauge(name, help, labels);
  }

  override histogram<L extends string>(name: string, help: string, labels: L[], buckets: number[]) {
    this.definitions.push({ name, type: 'histogram', help, labels });
    return super.histogram(name, help, labels, buckets);
  }

  override measured(name: string, help: string, measure: () => number): void {
    this.definitions.push({ name, type: 'gauge', help, labels: [] });
    super.measured(name, help, measure);
  }

  override counted(...[name, help, count]: Parameters<MetricsRegistry['counted']>): void {
    this.definitions.push({ name, type: 'counter', help, labels: [] });
    super.counted(name, help, count);
  }

  override measuredEach<L extends string>(
    ...[name, help, labels, measure]: Parameters<typeof MetricsRegistry.prototype.measuredEach<L>>
  ): void {
    this.definitions.push({ name, type: 'gauge', help, labels });
    super.measuredEach(name, help, labels, measure);
  }
}

const silent = (): void => undefined;
const noLog: Log = {
  info: silent,
  warn: silent,
  error: silent,
  debug: silent,
  close: () => Promise.resolve(),
  dropped: () => 0,
};

const programs: readonly (readonly [string, (registry: MetricsRegistry) => void])[] = [
  ['Reviews', (registry) => void new AdmissionMetrics(registry)],
  ['Log', (registry) => countDroppedLines(registry, { dropped: () => 0 })],
  ['Certificates', (registry) => void new CertificateMetrics(registry)],
  ['Webhook configurations', (registry) => void new ConfigurationMetrics(registry, [], [])],
  [
    'Reconciler',
    (registry) =>
      void new ReconcileReports(
        noLog,
        registry,
        {},
        {
          isLeading: () => false,
          queued: () => 0,
          oldestUnreconciledMs: () => 0,
          guards: () => [],
        },
      ),
  ],
  [
    'Policies, shares and namespaces (from the leader)',
    (registry) =>
      measureProviders(registry, {
        providers: () => [],
        namespaces: () => undefined,
        now: () => new Date(),
      }),
  ],
  [
    'Connection to the API server',
    (registry) => {
      void new ConnectionMetrics(registry);
      void new WatchMetrics(registry, () => []);
    },
  ],
  ['Traces', (registry) => void new TraceMetrics(registry)],
];

export function metricsPage(): string {
  const unlisted = metricsClasses().filter((name) => !ownSource.includes(`new ${name}(`));
  if (unlisted.length > 0)
    throw new Error(`add ${unlisted.join(', ')} to the programs of test/checks/reference/metrics-page.ts`);
  return page('Metrics', [
    'Every process serves its metrics in the format of Prometheus on `/metrics`, at the port of `--probes-port` (8081), beside `/livez` and `/readyz`. The metrics of Node itself (`process_*`, `nodejs_*`) are there too. The percentiles of `nodejs_eventloop_lag` are times between two samples that are 100 ms apart, so 0.1 means no lag. Each policy and share adds at most thirteen time series, which end with it. [Runbooks](../runbooks/README.md) lists the alerts on them, and [observability](../operate/observability.md) says how to collect them.',
    ...metricGroups().flatMap(([title, definitions]) => [
      `## ${title}`,
      table(['Metric', 'Type', 'Labels', 'Meaning'], definitions.map(rowOf)),
    ]),
  ]);
}

const ownSource = readFileSync(import.meta.filename, 'utf8');

function metricsClasses(): readonly string[] {
  const folder = join(import.meta.dirname, '..', '..', '..', 'src', 'observe');
  const source = readdirSync(folder)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  return [...source.join('\n').matchAll(/^export class (\w+Metrics)\b/gmu)].map(([, name = '']) => name);
}

export function metricGroups(): readonly (readonly [string, readonly Definition[]])[] {
  return programs.map(([title, define]) => {
    const registry = new RecordingRegistry();
    define(registry);
    return [title, registry.definitions];
  });
}

function rowOf({ name, type, help, labels }: Definition): readonly string[] {
  return [code(name), type, labels.map(code).join(', '), prose(help)];
}

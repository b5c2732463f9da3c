// Measures each policy and share, and whether namespaces are ready. The numbers are those of the statuses.
import type { MetricsRegistry } from './registry.ts';

/** What a status counts, for one policy, share or binding. */
export interface ProviderNumbers {
  readonly kind: string;
  readonly name: string;
  /** The namespace of a tenant's provider. Undefined for a provider of the cluster. */
  readonly tenant: string | undefined;
  readonly isReady: boolean;
  readonly matched: number;
  readonly desired: number;
  readonly synced: number;
  readonly skipped: number;
  readonly conflicts: number;
  readonly failed: number;
  /** Objects whose deletion waits for a confirmation. */
  readonly held: number;
  readonly violations: Readonly<Record<string, number>>;
  /** When each exception and override of the policy ends, in milliseconds since the epoch. */
  readonly exceptionsEnd: readonly number[];
  /** When the first object that it provides expires. */
  readonly grantsEnd: number | undefined;
}

/** Called whenever the metrics are read. Only the leader has numbers. */
interface ProviderGauges {
  readonly providers: () => readonly ProviderNumbers[];
  readonly namespaces: () => { readonly ready: number; readonly notReady: number } | undefined;
  readonly now: () => Date;
}

const providerLabels: ('kind' | 'name')[] = ['kind', 'name'];

/**
 * Each policy and share costs at most fourteen time series, however many namespaces it matches. So do all bindings of one
 * namespace together, because a tenant can write any number of them.
 */
export function measureProviders(registry: MetricsRegistry, unsummed: ProviderGauges): void {
  const gauges = { ...unsummed, providers: () => summedTenants(unsummed.providers()) };
  measureCounts(registry, gauges);
  measureViolations(registry, gauges);
  measureEnds(registry, gauges);
  measureNamespaces(registry, gauges);
}

type ValueOf = (numbers: ProviderNumbers) => number | undefined;

const counts: readonly (readonly [name: string, help: string, valueOf: ValueOf])[] = [
  [
    'reeve_provider_ready',
    '1 if the condition Ready of a policy, share or binding is True, else 0.',
    ({ isReady }) => Number(isReady),
  ],
  ['reeve_provider_matched', 'Namespaces that match a policy, share or binding.', ({ matched }) => matched],
  ['reeve_provider_desired', 'Objects that a policy, share or binding wants.', ({ desired }) => desired],
  [
    'reeve_provider_synced',
    'Objects of a policy, share or binding that exist and match.',
    ({ synced }) => synced,
  ],
  [
    'reeve_provider_skipped',
    'Objects that a policy leaves out, because the namespace lacks a label or annotation.',
    ({ skipped }) => skipped,
  ],
  [
    'reeve_provider_conflicts',
    'Objects of a policy, share or binding whose name an object of another owner has.',
    ({ conflicts }) => conflicts,
  ],
  [
    'reeve_provider_failed',
    'Objects of a policy, share or binding that could not be created or changed.',
    ({ failed }) => failed,
  ],
  [
    'reeve_provider_held',
    'Objects of a policy, share or binding whose deletion waits for a confirmation.',
    ({ held }) => held,
  ],
];

function measureCounts(registry: MetricsRegistry, gauges: ProviderGauges): void {
  for (const [name, help, valueOf] of counts) measureEachProvider(registry, gauges, name, help, valueOf);
}

function measureEachProvider(
  registry: MetricsRegistry,
  { providers }: ProviderGauges,
  name: string,
  help: string,
  valueOf: ValueOf,
): void {
  registry.measuredEach(name, help, providerLabels, () =>
    providers().flatMap((numbers) => {
      const value = valueOf(numbers);
      return value === undefined ? [] : [[labelsOf(numbers), value] as const];
    }),
  );
}

function measureViolations(registry: MetricsRegistry, { providers }: ProviderGauges): void {
  registry.measuredEach(
    'reeve_provider_violations',
    'Rules of a policy that existing objects violate.',
    [...providerLabels, 'resource'],
    () =>
      providers().flatMap((numbers) =>
        Object.entries(numbers.violations).map(
          ([resource, count]) => [{ ...labelsOf(numbers), resource }, count] as const,
        ),
      ),
  );
}

function measureEnds(registry: MetricsRegistry, gauges: ProviderGauges): void {
  measureEachProvider(
    registry,
    gauges,
    'reeve_provider_exception_seconds',
    'Seconds until the next exception or override of actions in a policy ends. Missing when none will end.',
    ({ exceptionsEnd }) => secondsLeft(exceptionsEnd, gauges.now()),
  );
  measureEachProvider(
    registry,
    gauges,
    'reeve_provider_grant_seconds',
    'Seconds until the next RoleBinding of a policy expires. Missing when none will expire.',
    ({ grantsEnd }) => secondsLeft(grantsEnd === undefined ? [] : [grantsEnd], gauges.now()),
  );
}

function measureNamespaces(registry: MetricsRegistry, { namespaces }: ProviderGauges): void {
  registry.measuredEach(
    'reeve_namespaces',
    'Namespaces whose condition reeve.dev/Ready is True (ready="true") or False.',
    ['ready'],
    () => {
      const counted = namespaces();
      if (counted === undefined) return [];
      return [[{ ready: 'true' }, counted.ready] as const, [{ ready: 'false' }, counted.notReady] as const];
    },
  );
}

/** Returns one sum for all bindings of a namespace, with the name `SecurityIntentBinding/shop/*`. */
function summedTenants(all: readonly ProviderNumbers[]): readonly ProviderNumbers[] {
  const sums = new Map<string, ProviderNumbers>();
  for (const each of all) {
    const name = each.tenant === undefined ? each.name : `${each.kind}/${each.tenant}/*`;
    const key = `${each.kind} ${name}`;
    const known = sums.get(key);
    sums.set(key, known === undefined ? { ...each, name } : sumOf(known, each));
  }
  return [...sums.values()];
}

function sumOf(a: ProviderNumbers, b: ProviderNumbers): ProviderNumbers {
  const resources = new Set([...Object.keys(a.violations), ...Object.keys(b.violations)]);
  const grants = [a.grantsEnd, b.grantsEnd].filter((end) => end !== undefined);
  return {
    ...a,
    isReady: a.isReady && b.isReady,
    // Bindings of a namespace all match that namespace, or none matches.
    matched: Math.max(a.matched, b.matched),
    desired: a.desired + b.desired,
    synced: a.synced + b.synced,
    skipped: a.skipped + b.skipped,
    conflicts: a.conflicts + b.conflicts,
    failed: a.failed + b.failed,
    held: a.held + b.held,
    violations: Object.fromEntries(
      [...resources].map((resource) => [
        resource,
        (a.violations[resource] ?? 0) + (b.violations[resource] ?? 0),
      ]),
    ),
    exceptionsEnd: [...a.exceptionsEnd, ...b.exceptionsEnd],
    grantsEnd: grants.length === 0 ? undefined : Math.min(...grants),
  };
}

function labelsOf({ kind, name }: ProviderNumbers) {
  return { kind, name };
}

function secondsLeft(ends: readonly number[], now: Date): number | undefined {
  const left = ends.map((end) => (end - now.getTime()) / 1000).filter((seconds) => seconds > 0);
  return left.length === 0 ? undefined : Math.min(...left);
}

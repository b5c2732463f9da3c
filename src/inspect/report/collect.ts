// Collects what differs from the policies and what expires, with the functions of the reconciler.
import type { NamespacePolicySpec } from '../../api/namespace-policy/namespace-policy.ts';
import { cliApiVersion } from '../../schema/names.ts';
import { type KubeObject, nameOf, labelsOf, valueOf } from '../../base/metadata.ts';
import { rfc3339 } from '../../base/time.ts';
import { policyIn } from '../../policy/compile/load-provider.ts';
import type { CompiledPolicy } from '../../policy/compile/compile-policy.ts';
import type { AuditedResource } from '../../policy/decide/audit.ts';
import { isManaged, type Desired } from '../../policy/desired/desired.ts';
import { withFollowers } from '../../policy/plan/observed.ts';
import { actionsIn } from '../../policy/terms/match.ts';
import { providerReports, type ProviderReport } from '../../policy/status/namespace-ready.ts';
import { ProviderTally, type NamespaceViolation } from '../../policy/status/provider-tally.ts';
import {
  kindOfKey,
  roleBindingType,
  roleType,
  secretObjectType,
  type ObjectKey,
  type ObjectType,
} from '../../base/object-type.ts';
import {
  compareProviders,
  shortName,
  type ProviderId,
  namespaceOfProvider,
  parseProviderId,
  providerRef,
} from '../../policy/terms/provider-id.ts';
import type { Violation } from '../../policy/terms/review.ts';
import { violationsByPolicy } from '../../reconcile/audit/object-audit.ts';
import type { NamespacePlan } from '../../reconcile/namespace/namespace-planner.ts';
import type { Planning } from '../../reconcile/planning.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import { problemsText } from '../../state/stored-provider.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import { namespaceType } from '../input/loaded-state.ts';
import type { ReportEntry, ReportOutput } from '../output-schemas/report-output.ts';
import {
  exceptionEntries,
  overrideEntries,
  grantEntries,
  cellsOf,
  compareTexts,
  inReportOrder,
  resultEntry,
  violationEntry,
  type EntryPlace,
  type ReportedObject,
} from './entries.ts';
import { ownMember } from '../../base/json.ts';

/** The kinds of objects that are judged, each object once. Secrets may come page by page. */
export type ExistingObjects = readonly (readonly [
  AuditedResource,
  Iterable<KubeObject> | AsyncIterable<KubeObject>,
])[];

interface CollectorInput {
  readonly unread: ClusterState['unread'];
  readonly cluster: LiveCluster;
  readonly planning: Pick<Planning, 'audits' | 'objects'>;
  readonly now: Date;
  /** Returns violations of quotas, which need the numbers of all namespaces. Default: the numbers of the added namespaces. */
  readonly overQuota?: (policy: ProviderId) => readonly NamespaceViolation[];
}

interface ReportInput extends Omit<CollectorInput, 'unread' | 'overQuota'> {
  readonly state: ClusterState;
  readonly planning: Pick<Planning, 'planner' | 'audits' | 'objects'>;
  readonly existing: ExistingObjects;
}

export async function collectReport(input: ReportInput): Promise<ReportOutput> {
  const { state, cluster, planning, existing, now } = input;
  const snapshot = cluster.snapshot();
  const found = new Collector({ ...input, unread: state.unread });
  const managed = [...snapshot.namespaces()].filter((each) => isManaged(each, snapshot)).sort(byName);
  const { signal } = new AbortController();
  for (const namespaceObject of managed) {
    const plan = await planning.planner.plan(nameOf(namespaceObject), signal);
    if (plan !== undefined) found.addNamespace(plan);
  }
  await found.addExisting(existing);
  found.addProviders();
  const entries = inReportOrder(found.entries).map(entryFacts(state, cluster));
  return {
    apiVersion: cliApiVersion,
    kind: 'Report',
    time: rfc3339(new Date(Math.floor(now.getTime() / 1000) * 1000)),
    origin: state.origin,
    complete: state.unread.length === 0,
    unread: state.unread,
    secrets: existing.some(([resource]) => resource === 'secrets'),
    policies: [...cluster.providers()].map((each) => each.state.id).sort(compareProviders),
    namespaces: managed.map(nameOf),
    entries,
    cells: cellsOf(found.matched, entries),
  };
}

export class Collector {
  readonly entries: ReportEntry[] = [];
  readonly #input: CollectorInput;
  /** The numbers for the status of each provider. */
  readonly #tallies = new Map<ProviderId, ProviderTally>();
  readonly matched = new Map<ProviderId, string[]>();
  /** Keys are the names that violations use. */
  readonly #policies: ReadonlyMap<string, CompiledPolicy>;
  /** Objects of these kinds may exist, although the state has none. */
  readonly #unread: ReadonlySet<string | undefined>;

  constructor(input: CollectorInput) {
    this.#input = input;
    const { policies } = input.cluster.snapshot().policies;
    this.#policies = new Map(policies.map((policy) => [policy.name, policy]));
    this.#unread = new Set(input.unread.map(({ kind }) => kind.split(' ')[0]));
  }

  addNamespace({ desired, namespaceObject, outcomes, followers }: NamespacePlan): void {
    const namespace = nameOf(namespaceObject);
    const results = withFollowers(outcomes, followers).filter(({ key }) => !this.#unread.has(kindOfKey(key)));
    const typeOf = (key: ObjectKey): ObjectType => this.#typeOf(key, namespace, desired);
    this.#add(results.flatMap((result) => resultEntry(result, namespace, typeOf) ?? []));
    this.#add(
      desired.skipped.map(({ provider, type, name, message }) => {
        const object = { ...type, namespace, name };
        return { section: 'skipped', policy: provider, namespace, object, message };
      }),
    );
    this.#add(grantEntries(desired, namespace));
    const reports = providerReports(namespace, desired, results);
    for (const [policy, report] of this.#input.planning.audits.addTo(reports, namespaceObject))
      this.#addReport(policy, namespace, report);
  }

  #addReport(policy: ProviderId, namespace: string, report: ProviderReport): void {
    const { isMatched, violations, failures } = report;
    const tally = this.#tallies.get(policy) ?? new ProviderTally();
    this.#tallies.set(policy, tally);
    tally.set(namespace, report);
    const matched = this.matched.get(policy) ?? [];
    if (isMatched) matched.push(namespace);
    this.matched.set(policy, matched);
    const object = { ...namespaceType, name: namespace };
    this.#add(violations.map((each) => this.#violation(each, { policy, namespace }, object)));
    // Such an error stops the whole policy in this namespace: its match or one of its templates failed.
    const whole = failures.filter(({ kind }) => kind === undefined);
    this.#add(
      whole.map(({ reason, message }) => ({ section: 'blocked', policy, namespace, reason, message })),
    );
  }

  async addExisting(existing: ExistingObjects): Promise<void> {
    for (const [resource, objects] of existing)
      for await (const object of objects) this.#addObject(resource, object);
  }

  #addObject(resource: AuditedResource, object: KubeObject): void {
    const { cluster, now } = this.#input;
    const { namespace = '' } = object.metadata;
    const reported = { ...auditedTypes[resource], namespace, name: nameOf(object) };
    for (const [name, violations] of violationsByPolicy(resource, object, cluster.snapshot(), now)) {
      const policy = this.#policies.get(name)?.id;
      if (policy !== undefined)
        this.#add(violations.map((each) => this.#violation(each, { policy, namespace }, reported)));
    }
  }

  /** Adds the entries that concern all namespaces of a provider. */
  addProviders(): void {
    for (const { state, definition, problems } of this.#input.cluster.providers()) {
      const policy = state.id;
      if (!state.isValid)
        this.#add([{ section: 'blocked', policy, reason: 'Invalid', message: problemsText(problems) }]);
      const { object, compiled } = policyIn(definition) ?? {};
      if (object === undefined || compiled === undefined) continue;
      const { spec } = object;
      const matched = this.matched.get(policy) ?? [];
      const { cluster, now } = this.#input;
      this.#add(exceptionEntries(policy, spec.exceptions ?? [], matched, now));
      const objects = matched.flatMap((name) => cluster.snapshot().namespace(name) ?? []);
      this.#add(overrideEntries(compiled, objects, now));
      for (const { namespace, ...each } of this.#overQuota(policy, spec))
        this.#add([this.#violation(each, { policy, namespace }, { ...namespaceType, name: namespace })]);
    }
  }

  #overQuota(policy: ProviderId, { namespaces }: NamespacePolicySpec): readonly NamespaceViolation[] {
    const { overQuota } = this.#input;
    if (overQuota !== undefined) return overQuota(policy);
    return this.#tallies.get(policy)?.overQuota(namespaces?.quota) ?? [];
  }

  #add(entries: readonly ReportEntry[]): void {
    for (const entry of entries) this.entries.push(entry);
  }

  #violation(violation: Violation, place: EntryPlace, object: ReportedObject): ReportEntry {
    const { cluster, now } = this.#input;
    const policy = this.#policies.get(shortName(place.policy));
    const namespaceObject = cluster.snapshot().namespace(place.namespace ?? '');
    const actions =
      policy === undefined || namespaceObject === undefined
        ? (policy?.actions ?? [])
        : actionsIn(policy, namespaceObject, now);
    return violationEntry(place, object, violation, actions.join(', '));
  }

  #typeOf(key: ObjectKey, namespace: string, { claims }: Desired): ObjectType {
    const type = claims.get(key)?.[0]?.type ?? this.#input.planning.objects.get(namespace, key)?.type;
    return type ?? { apiVersion: '', kind: kindOfKey(key) };
  }
}

const auditedTypes = { roles: roleType, rolebindings: roleBindingType, secrets: secretObjectType } as const;

function byName(a: KubeObject, b: KubeObject): number {
  return compareTexts(nameOf(a), nameOf(b));
}

// Adds to each entry of a report its contact, the labels of its namespace, and the time of the last write of its object.

function entryFacts(state: ClusterState, cluster: LiveCluster): (entry: ReportEntry) => ReportEntry {
  const contacts = new Map<string, string | undefined>(
    [...cluster.providers()].map(({ state: { id }, definition }) => [id, definition?.compiled.contact]),
  );
  return (entry) => {
    const { policy, namespace, object } = entry;
    const namespaceObject = namespace === undefined ? undefined : state.find(namespaceType, '', namespace);
    const live = object && state.find(object, object.namespace ?? '', object.name);
    const contact = contacts.get(policy);
    const labels = labelsOf(namespaceObject);
    const team = valueOf(labels, state.install.teamLabel);
    const written = writtenAt(live ?? namespaceObject ?? providerObject(policy, state));
    return {
      ...entry,
      ...(contact === undefined ? {} : { contact }),
      ...(team === undefined ? {} : { team }),
      ...(namespaceObject === undefined ? {} : { labels }),
      ...(written === undefined ? {} : { written }),
    };
  };
}

function providerObject(policy: string, state: ClusterState): KubeObject | undefined {
  const id = parseProviderId(policy);
  if (id === undefined) return undefined;
  const ref = providerRef(id);
  return state.find(ref, namespaceOfProvider(id) ?? '', ref.name);
}

/** Leaves out writes of the status, which do not change what the entry reports. */
function writtenAt(object: KubeObject | undefined): string | undefined {
  const fields = object?.metadata['managedFields'];
  const writes: readonly unknown[] = Array.isArray(fields) ? fields : [];
  const times = [
    object?.metadata.creationTimestamp,
    ...writes.flatMap((each) =>
      ownMember(each, 'subresource') === undefined ? [ownMember(each, 'time')] : [],
    ),
  ];
  return times
    .filter((time) => typeof time === 'string')
    .toSorted()
    .at(-1);
}

// Judges existing Roles, RoleBindings and Secrets as watches and sweeps deliver them, and keeps only the violations.
import { unlimitedBudget } from '../../policy/terms/budget.ts';
import { namespacedName, type KubeObject } from '../../base/metadata.ts';
import type { WatchSink } from '../../base/watch-sink.ts';
import { auditObject, type AuditedResource } from '../../policy/decide/audit.ts';
import { policyIn } from '../../policy/compile/load-provider.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import { hasAuditableRules, type ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import type { Violation } from '../../policy/terms/review.ts';
import type { AuditedObjects } from '../../policy/status/provider-tally.ts';
import { nextRelaxationEnd } from '../../policy/terms/match.ts';
import { providerId, shortName, type ProviderId } from '../../policy/terms/provider-id.ts';
import type { ReconcileContext } from '../ports.ts';

export const auditedResources = ['roles', 'rolebindings', 'secrets'] as const;

const kinds = { roles: 'Role', rolebindings: 'RoleBinding', secrets: 'Secret' } as const;

export class ObjectAudit {
  readonly #context: ReconcileContext;
  /** Called with a policy whose violations have changed. */
  readonly #listener: (provider: ProviderId, resource: AuditedResource) => void;
  /** Keys are the policy, then the resource. */
  readonly #violators = new Map<string, Map<AuditedResource, Violators>>();
  /** Namespaces of judged objects that the watch of Namespaces has not reported yet. */
  readonly #unknownNamespaces = new Set<string>();
  /** The keys of objects that watches reported during a sweep. These reports are newer than the pages of the sweep. */
  #touched: Set<string> | undefined;
  readonly #listeners: ((namespace: string) => void)[] = [];
  /** True once a policy has rules for existing objects. Until then, nothing can violate one. */
  isNeeded = false;
  #isActive = false;

  constructor(context: ReconcileContext, changed: (provider: ProviderId, resource: AuditedResource) => void) {
    this.#context = context;
    this.#listener = changed;
  }

  /** Calls the listener when an object begins or ceases to violate a rule. */
  subscribe(listener: (namespace: string) => void): void {
    this.#listeners.push(listener);
  }

  begin(): void {
    this.#isActive = true;
  }

  end(): void {
    this.#isActive = false;
    for (const known of [this.#violators, this.#unknownNamespaces]) known.clear();
  }

  /** Returns whether a policy in force has rules for the resource that this install audits. */
  isAudited(resource: AuditedResource): boolean {
    return this.auditing(resource).length > 0;
  }

  auditing(resource: AuditedResource): readonly string[] {
    if (resource === 'secrets' && !this.#context.install.auditSecrets) return [];
    const { policies } = this.#context.cluster.snapshot().policies;
    return policies.filter((policy) => hasAuditableRules(policy, resource)).map(({ name }) => name);
  }

  /** Returns the milliseconds until the next exception ends, among policies with rules for the resource. */
  nextExceptionEndMs(resource: AuditedResource): number {
    const { cluster, clock } = this.#context;
    const { policies } = cluster.snapshot().policies;
    const audited = policies.filter((policy) => hasAuditableRules(policy, resource));
    const now = clock.now();
    // The actions of an override change no violation of these objects.
    const relaxations = audited.map(({ exceptions }) => ({ exceptions, overrides: [] }));
    return (nextRelaxationEnd(relaxations, now) ?? Infinity) - now.getTime();
  }

  /** Returns the sink for a watch of the resource. */
  sink(resource: AuditedResource): WatchSink {
    const take = (object: KubeObject): void => {
      if (!this.#isActive) return;
      this.#touched?.add(`${resource}/${namespacedName(object)}`);
      this.judge(resource, object);
    };
    return {
      replaced: (objects) => {
        if (!this.#isActive) return;
        const gone = this.violatorsOf(resource);
        for (const object of objects) {
          gone.delete(namespacedName(object));
          take(object);
        }
        for (const key of gone) this.forget(resource, key);
      },
      changed: take,
      removed: (object) => {
        this.#touched?.add(`${resource}/${namespacedName(object)}`);
        this.forget(resource, namespacedName(object));
      },
    };
  }

  beginSweep(): void {
    this.#touched = new Set();
  }

  endSweep(): void {
    this.#touched = undefined;
  }

  isTouched(resource: AuditedResource, key: string): boolean {
    return this.#touched?.has(`${resource}/${key}`) === true;
  }

  judge(resource: AuditedResource, object: KubeObject): void {
    const key = namespacedName(object);
    const found = this.#violationsOf(resource, object);
    this.forget(resource, key, found);
    for (const [name, violations] of found) {
      if (this.#of(name, resource).set(key, violations)) this.#changed(name, resource);
    }
    if (found.size > 0) this.#notify(key);
  }

  /** `violated`: the policies that the object still violates. */
  forget(resource: AuditedResource, key: string, violated: ReadonlyMap<string, unknown> = new Map()): void {
    for (const [name, known] of this.#violators) {
      if (violated.has(name) || known.get(resource)?.delete(key) !== true) continue;
      this.#changed(name, resource);
      this.#notify(key);
    }
  }

  /** Called for a namespace that is deleted, being deleted, or excluded. */
  forgetNamespace(namespace: string): void {
    this.#unknownNamespaces.delete(namespace);
    for (const resource of auditedResources)
      for (const key of this.violatorsOf(resource, namespace)) this.forget(resource, key);
  }

  forgetPolicy(name: string): void {
    this.#violators.delete(name);
  }

  /** Returns whether objects of the namespace were judged before the namespace was known. */
  takeUnknown(namespace: string): boolean {
    return this.#unknownNamespaces.delete(namespace);
  }

  /** Returns the keys of objects that violate a rule of any policy. */
  violatorsOf(resource: AuditedResource, namespace?: string): Set<string> {
    const keys = new Set<string>();
    for (const known of this.#violators.values())
      for (const key of known.get(resource)?.keys() ?? [])
        if (namespace === undefined || key.startsWith(`${namespace}/`)) keys.add(key);
    return keys;
  }

  /** Notes that all objects of the resource are judged, so that the counts of all its policies are known. */
  swept(resource: AuditedResource): void {
    const auditing = new Set(this.auditing(resource));
    for (const name of auditing) {
      if (this.#violators.get(name)?.has(resource) === true) continue;
      this.#of(name, resource);
      this.#changed(name, resource);
    }
    for (const [name, known] of this.#violators)
      if (!auditing.has(name) && known.delete(resource)) this.#changed(name, resource);
  }

  /** Returns whether the texts of all first violations of the resource are known. */
  isFull(resource: AuditedResource): boolean {
    return [...this.#violators.values()].every((known) => known.get(resource)?.isFull !== false);
  }

  /** Returns the results for one policy. A resource is missing until all its objects have been judged. */
  of(provider: ProviderId): AuditedObjects {
    const { cluster, install } = this.#context;
    const policy = policyIn(cluster.provider(provider)?.definition)?.compiled;
    const known = [...(this.#violators.get(shortName(provider)) ?? [])];
    return {
      counts: new Map(known.map(([resource, { total }]) => [resource, total])),
      top: known
        .flatMap(([resource, violators]) => violators.first().map((each) => [resource, ...each] as const))
        .sort(([, a], [, b]) => (a < b ? -1 : 1))
        .flatMap(([resource, key, violations]) => {
          const [namespace = '', name = ''] = key.split('/');
          return violations.map((each) => ({ ...each, namespace, kind: kinds[resource], name }));
        }),
      leavesOutSecrets: !install.auditSecrets && policy !== undefined && hasAuditableRules(policy, 'secrets'),
    };
  }

  #violationsOf(resource: AuditedResource, object: KubeObject): ReadonlyMap<string, readonly Violation[]> {
    const { cluster, clock } = this.#context;
    const snapshot = cluster.snapshot();
    const { namespace = '' } = object.metadata;
    if (snapshot.namespace(namespace) === undefined) this.#unknownNamespaces.add(namespace);
    return violationsByPolicy(resource, object, snapshot, clock.now());
  }

  #of(policy: string, resource: AuditedResource): Violators {
    const known = this.#violators.get(policy) ?? new Map<AuditedResource, Violators>();
    this.#violators.set(policy, known);
    const violators = known.get(resource) ?? new Violators();
    known.set(resource, violators);
    return violators;
  }

  #notify(key: string): void {
    const [namespace = ''] = key.split('/');
    for (const listener of this.#listeners) listener(namespace);
  }

  #changed(policy: string, resource: AuditedResource): void {
    this.#listener(providerId('NamespacePolicy', policy), resource);
  }
}

/** Returns the violations of each policy by its name, without policies that the object does not violate. */
export function violationsByPolicy(
  resource: AuditedResource,
  object: KubeObject,
  snapshot: ClusterSnapshot,
  now: Date,
): ReadonlyMap<string, readonly Violation[]> {
  const found = new Map<string, readonly Violation[]>();
  const namespaceObject = snapshot.namespace(object.metadata.namespace ?? '');
  if (namespaceObject === undefined || !isManaged(namespaceObject, snapshot)) return found;
  for (const policy of snapshot.policies.candidates(resource, [namespaceObject])) {
    const violations = auditObject(policy, resource, object, namespaceObject, {
      now,
      budget: unlimitedBudget,
    });
    if (violations.length > 0) found.set(policy.name, violations);
  }
  return found;
}

// Remembers which objects violate rules of one policy: their numbers of violations, and the texts of the first ones.

/** The number of objects whose violations are kept as texts: as many as a status lists. */
const maxDescribed = 20;

/** Objects of one resource. Memory grows with the violating objects, never with all objects. */
export class Violators {
  /** Keys are `namespace/name`. */
  readonly #counts = new Map<string, number>();
  readonly #described = new Map<string, readonly Violation[]>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** False when objects were corrected and the texts of the next ones are not known. Another sweep fills the list. */
  get isFull(): boolean {
    return this.#described.size >= Math.min(this.#counts.size, maxDescribed);
  }

  keys(): Iterable<string> {
    return this.#counts.keys();
  }

  /** Returns whether anything changed. */
  set(key: string, violations: readonly Violation[]): boolean {
    if (violations.length === 0) return this.delete(key);
    const before = this.#counts.get(key) ?? 0;
    this.#total += violations.length - before;
    this.#counts.set(key, violations.length);
    return this.#describe(key, violations) || before !== violations.length;
  }

  delete(key: string): boolean {
    const before = this.#counts.get(key);
    if (before === undefined) return false;
    this.#total -= before;
    this.#counts.delete(key);
    this.#described.delete(key);
    return true;
  }

  /** Returns the first objects with their violations, ordered by namespace and name. */
  first(): readonly (readonly [key: string, violations: readonly Violation[]])[] {
    return [...this.#described].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #describe(key: string, violations: readonly Violation[]): boolean {
    const kept = violations.slice(0, maxDescribed);
    const before = this.#described.get(key);
    if (before === undefined && this.#described.size >= maxDescribed) {
      const [last = ''] = [...this.#described.keys()].sort().slice(-1);
      if (key > last) return false;
      this.#described.delete(last);
    }
    this.#described.set(key, kept);
    return JSON.stringify(before) !== JSON.stringify(kept);
  }
}

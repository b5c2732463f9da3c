// Adds up the reports of all namespaces on one provider; each namespace can replace its report.
import { type QuotaSpec, exceededBy, namespaceQuota, quotaExcess } from '../../rules/namespace-quota.ts';
import type { Violation } from '../terms/review.ts';
import { dearer, type NamespaceCost, type AuditedResource } from '../decide/audit.ts';
import { isDear } from '../terms/budget.ts';
import type { Agreement } from '../plan/observed.ts';
import type { ProviderReport, SkippedObject, UnsyncedObject } from './namespace-ready.ts';

const countedFields = ['desired', 'synced', 'conflicts', 'failed', 'stuck', 'held'] as const;

export type Counts = Readonly<Record<(typeof countedFields)[number] | 'skipped', number>>;

export interface NamespaceViolation extends Violation {
  readonly namespace: string;
  /** The object in the namespace. Left out if the Namespace itself violates the rule. */
  readonly kind?: string;
  readonly name?: string;
}

interface QuotaViolation extends NamespaceViolation {
  /** The value of the label. More namespaces have it than the quota allows. */
  readonly value: string;
}

/** The number of entries in each list of a status. */
const maxListed = 20;

export class ProviderTally {
  readonly #reports = new Map<string, ProviderReport>();
  readonly #counts = { desired: 0, synced: 0, conflicts: 0, failed: 0, stuck: 0, held: 0, skipped: 0 };
  #matched = 0;
  #violations = 0;
  /** Namespaces whose report has failures. */
  readonly #failing = new Set<string>();
  /** Namespaces whose report has violations. */
  readonly #violating = new Set<string>();
  /** Namespaces whose report has skipped contents. */
  readonly #skipping = new Set<string>();

  /** Namespaces whose report has agreements. */
  readonly #agreeing = new Set<string>();
  /** Namespaces where objects expire, each with its next expiry. */
  readonly #expiring = new Map<string, number>();
  /** Namespaces where the policy costs too much, with the units. */
  readonly #dear = new Map<string, number>();

  get counts(): Counts {
    return { ...this.#counts };
  }

  get matched(): number {
    return this.#matched;
  }

  /** When the next object expires, in milliseconds since the epoch. */
  get nextExpiry(): number | undefined {
    let next: number | undefined;
    for (const expiry of this.#expiring.values()) next = Math.min(next ?? expiry, expiry);
    return next;
  }

  /** The namespace where the policy costs most. Undefined if the cost is too high in no namespace. */
  get dearest(): NamespaceCost | undefined {
    let dearest: NamespaceCost | undefined;
    for (const [name, units] of this.#dear) dearest = dearer(dearest, { name, units });
    return dearest;
  }

  get namespaces(): Iterable<string> {
    return this.#reports.keys();
  }

  get size(): number {
    return this.#reports.size;
  }

  has(namespace: string): boolean {
    return this.#reports.has(namespace);
  }

  get(namespace: string): ProviderReport | undefined {
    return this.#reports.get(namespace);
  }

  set(namespace: string, report: ProviderReport): void {
    this.delete(namespace);
    this.#reports.set(namespace, report);
    this.#add(report, 1);
    if (report.failures.length > 0) this.#failing.add(namespace);
    if (report.violations.length > 0) this.#violating.add(namespace);
    if (report.skipped.length > 0) this.#skipping.add(namespace);
    if (report.agreements.length > 0) this.#agreeing.add(namespace);
    if (report.nextExpiry !== undefined) this.#expiring.set(namespace, report.nextExpiry);
    if (isDear(report.units)) this.#dear.set(namespace, report.units);
  }

  delete(namespace: string): void {
    const report = this.#reports.get(namespace);
    if (report === undefined) return;
    this.#reports.delete(namespace);
    this.#add(report, -1);
    this.#failing.delete(namespace);
    this.#violating.delete(namespace);
    this.#skipping.delete(namespace);
    this.#agreeing.delete(namespace);
    this.#expiring.delete(namespace);
    this.#dear.delete(namespace);
  }

  /**
   * Returns the first namespaces that match: those with failures, then those with violations, then the others by name.
   * `violating`: namespaces with objects that violate a rule.
   */
  matchedNamespaces(violating: Iterable<string>): readonly string[] {
    const isMatched = (namespace: string): boolean => this.#reports.get(namespace)?.isMatched === true;
    const groups = [this.#failing, [...this.#violating, ...violating], this.#reports.keys()];
    const first = new Set<string>();
    for (const group of groups) {
      if (first.size >= maxListed) break;
      for (const namespace of firstByName(group, isMatched)) first.add(namespace);
    }
    return [...first].slice(0, maxListed);
  }

  /** Returns the first failures, ordered by namespace, kind and name. */
  failures(): readonly UnsyncedObject[] {
    return this.#firstOf(this.#failing, ({ failures }) =>
      failures.toSorted((a, b) =>
        compare(`${a.kind ?? ''}/${a.name ?? ''}`, `${b.kind ?? ''}/${b.name ?? ''}`),
      ),
    );
  }

  /** Returns the first skipped contents, ordered by namespace, then as in the policy. */
  skipped(): readonly SkippedObject[] {
    return this.#firstOf(this.#skipping, ({ skipped }) => skipped);
  }

  /** Returns a violation for each exceeded quota. No single namespace violates a quota, so no report holds this violation. */
  overQuota(quota: QuotaSpec | undefined): readonly QuotaViolation[] {
    if (quota === undefined) return [];
    const members = [...this.#reports].map(([namespace, { quotaValue }]) => [namespace, quotaValue] as const);
    return exceededBy(quota, members).map(({ value, names }) => ({
      namespace: names[0] ?? '',
      value,
      policy: '',
      rule: namespaceQuota.id,
      ...quotaExcess(quota, value, names.length),
    }));
  }

  /** Returns the number of agreements, and the first one by namespace. Undefined if there is none. */
  agreements(): (Agreement & { readonly count: number }) | undefined {
    const [first] = this.#firstOf(this.#agreeing, ({ agreements }) => agreements);
    const all = [...this.#agreeing].map((name) => this.#reports.get(name)?.agreements.length ?? 0);
    return first === undefined ? undefined : { ...first, count: all.reduce((sum, each) => sum + each, 0) };
  }

  violations(quota: QuotaSpec | undefined): {
    readonly count: number;
    readonly top: readonly NamespaceViolation[];
  } {
    const overQuota = this.overQuota(quota);
    const found = this.#firstOf(this.#violating, ({ violations }, namespace) =>
      violations.map((violation) => ({ ...violation, namespace })),
    );
    const top = [...overQuota, ...found].slice(0, maxListed);
    return { count: this.#violations + overQuota.length, top };
  }

  #firstOf<T>(
    namespaces: ReadonlySet<string>,
    listOf: (report: ProviderReport, namespace: string) => readonly T[],
  ): readonly T[] {
    const found: T[] = [];
    for (const namespace of firstByName(namespaces, () => true)) {
      const report = this.#reports.get(namespace);
      if (report !== undefined) found.push(...listOf(report, namespace));
    }
    return found.slice(0, maxListed);
  }

  #add(report: ProviderReport, sign: 1 | -1): void {
    for (const field of countedFields) this.#counts[field] += sign * report[field];
    this.#counts.skipped += sign * report.skipped.length;
    if (report.isMatched) this.#matched += sign;
    this.#violations += sign * report.violations.length;
  }
}

/** Returns the first names of the list in a status. The set holds no more, because a cluster can have 10,000 namespaces. */
function firstByName(names: Iterable<string>, isWanted: (name: string) => boolean): readonly string[] {
  const first: string[] = [];
  for (const name of names) {
    const last = first.at(-1);
    if ((first.length === maxListed && last !== undefined && name > last) || !isWanted(name)) continue;
    const place = first.findIndex((each) => name < each);
    first.splice(place === -1 ? first.length : place, 0, name);
    if (first.length > maxListed) first.pop();
  }
  return first;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

// Joins the violations of Namespaces and of objects in them, and puts them into words for the status.

/** The fields of `status.violationsByResource`. */
type CountedResource = 'namespaces' | 'roles' | 'roleBindings' | 'secrets';

export interface Violations {
  readonly count: number;
  /** A resource is missing while it is not audited. */
  readonly byResource: Readonly<Partial<Record<CountedResource, number>>>;
  readonly top: readonly NamespaceViolation[];
  /** True if the policy has rules on Secrets that the install does not audit. */
  readonly leavesOutSecrets: boolean;
}

interface FoundViolations {
  readonly count: number;
  readonly top: readonly NamespaceViolation[];
}

export interface AuditedObjects {
  readonly counts: ReadonlyMap<AuditedResource, number>;
  readonly top: readonly NamespaceViolation[];
  readonly leavesOutSecrets: boolean;
}

/** This many objects come before the Namespaces, because a RoleBinding to cluster-admin is worse than a missing label. */
const objectsFirst = 10;

export function allViolations(namespaces: FoundViolations, objects: AuditedObjects): Violations {
  const { counts, leavesOutSecrets } = objects;
  const byResource = {
    namespaces: namespaces.count,
    ...numbered('roles', counts.get('roles')),
    ...numbered('roleBindings', counts.get('rolebindings')),
    ...numbered('secrets', counts.get('secrets')),
  };
  const count = namespaces.count + [...counts.values()].reduce((sum, each) => sum + each, 0);
  const [first, others] = [objects.top.slice(0, objectsFirst), objects.top.slice(objectsFirst)];
  const top = [...first, ...namespaces.top, ...others].slice(0, maxListed);
  return { count, byResource, top, leavesOutSecrets };
}

function numbered(resource: CountedResource, count: number | undefined): Violations['byResource'] {
  return count === undefined ? {} : { [resource]: count };
}

/** Violations come first in the message. They leave a policy ready, because the owner of the namespace must mend them. */
export function violationsMessage({ count, top: [first] }: Violations): string {
  if (first === undefined) return '';
  const { namespace, kind, name = '', rule } = first;
  const object = kind === undefined ? '' : `${kind} ${name} `;
  return `${count} violation${count === 1 ? '' : 's'}, first ${object}in namespace ${namespace}: ${rule}; `;
}

export function secretsMessage({ leavesOutSecrets }: Violations): string {
  return leavesOutSecrets ? '; Secrets: judged when written' : '';
}

// Adds up what all namespaces say about one policy or share; each namespace's part can be replaced at any time.
import type { QuotaSpec } from '../../api/namespace-policy/namespace-policy.ts';
import { keyPath } from '../../base/metadata.ts';
import type { Violation } from '../terms/verdict.ts';
import { quoted } from '../terms/wording.ts';
import type { UnsyncedObject, ProviderReport } from './provider-report.ts';

const countedFields = ['desired', 'synced', 'conflicts', 'failed', 'stuck'] as const;

export type Counts = Readonly<Record<(typeof countedFields)[number], number>>;

export interface NamespaceViolation extends Violation {
  readonly namespace: string;
}

/** As many of anything as a status lists. */
const mostListed = 20;

export class ProviderTally {
  readonly #parts = new Map<string, ProviderReport>();
  readonly #counts = { desired: 0, synced: 0, conflicts: 0, failed: 0, stuck: 0 };
  #matched = 0;
  #violations = 0;
  /** Those that have something to list. */
  readonly #failing = new Set<string>();
  readonly #violating = new Set<string>();

  get counts(): Counts {
    return { ...this.#counts };
  }

  get matched(): number {
    return this.#matched;
  }

  get namespaces(): Iterable<string> {
    return this.#parts.keys();
  }

  get size(): number {
    return this.#parts.size;
  }

  has(namespace: string): boolean {
    return this.#parts.has(namespace);
  }

  get(namespace: string): ProviderReport | undefined {
    return this.#parts.get(namespace);
  }

  set(namespace: string, part: ProviderReport): void {
    this.delete(namespace);
    this.#parts.set(namespace, part);
    this.#add(part, 1);
    if (part.failures.length > 0) this.#failing.add(namespace);
    if (part.violations.length > 0) this.#violating.add(namespace);
  }

  delete(namespace: string): void {
    const part = this.#parts.get(namespace);
    if (part === undefined) return;
    this.#parts.delete(namespace);
    this.#add(part, -1);
    this.#failing.delete(namespace);
    this.#violating.delete(namespace);
  }

  /** The first ones, by namespace, kind and name. */
  failures(): readonly UnsyncedObject[] {
    return this.#firstOf(this.#failing, ({ failures }) =>
      failures.toSorted((a, b) =>
        compare(`${a.kind ?? ''}/${a.name ?? ''}`, `${b.kind ?? ''}/${b.name ?? ''}`),
      ),
    );
  }

  /** Quotas that more namespaces use than may: the objects themselves break no rule. */
  overQuota(quota: QuotaSpec | undefined): readonly NamespaceViolation[] {
    if (quota === undefined) return [];
    const users = new Map<string, string[]>();
    for (const [namespace, { quotaValue }] of this.#parts) {
      if (quotaValue === undefined) continue;
      const names = users.get(quotaValue);
      if (names === undefined) users.set(quotaValue, [namespace]);
      else names.push(namespace);
    }
    return [...users]
      .filter(([, names]) => names.length > quota.max)
      .map(([value, names]) => ({
        namespace: names.sort()[0] ?? '',
        policy: '',
        rule: 'namespaces.quota',
        path: keyPath('labels', quota.label),
        found: `${names.length} namespaces with ${quoted(value)}`,
        accepted: `at most ${quota.max} namespaces with one value`,
      }))
      .sort((a, b) => compare(a.namespace, b.namespace));
  }

  violations(quota: QuotaSpec | undefined): {
    readonly count: number;
    readonly top: readonly NamespaceViolation[];
  } {
    const overQuota = this.overQuota(quota);
    const found = this.#firstOf(this.#violating, ({ violations }, namespace) =>
      violations.map((violation) => ({ ...violation, namespace })),
    );
    const top = [...overQuota, ...found].slice(0, mostListed);
    return { count: this.#violations + overQuota.length, top };
  }

  #firstOf<T>(
    namespaces: ReadonlySet<string>,
    listOf: (part: ProviderReport, namespace: string) => readonly T[],
  ): readonly T[] {
    const found: T[] = [];
    for (const namespace of [...namespaces].sort()) {
      if (found.length >= mostListed) break;
      const part = this.#parts.get(namespace);
      if (part !== undefined) found.push(...listOf(part, namespace));
    }
    return found.slice(0, mostListed);
  }

  #add(part: ProviderReport, sign: 1 | -1): void {
    for (const field of countedFields) this.#counts[field] += sign * part[field];
    if (part.isMatched) this.#matched += sign;
    this.#violations += sign * part.violations.length;
  }
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

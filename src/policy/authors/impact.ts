// Compares two versions of a policy or share over all known namespaces: whom they reach, and which objects nobody wants any more.
import type { KubeObject } from '../../base/kube-object.ts';
import type { Budget, Circumstances } from '../terms/budget.ts';
import { isManaged } from '../desired/desired.ts';
import { matchNamespace, type MatchResult } from '../terms/match.ts';
import { nameOf } from '../../base/metadata.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { fateOf, type ProviderWrite } from './provider-write.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';
import { LostObjects } from './lost-objects.ts';

export interface Impact {
  /** The names of the namespaces that only the newer version reaches. */
  readonly gained: readonly string[];
  /** ... and those that only the older one does. */
  readonly lost: readonly string[];
  /** The number of objects that the older version provides, and afterwards nobody, by namespace. */
  readonly dropped: ReadonlyMap<string, number>;
  readonly unmatched: readonly UnmatchedNamespace[];
}

/** A namespace for which a condition of the newer version is neither true nor false. */
export interface UnmatchedNamespace {
  readonly name: string;
  readonly condition: string;
  readonly message: string;
  /** Whether the older version had an error there too. */
  readonly isOld: boolean;
}

/** Once the budget is spent, it says nothing that could be relied on. */
export function impactOf(
  write: ProviderWrite,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): Impact {
  const comparison = new Comparison(write, snapshot, circumstances);
  for (const namespaceObject of snapshot.namespaces()) {
    if (circumstances.budget.isSpent()) break;
    if (isManaged(namespaceObject, snapshot)) comparison.look(namespaceObject);
  }
  return comparison;
}

const no: MatchResult = { kind: 'no' };

class Comparison implements Impact {
  readonly gained: string[] = [];
  readonly lost: string[] = [];
  readonly dropped = new Map<string, number>();
  readonly unmatched: UnmatchedNamespace[] = [];
  readonly #write: ProviderWrite;
  readonly #losses: LostObjects | undefined;
  readonly #budget: Budget;

  constructor(write: ProviderWrite, snapshot: ClusterSnapshot, circumstances: Circumstances) {
    const { before, after } = write;
    this.#write = write;
    this.#budget = circumstances.budget;
    const isCounting = before !== undefined && fateOf(write) !== 'kept';
    this.#losses = isCounting ? new LostObjects(before, after, snapshot, circumstances) : undefined;
  }

  look(namespaceObject: KubeObject): void {
    const was = this.#match(this.#write.before, namespaceObject);
    const is = this.#match(this.#write.after, namespaceObject);
    if (was.kind === 'no' && is.kind === 'no') return;
    const name = nameOf(namespaceObject);
    if (is.kind === 'error') {
      const { condition, message } = is;
      this.unmatched.push({ name, condition, message, isOld: was.kind === 'error' });
    }
    if (was.kind !== 'yes') {
      if (is.kind === 'yes') this.gained.push(name);
      return;
    }
    if (is.kind === 'no') this.lost.push(name);
    const count = this.#losses?.countIn(namespaceObject, is.kind) ?? 0;
    if (count > 0) this.dropped.set(name, count);
  }

  #match(definition: ProviderDefinition | undefined, namespaceObject: KubeObject): MatchResult {
    return definition === undefined
      ? no
      : matchNamespace(definition.compiled.match, namespaceObject, this.#budget);
  }
}

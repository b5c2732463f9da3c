// Compares two versions of a policy or share over all known namespaces: whom they reach, and which objects nobody wants any more.
import type { KubeObject } from '../../base/kube-object.ts';
import type { Budget, Circumstances } from '../terms/budget.ts';
import { isManaged } from '../desired/desired.ts';
import { matchNamespace, type MatchResult } from '../terms/match.ts';
import { nameOf } from '../../base/metadata.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { fateOf, type ProviderChange } from './change.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';
import { Losses } from './losses.ts';

export interface Difference {
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
export function differenceOf(
  change: ProviderChange,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): Difference {
  const comparison = new Comparison(change, snapshot, circumstances);
  for (const namespaceObject of snapshot.namespaces()) {
    if (circumstances.budget.isSpent()) break;
    if (isManaged(namespaceObject, snapshot)) comparison.look(namespaceObject);
  }
  return comparison;
}

const no: MatchResult = { kind: 'no' };

class Comparison implements Difference {
  readonly gained: string[] = [];
  readonly lost: string[] = [];
  readonly dropped = new Map<string, number>();
  readonly unmatched: UnmatchedNamespace[] = [];
  readonly #change: ProviderChange;
  readonly #losses: Losses | undefined;
  readonly #budget: Budget;

  constructor(change: ProviderChange, snapshot: ClusterSnapshot, circumstances: Circumstances) {
    const { before, after } = change;
    this.#change = change;
    this.#budget = circumstances.budget;
    const isCounting = before !== undefined && fateOf(change) !== 'kept';
    this.#losses = isCounting ? new Losses(before, after, snapshot, circumstances) : undefined;
  }

  look(namespaceObject: KubeObject): void {
    const was = this.#match(this.#change.before, namespaceObject);
    const is = this.#match(this.#change.after, namespaceObject);
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

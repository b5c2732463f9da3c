// Finds the other policies and shares that could want the same objects as a provider, and what they want.
import type { KubeObject } from '../../base/metadata.ts';
import type { CompiledContent } from '../compile/compile-contents.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';
import { groupKind } from '../terms/object-key.ts';
import { type ClusterSnapshot, PolicySet, ShareSet } from '../compile/snapshot.ts';
import { desired, type Desired } from '../desired/desired.ts';
import type { Circumstances } from '../terms/budget.ts';
import { namespaceOfProvider } from '../terms/provider-id.ts';
import { reachableBy } from './provider-write.ts';

export class OtherProviders {
  readonly isEmpty: boolean;
  readonly #snapshot: ClusterSnapshot;
  readonly #circumstances: Circumstances;
  #last: readonly [KubeObject, Desired] | undefined;

  /** `versions` are those of one provider. */
  constructor(
    versions: readonly ProviderDefinition[],
    snapshot: ClusterSnapshot,
    circumstances: Circumstances,
  ) {
    const policies = policiesLike(versions, snapshot);
    const shares = sharesLike(versions, snapshot);
    this.isEmpty = policies.length + shares.length === 0;
    const set = new PolicySet(policies, { excludedNamespaces: [] });
    this.#snapshot = { ...snapshot, policies: set, shares: new ShareSet(shares) };
    this.#circumstances = circumstances;
  }

  /** `namespaceObject` must be managed. Remembers the last answer, because several notices need it. */
  wantedIn(namespaceObject: KubeObject): Desired {
    if (this.#last?.[0] !== namespaceObject) {
      const { now, budget } = this.#circumstances;
      this.#last = [namespaceObject, desired(namespaceObject, this.#snapshot, now, budget)];
    }
    return this.#last[1];
  }
}

function policiesLike(versions: readonly ProviderDefinition[], snapshot: ClusterSnapshot) {
  const { policies } = snapshot;
  const own = versions.flatMap((version) => (version.kind === 'NamespacePolicy' ? [version.compiled] : []));
  const ids = new Set(own.map(({ id }) => id));
  const wanted = own.flatMap(({ contents }) => contents);
  // Thousands of tenants can have bindings, so each is compared only with what its own namespace gets.
  const isTenants = own.every(({ id }) => namespaceOfProvider(id) !== undefined);
  const others = isTenants
    ? policies.candidates(
        'namespaces',
        own.slice(0, 1).flatMap(({ id }) => reachableBy(id, snapshot)),
      )
    : policies.policies;
  return others.filter(
    ({ id, contents }) =>
      !ids.has(id) && contents.some((content) => wanted.some((each) => mayBeSame(content, each))),
  );
}

/** Only shares provide Secrets, so only a share can want the copy of a share. */
function sharesLike(versions: readonly ProviderDefinition[], { shares }: ClusterSnapshot) {
  const own = versions.flatMap((version) => (version.kind === 'SecretShare' ? [version.compiled] : []));
  return shares.shares.filter((share) =>
    own.some(({ id, copy }) => share.id !== id && share.copy.name === copy.name),
  );
}

/** Rendering the contents of all policies for all namespaces would take too long, so other names are left out early. */
function mayBeSame(a: CompiledContent, b: CompiledContent): boolean {
  if (groupKind(a.type) !== groupKind(b.type)) return false;
  const [one, other] = [fixedPart(a.name), fixedPart(b.name)];
  if (one === a.name && other === b.name) return one === other;
  return one === a.name
    ? one.startsWith(other)
    : other === b.name
      ? other.startsWith(one)
      : one.startsWith(other) || other.startsWith(one);
}

/** The text before the first expression or escape. */
function fixedPart(name: string): string {
  return name.replace(/\$.*$/s, '');
}

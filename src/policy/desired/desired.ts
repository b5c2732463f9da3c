// Computes the desired objects of one namespace: those of all policies and bindings, then those of all shares.
import { isDeepStrictEqual } from 'node:util';
import { type KubeObject, isTerminating, nameOf } from '../../base/metadata.ts';
import { CountingBudget, unlimitedBudget, type Budget } from '../terms/budget.ts';
import { matchErrorText, matchNamespace } from '../terms/match.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import type { Rendered } from '../compile/compile-contents.ts';
import { objectKey, type ObjectKey } from '../terms/object-key.ts';
import {
  policyProvider,
  shareProvider,
  type Claim,
  type FieldsClaim,
  type ProvidedObject,
  type Provider,
} from './provider.ts';

/** The reason why the objects of a provider stay as they are in the namespace. */
export interface Freeze {
  readonly reason: 'Suspended' | 'MatchFailed' | 'RenderFailed';
  readonly message: string;
}

/** An object that a provider does not want in the namespace, for lack of a label or annotation. */
interface SkippedContent {
  readonly provider: ProviderId;
  readonly kind: string;
  readonly name: string;
  readonly message: string;
}

export interface Desired {
  /** All claims to each object. The first claim wins. */
  readonly claims: ReadonlyMap<ObjectKey, readonly Claim[]>;
  /** All requests for fields of each ServiceAccount, in the order of their providers. They add up. */
  readonly fields: ReadonlyMap<ObjectKey, readonly FieldsClaim[]>;
  readonly frozen: ReadonlyMap<ProviderId, Freeze>;
  readonly skipped: readonly SkippedContent[];
  /** The expired objects of each provider. */
  readonly expired: ReadonlyMap<ProviderId, ReadonlySet<ObjectKey>>;
  /** The time when the next object expires, in milliseconds since the epoch. */
  readonly nextExpiry: number | undefined;
  /** The time when the next object of each provider expires. */
  readonly expiries: ReadonlyMap<ProviderId, number>;
  /** The policies and shares that match the namespace and provide something. */
  readonly providers: readonly ProviderId[];
  /** What it costs to render the contents of each provider. */
  readonly units: ReadonlyMap<ProviderId, number>;
}

/** Returns nothing for an excluded or terminating namespace, whose objects are left alone. */
export function desired(
  namespaceObject: KubeObject,
  snapshot: ClusterSnapshot,
  now: Date,
  budget: Budget = unlimitedBudget,
): Desired {
  const union = new DesiredUnion(now.getTime());
  if (!isManaged(namespaceObject, snapshot)) return union;
  for (const provider of providersOf(namespaceObject, snapshot)) {
    union.add(provider, namespaceObject, budget);
  }
  return union;
}

export function isManaged(namespaceObject: KubeObject, { policies }: ClusterSnapshot): boolean {
  return !isTerminating(namespaceObject) && !policies.isExcluded(nameOf(namespaceObject));
}

/** Leaves out invalid providers and those being deleted. The fate of their objects is decided object by object. */
function providersOf(namespaceObject: KubeObject, snapshot: ClusterSnapshot): readonly Provider[] {
  const objects = [namespaceObject];
  const providers = [
    ...snapshot.policies
      .candidates('namespaces', objects)
      .filter(({ contents }) => contents.length > 0)
      .map(policyProvider),
    ...snapshot.shares.candidates(objects).map(shareProvider),
  ];
  return providers.filter(({ id }) => {
    const state = snapshot.providers.get(id);
    return state === undefined || (state.isValid && !state.isDeleting);
  });
}

class DesiredUnion implements Desired {
  readonly claims = new Map<ObjectKey, Claim[]>();
  readonly fields = new Map<ObjectKey, FieldsClaim[]>();
  readonly frozen = new Map<ProviderId, Freeze>();
  readonly expired = new Map<ProviderId, Set<ObjectKey>>();
  readonly expiries = new Map<ProviderId, number>();
  readonly providers: ProviderId[] = [];
  readonly units = new Map<ProviderId, number>();
  readonly skipped: SkippedContent[] = [];
  nextExpiry: number | undefined;
  readonly #now: number;

  constructor(now: number) {
    this.#now = now;
  }

  add(provider: Provider, namespaceObject: KubeObject, budget: Budget): void {
    const match = matchNamespace(provider.match, namespaceObject, budget);
    if (match.kind === 'no') return;
    this.providers.push(provider.id);
    if (match.kind === 'error') {
      this.frozen.set(provider.id, { reason: 'MatchFailed', message: matchErrorText(match) });
      return;
    }
    const rendering = new CountingBudget(budget);
    for (const rendered of provider.render(namespaceObject, rendering)) this.#add(provider.id, rendered);
    this.units.set(provider.id, rendering.units);
    if (provider.isSuspended) this.frozen.set(provider.id, suspended);
  }

  #add(provider: ProviderId, rendered: Rendered<ProvidedObject>): void {
    switch (rendered.kind) {
      case 'present':
        this.#provide(provider, rendered.value);
        break;
      case 'skipped':
        this.skipped.push({ provider, ...rendered.object, message: rendered.message });
        break;
      case 'error':
        this.#freeze(provider, rendered.object, rendered.message);
        break;
      case 'absent':
        break;
      default:
        rendered satisfies never;
    }
  }

  #provide(provider: ProviderId, wanted: ProvidedObject): void {
    const { expiresAt, content } = wanted;
    const key = objectKey(wanted.type, wanted.name);
    if (expiresAt !== undefined && expiresAt <= this.#now) {
      this.expired.set(provider, (this.expired.get(provider) ?? new Set()).add(key));
      return;
    }
    if (expiresAt !== undefined) {
      this.nextExpiry = Math.min(this.nextExpiry ?? expiresAt, expiresAt);
      this.expiries.set(provider, Math.min(this.expiries.get(provider) ?? expiresAt, expiresAt));
    }
    if (content.kind === 'fields') this.#claim(this.fields, { ...wanted, provider, key, content });
    else this.#claim(this.claims, { ...wanted, provider, key, content });
  }

  #claim<C extends Claim | FieldsClaim>(all: Map<ObjectKey, C[]>, claim: C): void {
    const { provider, key, type, name } = claim;
    const claims = all.get(key) ?? [];
    const other = claims.find((each) => each.provider === provider);
    if (other === undefined) all.set(key, [...claims, claim]);
    else if (!isDeepStrictEqual(other, claim)) this.#freeze(provider, { kind: type.kind, name }, twoContents);
  }

  #freeze(provider: ProviderId, { kind, name }: { kind: string; name: string }, message: string): void {
    if (this.frozen.has(provider)) return;
    this.frozen.set(provider, { reason: 'RenderFailed', message: `${kind} ${name}: ${message}` });
  }
}

const twoContents = 'two contents of this policy give different objects of this name; rename one of them';

const suspended: Freeze = {
  reason: 'Suspended',
  message: 'it is suspended: nothing is created, changed or deleted, not even at its expiry',
};

/** Returns what one provider alone desires in the namespace, to compare two versions of the provider. */
export function desiredByProvider(
  provider: Provider,
  namespaceObject: KubeObject,
  now: Date,
  budget: Budget,
): Desired {
  const union = new DesiredUnion(now.getTime());
  union.add(provider, namespaceObject, budget);
  return union;
}

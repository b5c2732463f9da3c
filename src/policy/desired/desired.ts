// Computes the desired objects of one namespace: those of all policies and bindings, then those of all shares.
import { isDeepStrictEqual } from 'node:util';
import { type KubeObject, isTerminating, nameOf } from '../../base/metadata.ts';
import { CountingBudget, unlimitedBudget, type Budget } from '../terms/budget.ts';
import { matchErrorText, matchNamespace, type CompiledMatch } from '../terms/match.ts';
import { objectKey, type ObjectKey, type ObjectType } from '../../base/object-type.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { recordedKeys } from '../terms/creation-record.ts';
import {
  isExceptedAt,
  type CompiledContent,
  type Rendered,
  type RenderedContent,
  type FieldsOnly,
  type WholeObject,
} from '../../contents/content.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { CompiledShare, CopyMetadata } from '../compile/compile-share.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';

/** The reason why the objects of a provider stay as they are in the namespace. */
export interface Freeze {
  readonly reason: 'Suspended' | 'MatchFailed' | 'RenderFailed';
  readonly message: string;
}

/** An object that a provider does not want in the namespace, for lack of a label or annotation. */
interface SkippedContent {
  readonly provider: ProviderId;
  readonly type: ObjectType;
  readonly name: string;
  readonly message: string;
}

/** An object that Reeve has created once and released. */
interface Given {
  readonly provider: ProviderId;
  readonly type: ObjectType;
  readonly name: string;
}

export interface Desired {
  /** All claims to each object. The first claim wins. */
  readonly claims: ReadonlyMap<ObjectKey, readonly Claim[]>;
  /** All requests for fields of each ServiceAccount, in the order of their providers. They add up. */
  readonly fields: ReadonlyMap<ObjectKey, readonly FieldsClaim[]>;
  readonly frozen: ReadonlyMap<ProviderId, Freeze>;
  readonly skipped: readonly SkippedContent[];
  /** The objects that are recorded as created once, with a provider that no longer creates each of them. */
  readonly given: ReadonlyMap<ObjectKey, Given>;
  /** True if one of the claims is for an object that is created once. */
  readonly createsOnce: boolean;
  /** The expired objects of each provider, with their types. */
  readonly expired: ReadonlyMap<ProviderId, ReadonlyMap<ObjectKey, ObjectType>>;
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
  const union = new DesiredUnion(now);
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
  readonly expired = new Map<ProviderId, Map<ObjectKey, ObjectType>>();
  readonly expiries = new Map<ProviderId, number>();
  readonly providers: ProviderId[] = [];
  readonly units = new Map<ProviderId, number>();
  readonly skipped: SkippedContent[] = [];
  readonly given = new Map<ObjectKey, Given>();
  createsOnce = false;
  nextExpiry: number | undefined;
  readonly #now: Date;

  constructor(now: Date) {
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
    for (const rendered of provider.render(namespaceObject, rendering).flat())
      this.#add(provider.id, rendered);
    this.units.set(provider.id, rendering.units);
    if (provider.isSuspended) this.frozen.set(provider.id, suspended);
  }

  #add(provider: ProviderId, rendered: Rendered<ProvidedObject>): void {
    if (rendered.exception !== undefined && isExceptedAt(rendered, this.#now)) {
      const { until, message } = rendered.exception;
      const { type, name } = rendered.kind === 'present' ? rendered.value : rendered.object;
      this.skipped.push({ provider, type, name, message });
      return this.#changeAt(until);
    }
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
      default:
        rendered satisfies never;
    }
  }

  #provide(provider: ProviderId, wanted: ProvidedObject): void {
    const { expiresAt, content, type, name } = wanted;
    const key = objectKey(type, name);
    if (wanted.once === 'given') {
      this.given.set(key, this.given.get(key) ?? { provider, type, name });
    } else if (expiresAt !== undefined && expiresAt <= this.#now.getTime()) {
      const ended = this.expired.get(provider) ?? new Map<ObjectKey, ObjectType>();
      this.expired.set(provider, ended.set(key, type));
    } else {
      this.#expireAt(provider, expiresAt);
      if (content.kind === 'fields') this.#claim(this.fields, { ...wanted, provider, key, content });
      else this.#claim(this.claims, { ...wanted, provider, key, content });
    }
  }

  #expireAt(provider: ProviderId, expiresAt: number | undefined): void {
    if (expiresAt === undefined) return;
    this.#changeAt(expiresAt);
    this.expiries.set(provider, Math.min(this.expiries.get(provider) ?? expiresAt, expiresAt));
  }

  #changeAt(time: number): void {
    if (time < Infinity) this.nextExpiry = Math.min(this.nextExpiry ?? time, time);
  }

  #claim<C extends Claim | FieldsClaim>(all: Map<ObjectKey, C[]>, claim: C): void {
    const { provider, key, type, name } = claim;
    const claims = all.get(key) ?? [];
    const other = claims.find((each) => each.provider === provider);
    if (other === undefined) {
      all.set(
        key,
        [...claims, claim].toSorted((a, b) => rankOf(a) - rankOf(b)),
      );
      this.createsOnce ||= claim.once !== undefined;
    } else if (!isDeepStrictEqual(other, claim)) this.#freeze(provider, { type, name }, twoContents);
  }

  #freeze(
    provider: ProviderId,
    { type, name }: Pick<SkippedContent, 'type' | 'name'>,
    message: string,
  ): void {
    if (this.frozen.has(provider)) return;
    this.frozen.set(provider, { reason: 'RenderFailed', message: `${type.kind} ${name}: ${message}` });
  }
}

/** A provider that keeps an object comes before one that only creates it. */
function rankOf({ once }: Pick<Claim, 'once'>): number {
  return once === undefined ? 0 : 1;
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
  const union = new DesiredUnion(now);
  union.add(provider, namespaceObject, budget);
  return union;
}

// Presents policies and shares as providers: the namespaces that they match, and the objects that they claim.

export interface Provider {
  readonly id: ProviderId;
  readonly match: CompiledMatch;
  readonly isSuspended: boolean;
  /** Returns one list for each content, or the copy. */
  render(namespaceObject: KubeObject, budget: Budget): readonly (readonly Rendered<ProvidedObject>[])[];
}

interface Provided<C> {
  readonly type: ObjectType;
  readonly name: string;
  readonly content: C;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** Set for an object that is created once. `given`: the Namespace has the record that Reeve is done with it. */
  readonly once?: 'due' | 'given';
}

/** An object that a provider has for a namespace, or fields of one. */
type ProvidedObject = Provided<ClaimContent> | Provided<FieldsOnly>;

interface Claimed<C> extends Provided<C> {
  readonly provider: ProviderId;
  readonly key: ObjectKey;
}

/** A request of a provider for an object in the namespace. Of several claims to an object one wins. */
export type Claim = Claimed<ClaimContent>;

/** A request for fields of a ServiceAccount that Reeve does not own. Several requests add up. */
export type FieldsClaim = Claimed<FieldsOnly>;

type ClaimContent = WholeObject | CopyContent;

interface CopyContent {
  readonly kind: 'copy';
  readonly share: CompiledShare;
  /** As rendered for the namespace. */
  readonly metadata: CopyMetadata;
}

export function policyProvider(policy: CompiledPolicy): Provider {
  return {
    id: policy.id,
    match: policy.match,
    isSuspended: policy.isSuspended,
    render: (namespaceObject, budget) => {
      const record = recordFor(policy.contents, namespaceObject);
      return policy.contents.map((content) =>
        content.render(namespaceObject, budget).map((rendered) => provided(content, rendered, record)),
      );
    },
  };
}

function provided(
  { type, isCreatedOnce }: CompiledContent,
  rendered: Rendered<RenderedContent>,
  record: ReadonlySet<string>,
): Rendered<ProvidedObject> {
  if (rendered.kind !== 'present') return rendered;
  const { form, ...rest } = rendered.value;
  const place = { type, ...rest, ...(isCreatedOnce ? onceIn(record, type, rest.name) : {}) };
  return form.kind === 'object'
    ? { ...rendered, value: { ...place, content: form } }
    : { ...rendered, value: { ...place, content: form } };
}

/** Most policies create nothing once, so that no record is read. */
function recordFor(contents: readonly CompiledContent[], namespaceObject: KubeObject): ReadonlySet<string> {
  return contents.some(({ isCreatedOnce }) => isCreatedOnce) ? recordedKeys(namespaceObject) : new Set();
}

function onceIn(record: ReadonlySet<string>, type: ObjectType, name: string) {
  return { once: record.has(objectKey(type, name)) ? 'given' : 'due' } as const;
}

export function providerOf(definition: ProviderDefinition): Provider {
  const { kind, compiled } = definition;
  return kind === 'NamespacePolicy' ? policyProvider(compiled) : shareProvider(compiled);
}

/** Returns the provider as if it were not suspended, because it will be resumed, and suspending must not avoid the fuse. */
export function activeProvider(definition: ProviderDefinition): Provider {
  return { ...providerOf(definition), isSuspended: false };
}

/** A source is never replaced by its own copy. */
function isSource({ sources }: CompiledShare, name: string, { metadata }: KubeObject): boolean {
  return sources.some((source) => source.name === name && source.namespace === metadata.name);
}

export function shareProvider(share: CompiledShare): Provider {
  return {
    id: share.id,
    match: share.match,
    isSuspended: share.isSuspended,
    render: (namespaceObject, budget) => [copyIn(share, namespaceObject, budget)],
  };
}

function copyIn(
  share: CompiledShare,
  namespaceObject: KubeObject,
  budget: Budget,
): readonly Rendered<ProvidedObject>[] {
  const rendered = share.copyIn(namespaceObject, budget);
  if (rendered.kind !== 'present') return [rendered];
  const { name } = rendered.value;
  if (isSource(share, name, namespaceObject)) return [];
  const place = {
    type: share.type,
    name,
    content: { kind: 'copy', share, metadata: rendered.value },
  } as const;
  const once = share.isCreatedOnce ? onceIn(recordedKeys(namespaceObject), share.type, name) : {};
  return [{ kind: 'present', value: { ...place, ...once } }];
}

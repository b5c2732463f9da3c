// Finds the effects of a provider's write on the objects of one namespace: lost, handed over, or not provided.
import { payloadForm } from '../compile/compile-share.ts';
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../base/metadata.ts';
import {
  groupKind,
  isSameObjectType,
  secretObjectType,
  type ObjectKey,
  type ObjectType,
} from '../../base/object-type.ts';
import { compareProviders, type ProviderId, namespaceOfProvider } from '../terms/provider-id.ts';
import { type ProviderDefinition, policyIn, shareIn } from '../compile/load-provider.ts';
import { mayCreate, type Install } from '../terms/install.ts';
import {
  activeProvider,
  desired,
  desiredByProvider,
  type Claim,
  type Desired,
  type Provider,
} from '../desired/desired.ts';
import { difference, type Change, type Claims } from '../decide/difference.ts';
import type { MatchResult } from '../terms/match.ts';
import {
  fateOf,
  hasSame,
  type ProviderCircumstances,
  type ProviderWrite,
  providedBy,
  reachableBy,
} from './provider-write.ts';
import { isExceptedAt, type CompiledContent } from '../../contents/content.ts';
import { type ClusterSnapshot, PolicySet, ShareSet } from '../compile/snapshot.ts';

/** The effects of a write on the objects of one namespace. */
interface WriteDifference {
  /** The number of objects that no provider wants after the write. */
  readonly lost: number;
  readonly handedOver: readonly HandOver[];
  /** Contents of the newer version that the namespace does not get. */
  readonly unrendered: readonly UnrenderedContent[];
}

/** An object that moves between the written provider and another one, which wants it in another form. */
export interface HandOver {
  /** The effect on the written provider. */
  readonly effect: 'taken' | 'handed' | 'not got';
  readonly claim: Claim;
  readonly other: Claim;
}

/** A content whose template skips or fails in the namespace. */
interface UnrenderedContent {
  /** The place in the contents of the provider. */
  readonly index: number;
  readonly kind: 'skipped' | 'error';
  readonly object: { readonly type: ObjectType; readonly name: string };
  readonly message: string;
}

const none: WriteDifference = { lost: 0, handedOver: [], unrendered: [] };

type Wanted = Pick<Desired, 'claims' | 'frozen' | 'given'>;
const nothing: Wanted = { claims: new Map(), frozen: new Map(), given: new Map() };

export class ProviderDifference {
  readonly #write: ProviderWrite;
  readonly #before: Provider | undefined;
  /** Also undefined for a version without contents. */
  readonly #after: Provider | undefined;
  readonly #isKept: boolean;
  /** True if both versions provide the same in a namespace that both match. */
  readonly #isSame: boolean;
  readonly #countsLost: boolean;
  readonly #countsHandOvers: boolean;
  readonly #hasTemplates: boolean;
  readonly #others: ClusterSnapshot | undefined;
  readonly #circumstances: ProviderCircumstances;

  constructor(write: ProviderWrite, snapshot: ClusterSnapshot, circumstances: ProviderCircumstances) {
    const { before, after, reported } = write;
    this.#write = write;
    this.#before = before === undefined ? undefined : activeProvider(before);
    const contents = policyIn(after)?.compiled.contents;
    this.#after = after === undefined || contents?.length === 0 ? undefined : activeProvider(after);
    this.#isKept = fateOf(write) === 'kept';
    this.#isSame = hasSame(write, providedBy);
    this.#others = providersLike(write, snapshot);
    this.#countsLost = before !== undefined && !reported.hasNoCopies;
    // A suspended provider neither gives nor takes objects.
    this.#countsHandOvers = this.#others !== undefined && before?.object.spec.suspend !== true;
    this.#hasTemplates =
      contents?.some(({ isTemplated }) => isTemplated) ?? shareIn(after)?.compiled.readsNamespace === true;
    this.#circumstances = circumstances;
  }

  /** `older` and `newer` are the match results of the two versions. The namespace must be managed. */
  in(namespaceObject: KubeObject, older: MatchResult['kind'], newer: MatchResult['kind']): WriteDifference {
    if (this.#isKept || (older === newer && this.#isSame)) return none;
    const unrendered = newer === 'yes' ? this.#unrendered(namespaceObject) : [];
    const isAsked = this.#countsHandOvers || (this.#countsLost && older === 'yes');
    // After an error of its match, the objects of a provider stay as they are.
    const hasError = older === 'error' || (newer === 'error' && this.#after !== undefined);
    if (!isAsked || hasError) return { ...none, unrendered };
    return { ...this.#claimed(namespaceObject, older === 'yes', newer === 'yes'), unrendered };
  }

  #claimed(
    namespaceObject: KubeObject,
    matchedBefore: boolean,
    matchesAfter: boolean,
  ): Pick<WriteDifference, 'lost' | 'handedOver'> {
    const { install, now: time, budget } = this.#circumstances;
    const wanted = (provider: Provider | undefined, isMatched: boolean) =>
      provider === undefined || !isMatched
        ? nothing
        : desiredByProvider(provider, namespaceObject, time, budget);
    const now = wanted(this.#after, matchesAfter);
    // An error in one template keeps all objects of the provider as they are.
    if (now.frozen.size > 0) return none;
    const old = wanted(this.#before, matchedBefore);
    const keys = new Set([...old.claims.keys(), ...now.claims.keys()]);
    if (keys.size === 0) return none;
    const others =
      this.#others === undefined ? nothing : desired(namespaceObject, this.#others, time, budget);
    const changes = [
      ...difference(withOthers(keys, old.claims, others), withOthers(keys, now.claims, others)),
    ];
    const lost = changes.filter(
      ([key, change]) =>
        change.kind === 'lost' && !isLeft(key, change.before, now) && mayCreate(change.before, install),
    );
    const handedOver = changes
      .flatMap(([key, change]) =>
        handOverOf(change, this.#write.id, old.claims.get(key)?.[0], now.claims.get(key)?.[0]),
      )
      .filter(
        ({ claim, other }) =>
          mayCreate(claim, install) &&
          !isOnce(claim, other) &&
          !others.frozen.has(other.provider) &&
          !hasSameForm(claim, other),
      );
    return {
      lost: this.#countsLost ? lost.length : 0,
      handedOver: this.#countsHandOvers && old.frozen.size === 0 ? handedOver : [],
    };
  }

  #unrendered(namespaceObject: KubeObject): readonly UnrenderedContent[] {
    const { budget, install, now } = this.#circumstances;
    if (this.#after === undefined || !this.#hasTemplates) return [];
    const found = this.#after
      .render(namespaceObject, budget)
      .flatMap((all, index) =>
        all
          .filter((rendered) => !isExceptedAt(rendered, now))
          .flatMap((rendered) =>
            rendered.kind === 'present' ? notAllowed(rendered, index, install) : [{ ...rendered, index }],
          ),
      );
    // At the end of the budget, each template ends with an error.
    return budget.isSpent() ? [] : found;
  }
}

/** A provider that only creates an object neither takes it over nor hands it over. */
function isOnce(...claims: readonly Claim[]): boolean {
  return claims.some(({ once }) => once !== undefined);
}

/** An object that is created once stays, whatever its provider wants later. */
function isLeft(key: ObjectKey, { once }: Claim, { given }: Wanted): boolean {
  return once !== undefined || given.has(key);
}

/** Returns a copy whose rendered name the install does not allow. Kinds and names as written have notices of their own. */
function notAllowed(
  rendered: ReturnType<Provider['render']>[number][number],
  index: number,
  install: Install,
): readonly UnrenderedContent[] {
  if (rendered.kind !== 'present' || rendered.value.content.kind !== 'copy') return [];
  const { type, name } = rendered.value;
  if (mayCreate({ type, name }, install)) return [];
  const message = `this installation does not allow Secrets of this name (--secret-name)`;
  return [{ index, kind: 'error', object: { type, name }, message }];
}

/** Returns the claims of one provider with those of others. A frozen provider comes last, because it takes no object. */
function withOthers(keys: ReadonlySet<ObjectKey>, own: Claims, { claims, frozen }: Wanted): Claims {
  const compare = (a: Claim, b: Claim): number =>
    Number(frozen.has(a.provider)) - Number(frozen.has(b.provider)) ||
    compareProviders(a.provider, b.provider);
  const all = new Map<ObjectKey, readonly Claim[]>();
  for (const key of keys) {
    const [ours = [], theirs = []] = [own.get(key), claims.get(key)];
    if (ours.length + theirs.length > 0) all.set(key, [...ours, ...theirs].sort(compare));
  }
  return all;
}

/** Returns undefined if this provider has the object before and after the write, because another notice words such a change. */
function handOverOf(
  change: Change,
  id: ProviderId,
  old: Claim | undefined,
  now: Claim | undefined,
): readonly HandOver[] {
  if (change.kind === 'handedOver') {
    const { before, after } = change;
    return after.provider === id
      ? [{ effect: 'taken', claim: after, other: before }]
      : [{ effect: 'handed', claim: before, other: after }];
  }
  if (change.kind !== 'kept' || change.after.provider === id || now === undefined) return [];
  const isKnown = old !== undefined && hasSameForm(old, now);
  return isKnown ? [] : [{ effect: 'not got', claim: now, other: change.after }];
}

function hasSameForm(a: Claim, b: Claim): boolean {
  return isDeepStrictEqual(formOf(a), formOf(b));
}

/** Returns the object that the claim wants, without its provider. */
function formOf({ content, expiresAt }: Claim): unknown {
  if (content.kind === 'object') return [content.body, expiresAt];
  return [payloadForm(content.share), content.metadata];
}

// Adds up contents that existing namespaces do not get, because a template skips or fails there.

/** A reason can name a value of the namespace, so there can be as many reasons as namespaces. */
const maxReasons = 3;
const otherReasons = 'for other reasons';

export class UnrenderedContents {
  /** By content, then by reason. */
  readonly #found = new Map<string, Map<string, UnrenderedContent & { readonly names: string[] }>>();

  /** Each content and reason, with the names of the namespaces. The name of the object comes from the first namespace. */
  get all() {
    return [...this.#found.values()].flatMap((reasons) => [...reasons.values()]);
  }

  add(content: UnrenderedContent, namespace: string): void {
    const key = `${content.index} ${content.kind}`;
    const reasons =
      this.#found.get(key) ?? new Map<string, UnrenderedContent & { readonly names: string[] }>();
    this.#found.set(key, reasons);
    const isShown = reasons.has(content.message) || reasons.size < maxReasons;
    const message = isShown ? content.message : otherReasons;
    const known = reasons.get(message) ?? { ...content, message, names: [] };
    reasons.set(message, known);
    known.names.push(namespace);
  }
}

// Finds the other policies and shares that could want the same objects as a provider.

/** Returns a snapshot with only these policies and shares. Undefined if there are none. */
function providersLike(
  { before, after }: ProviderWrite,
  snapshot: ClusterSnapshot,
): ClusterSnapshot | undefined {
  const versions = [before, after].filter((version) => version !== undefined);
  const policies = policiesLike(versions, snapshot);
  const shares = sharesLike(versions, snapshot);
  if (policies.length + shares.length === 0) return undefined;
  return {
    ...snapshot,
    policies: new PolicySet(policies, { excludedNamespaces: [] }),
    shares: new ShareSet(shares),
  };
}

function policiesLike(versions: readonly ProviderDefinition[], snapshot: ClusterSnapshot) {
  const { policies } = snapshot;
  const own = versions.flatMap((version) => policyIn(version)?.compiled ?? []);
  const wanted = versions.flatMap(wantedBy);
  // Only shares provide Secrets.
  if (wanted.every(({ type }) => isSameObjectType(type, secretObjectType))) return [];
  const ids = new Set(versions.map(({ compiled }) => compiled.id));
  // Thousands of tenants can have bindings, so a binding is compared only with the objects of its own namespace.
  const isTenants = own.length > 0 && own.every(({ id }) => namespaceOfProvider(id) !== undefined);
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

function sharesLike(versions: readonly ProviderDefinition[], { shares }: ClusterSnapshot) {
  const wanted = versions.flatMap(wantedBy);
  return shares.shares.filter(
    ({ id, type, copy: { name } }) =>
      versions.every(({ compiled }) => compiled.id !== id) &&
      wanted.some((each) => mayBeSame({ type, name }, each)),
  );
}

type NamedObject = Pick<CompiledContent, 'type' | 'name'>;

function wantedBy(version: ProviderDefinition): readonly NamedObject[] {
  const share = shareIn(version)?.compiled;
  if (share !== undefined) return [{ type: share.type, name: share.copy.name }];
  return policyIn(version)?.compiled.contents ?? [];
}

/** Excludes names that must differ, because rendering all policies for all namespaces would take too long. */
function mayBeSame(a: NamedObject, b: NamedObject): boolean {
  return groupKind(a.type) === groupKind(b.type) && mayBeSameName(a.name, b.name);
}

function mayBeSameName(a: string, b: string): boolean {
  const [one, other] = [fixedPart(a), fixedPart(b)];
  if (one === a && other === b) return one === other;
  return one === a
    ? one.startsWith(other)
    : other === b
      ? other.startsWith(one)
      : one.startsWith(other) || other.startsWith(one);
}

/** Returns the text before the first expression or escape. */
function fixedPart(name: string): string {
  return name.replace(/\$.*$/s, '');
}

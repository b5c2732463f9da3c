// Describes a live object as the reconciler remembers it. A hash stands for the values of a copy.
import { createHash } from 'node:crypto';
import { isJsonObject, ownMember } from '../../base/json.ts';
import {
  type KubeObject,
  annotationsOf,
  isTerminating,
  labelsOf,
  nameOf,
  valueOf,
} from '../../base/metadata.ts';
import {
  appliedAnnotation,
  expiresAtAnnotation,
  adoptedAnnotation,
  adoptLabel,
  lastAppliedAnnotation,
  modeAnnotation,
  managedByLabel,
  managedByReeve,
  orphanedFromKey,
  ownerAnnotation,
} from '../../schema/names.ts';
import {
  isSameObjectType,
  objectKey,
  type ObjectKey,
  type ObjectType,
  roleBindingType,
  secretObjectType,
} from '../../base/object-type.ts';
import { copiesOf, nameOfProvider, parseProviderId, type ProviderId } from '../terms/provider-id.ts';

export interface Observed extends Ownership {
  readonly key: ObjectKey;
  readonly type: ObjectType;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isTerminating: boolean;
  readonly appliedHash: string | undefined;
  /** Milliseconds since the epoch. Only expiring RoleBindings have it. */
  readonly expiresAt: number | undefined;
  /** `unread`: changed since the last read. `foreign`: no provider may write the object, so its content does not matter. */
  readonly content:
    | { readonly kind: 'object'; readonly object: KubeObject }
    | ObservedCopy
    | { readonly kind: 'unread' }
    | { readonly kind: 'foreign' };
}

/** Observes a whole object. */
export function observeObject(type: ObjectType, object: KubeObject): Observed {
  const identity = identityOf(type, object);
  if (!isOfInterest(identity)) return { ...identity, content: { kind: 'foreign' } };
  return { ...identity, content: isCopy(identity) ? copyIn(object) : { kind: 'object', object } };
}

/** No value of a Secret stays in memory. The ConfigMaps of a share can be large, and one is in each of many namespaces. */
function isCopy({ type, owner }: Pick<Observed, 'type' | 'owner'>): boolean {
  const copies = owner === undefined ? undefined : copiesOf(owner);
  return isSameObjectType(type, secretObjectType) || (copies !== undefined && isSameObjectType(type, copies));
}

/** Observes a Secret by its metadata alone. */
export function observeSecretMetadata(object: KubeObject): Observed {
  const identity = identityOf(secretObjectType, object);
  return { ...identity, content: { kind: isOfInterest(identity) ? 'unread' : 'foreign' } };
}

function identityOf(type: ObjectType, object: KubeObject): Omit<Observed, 'content'> {
  const { uid = '', namespace = '', resourceVersion } = object.metadata;
  const name = nameOf(object);
  return {
    ...ownershipOf(type, object),
    key: objectKey(type, name),
    type,
    namespace,
    name,
    uid,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    isTerminating: isTerminating(object),
    appliedHash: valueOf(annotationsOf(object), appliedAnnotation),
    expiresAt: expiryOf(object),
  };
}

/** True for a RoleBinding with subjects. */
export function grantsAccess({ type, content }: Pick<Observed, 'type' | 'content'>): boolean {
  return (
    isSameObjectType(type, roleBindingType) &&
    content.kind === 'object' &&
    content.object['subjects'] !== undefined
  );
}

function expiryOf(object: KubeObject): number | undefined {
  const time = Date.parse(valueOf(annotationsOf(object), expiresAtAnnotation) ?? '');
  return Number.isNaN(time) ? undefined : time;
}

function isOfInterest(of: Ownership): boolean {
  return of.owner !== undefined || of.isOffered || of.orphanedFrom !== undefined;
}

/** A Secret, or a ConfigMap that a share owns. */
interface ObservedCopy {
  readonly kind: 'copy';
  readonly facts: CopyFacts;
  readonly metadata: KubeObject['metadata'];
}

/** The facts that Reeve remembers of a copy. No value can be derived from them. */
export interface CopyFacts {
  /** The type of a Secret. `Opaque` for a ConfigMap. */
  readonly type: string;
  readonly isImmutable: boolean;
  /** The keys of `data`. */
  readonly keys: readonly string[];
  /** The keys of `binaryData`, which only a ConfigMap has. */
  readonly binaryKeys: readonly string[];
  readonly hash: string;
}

/** Keeps only the hash of the values. */
export function copyIn(object: KubeObject): ObservedCopy {
  const { [lastAppliedAnnotation]: _payload, ...annotations } = annotationsOf(object);
  return { kind: 'copy', facts: copyFacts(object), metadata: { labels: labelsOf(object), annotations } };
}

export function copyFacts(object: KubeObject): CopyFacts {
  const type = typeof object['type'] === 'string' ? object['type'] : 'Opaque';
  const isImmutable = object['immutable'] === true;
  const [data, binaryData] = [sortedValues(object['data']), sortedValues(object['binaryData'])];
  const hash = createHash('sha256').update(JSON.stringify([type, isImmutable, data, binaryData]));
  const [keys, binaryKeys] = [data.map(([key]) => key), binaryData.map(([key]) => key)];
  return { type, isImmutable, keys, binaryKeys, hash: hash.digest('base64') };
}

function sortedValues(data: unknown): readonly (readonly [key: string, value: unknown])[] {
  const values = isJsonObject(data) ? data : {};
  return Object.keys(values)
    .sort()
    .map((key) => [key, values[key] ?? ''] as const);
}

// Reads who owns an object, and whether the object is offered, orphaned or adopted. Writes the mark of an orphan.

export interface Ownership {
  /** Undefined for an object that Reeve does not manage. */
  readonly owner: ProviderId | undefined;
  /** True for an object with the label of Reeve that names no policy or share. */
  readonly lacksOwner: boolean;
  /** True if any provider may adopt the object. */
  readonly isOffered: boolean;
  /** The value of the label reeve.dev/adopt, if it is neither `true` nor `delete`. */
  readonly unknownOffer: string | undefined;
  /** The provider that left the object behind, and may take it back. */
  readonly orphanedFrom: ProviderId | undefined;
  /** True for an object with finalizers. Other programs decide when it is deleted, and a RoleBinding grants until then. */
  readonly isHeld: boolean;
  /** True between the creation of an object that is created once and its release. */
  readonly isCreatedOnce: boolean;
  /** True if the object existed before a provider took it over. */
  readonly isAdopted: boolean;
  /** The value of the annotation reeve.dev/adopted, once a provider has adopted the object. */
  readonly adoptionMark: string;
  /** False for an object that Reeve gives back instead of deleting it. */
  readonly isDeletable: boolean;
}

/** Two values offer an object. This one allows Reeve to delete it later. */
const adoptAndDelete = 'delete';

export function ownershipOf(type: ObjectType, object: KubeObject): Ownership {
  const labels = labelsOf(object);
  const annotations = annotationsOf(object);
  const isMarked = valueOf(labels, managedByLabel) === managedByReeve;
  const owner = isMarked ? parseProviderId(valueOf(annotations, ownerAnnotation)) : undefined;
  const offer = valueOf(labels, adoptLabel);
  const { finalizers } = object.metadata;
  const isHeld = Array.isArray(finalizers) && finalizers.length > 0;
  const isFree = !isHeld && !hasController(object);
  const isDefault = isDefaultAccount(type, nameOf(object));
  const isAdopted = valueOf(annotations, adoptedAnnotation) !== undefined;
  return {
    owner,
    lacksOwner: isMarked && owner === undefined,
    isOffered: isFree && (isOffer(offer) || (isDefault && isUntouched(object))),
    unknownOffer: isOffer(offer) ? undefined : offer,
    orphanedFrom: isFree ? orphanedFrom(object) : undefined,
    isHeld,
    isCreatedOnce: Object.hasOwn(annotations, modeAnnotation),
    isAdopted,
    adoptionMark: adoptionMark(object, isMarked),
    isDeletable: !isDefault && (!isAdopted || offer === adoptAndDelete),
  };
}

/** How the annotation of an object begins that had another value of app.kubernetes.io/managed-by. */
export const formerly = 'managed-by=';

/** Returns the previous owner. Only Reeve writes annotations of a marked object, so any other value does not count. */
function adoptionMark(object: KubeObject, isMarked: boolean): string {
  if (isMarked) return valueOf(annotationsOf(object), adoptedAnnotation) ?? 'true';
  const label = valueOf(labelsOf(object), managedByLabel) ?? '';
  return label === '' ? 'true' : `${formerly}${label}`;
}

function isOffer(value: string | undefined): boolean {
  return value === 'true' || value === adoptAndDelete;
}

/**
 * Kubernetes creates this ServiceAccount in every namespace. Deleting it would end all tokens that are bound to its UID.
 * https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#serviceaccount-controller
 */
export function isDefaultAccount({ apiVersion, kind }: ObjectType, name: string): boolean {
  return apiVersion === 'v1' && kind === 'ServiceAccount' && name === 'default';
}

/** Without the label, the object is free again. The annotation distinguishes a policy from a share of the same name. */
function orphanedFrom(object: KubeObject): ProviderId | undefined {
  const provider = parseProviderId(valueOf(annotationsOf(object), orphanedFromKey));
  const name = valueOf(labelsOf(object), orphanedFromKey);
  return provider !== undefined && nameOfProvider(provider) === name ? provider : undefined;
}

/** Returns true if only the controller of ServiceAccounts has written the object, so that a change loses nothing. */
function isUntouched(object: KubeObject): boolean {
  const { finalizers } = object.metadata;
  const isPlain = Object.keys(object).every((field) => ['apiVersion', 'kind', 'metadata'].includes(field));
  const added = [labelsOf(object), annotationsOf(object), finalizers ?? {}];
  return isPlain && added.every((each) => Object.keys(each).length === 0);
}

/** Its controller would write against Reeve: https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/ */
function hasController({ metadata }: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).some((reference) => ownMember(reference, 'controller') === true);
}

// Describes the result for one object of a provider in a namespace: in sync, in conflict, failed, or undesired.

export interface ObjectResult {
  readonly provider: ProviderId;
  readonly key: ObjectKey;
  /** `undesired`: the object exists but is no longer wanted. Such an object does not count as desired. */
  readonly state: 'synced' | 'conflict' | 'failed' | 'undesired';
  /** One word in CamelCase, as in a condition. */
  readonly reason: string;
  readonly message: string;
  /** True for an error that Kubernetes or a watch most likely ends within seconds. */
  readonly isEarly?: true;
  /** Set if two providers want the object in the same form. */
  readonly agreement?: Agreement;
}

/** `other` wants the same form as the owner, so `other` counts the object as in sync. */
export interface Agreement {
  readonly owner: ProviderId;
  readonly other: ProviderId;
}

type About = Pick<ObjectResult, 'provider' | 'key'>;

export function syncedResult({ provider, key }: About): ObjectResult {
  return { provider, key, state: 'synced', reason: 'Synced', message: '' };
}

export const terminatingText = 'the object is being deleted and waits for its finalizers';

const conflictReasons = ['AlreadyExists', 'OwnedByAnother', 'ProvidedByAnother'] as const;

export function isConflict({ reason }: Pick<ObjectResult, 'reason'>): boolean {
  return conflictReasons.some((each) => each === reason);
}

export function conflictResult(
  { provider, key }: About,
  reason: (typeof conflictReasons)[number],
  message: string,
): ObjectResult {
  return { provider, key, state: 'conflict', reason, message };
}

export function failedResult({ provider, key }: About, reason: string, message: string): ObjectResult {
  return { provider, key, state: 'failed', reason, message };
}

/** Reeve waits for Kubernetes, which creates this account in every namespace. Creating it would be a race. */
export function defaultNotCreated(about: About, use: 'changes it' | 'adds fields to it'): ObjectResult {
  const message = `Kubernetes has not created it yet, and Reeve only ${use}: check that kube-controller-manager runs its controller serviceaccount`;
  return { ...failedResult(about, 'NotCreatedYet', message), isEarly: true };
}

export function undesiredResult({ provider, key }: About, reason: string, message: string): ObjectResult {
  return { provider, key, state: 'undesired', reason, message };
}

/** A provider that wants an object in the same form as its owner. */
export interface Follower extends About {
  readonly owner: ProviderId;
}

/** Adds the results of followers: an object that exists satisfies them, too. */
export function withFollowers(
  results: readonly ObjectResult[],
  followers: readonly Follower[],
): readonly ObjectResult[] {
  const copied = followers.flatMap(({ provider, key, owner }) => {
    const result = results.find((each) => each.provider === owner && each.key === key);
    if (result === undefined) return [];
    const message = result.state === 'synced' ? '' : `${owner} provides the same: ${result.message}`;
    return [{ ...result, provider, message, agreement: { owner, other: provider } }];
  });
  if (copied.length === 0) return results;
  const own = results.map((result) => {
    const { provider, key } = result;
    const agreement = copied.find((each) => each.key === key && each.agreement.owner === provider)?.agreement;
    return agreement === undefined ? result : { ...result, agreement };
  });
  return [...own, ...copied];
}

// Reads from an object to whom it belongs: to a provider, or offered, orphaned or adopted. Words the mark of an orphan.
import { ownMember } from '../../base/json.ts';
import { type KubeObject, annotationsOf, labelsOf, nameOf, valueOf } from '../../base/metadata.ts';
import { rfc3339 } from '../../base/time.ts';
import {
  adoptedAnnotation,
  adoptLabel,
  managedByLabel,
  managedByReeve,
  orphanedFromKey,
  ownerAnnotation,
  withoutMarks,
} from '../../schema/names.ts';
import type { ObjectType } from '../terms/object-key.ts';
import { nameOfProvider, parseProviderId, type ProviderId } from '../terms/provider-id.ts';

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
  /** True for an object with finalizers: other programs decide when it is deleted, and a RoleBinding grants until then. */
  readonly isHeld: boolean;
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
    isAdopted,
    adoptionMark: adoptionMark(object, isMarked),
    isDeletable: !isDefault && (!isAdopted || offer === adoptAndDelete),
  };
}

const formerly = 'managed-by=';

/** Remembers whose the object was. Only Reeve writes annotations of a marked object, so any other value is not believed. */
function adoptionMark(object: KubeObject, isMarked: boolean): string {
  if (isMarked) return valueOf(annotationsOf(object), adoptedAnnotation) ?? 'true';
  const label = valueOf(labelsOf(object), managedByLabel) ?? '';
  return label === '' ? 'true' : `${formerly}${label}`;
}

/** Returns the value of app.kubernetes.io/managed-by that the object had before its adoption. */
export function managedBefore(object: KubeObject): string | undefined {
  return managerIn(valueOf(annotationsOf(object), adoptedAnnotation));
}

function managerIn(mark: string | undefined): string | undefined {
  return mark?.startsWith(formerly) === true ? mark.slice(formerly.length) : undefined;
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

/** Part of a merge patch: takes our marks off, gives the label managed-by back, and keeps whose object it was. */
export function orphanMetadata(owner: ProviderId, { adoptionMark: mark }: Pick<Ownership, 'adoptionMark'>) {
  const { labels, annotations } = withoutMarks;
  return {
    labels: {
      ...labels,
      [managedByLabel]: managerIn(mark) ?? null,
      [orphanedFromKey]: nameOfProvider(owner),
    },
    annotations: { ...annotations, [orphanedFromKey]: owner },
  };
}

/** An expiring RoleBinding that its provider leaves behind grants access without an end, so its event says so. */
export function endlessNote({ expiresAt }: { readonly expiresAt: number | undefined }) {
  return expiresAt === undefined
    ? undefined
    : { message: `it was to end at ${rfc3339(new Date(expiresAt))}, and stays without an end` };
}

/** An object without the label is free again. The annotation tells a policy from a share of that name. */
function orphanedFrom(object: KubeObject): ProviderId | undefined {
  const provider = parseProviderId(valueOf(annotationsOf(object), orphanedFromKey));
  const name = valueOf(labelsOf(object), orphanedFromKey);
  return provider !== undefined && nameOfProvider(provider) === name ? provider : undefined;
}

/** True for an object that is as the controller of ServiceAccounts creates it, so that its change takes nothing away. */
function isUntouched(object: KubeObject): boolean {
  const { finalizers } = object.metadata;
  const isPlain = Object.keys(object).every((field) => ['apiVersion', 'kind', 'metadata'].includes(field));
  const added = [labelsOf(object), annotationsOf(object), finalizers ?? {}];
  return isPlain && added.every((each) => Object.keys(each).length === 0);
}

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/: its controller would write against Reeve. */
function hasController({ metadata }: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).some((reference) => ownMember(reference, 'controller') === true);
}

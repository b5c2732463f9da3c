// Decides the next step for one NamespaceClaim: create or delete its Namespace, set its finalizer, or report its state.
import { conditionOf, type Condition } from '../../base/condition.ts';
import { ownMember } from '../../base/json.ts';
import { annotationsOf, isTerminating, valueOf, type KubeObject } from '../../base/metadata.ts';
import type { NamespaceClaim } from '../../api/namespace-claim/namespace-claim.ts';
import { cleanupFinalizer, confirmDeletionsAnnotation, readyCondition } from '../../schema/names.ts';
import { claimedNamespace, deletesNamespace, isOfClaim, readClaim, claimantOf } from '../terms/claim.ts';

/** Leaves out what Reeve does not need of a claim in memory, because a tenant can write much of it. */
export function neededOf({ metadata, spec, status }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, generation, deletionTimestamp, finalizers } = metadata;
  const confirmation = valueOf(annotationsOf({ metadata }), confirmDeletionsAnnotation);
  const present = Object.entries({
    name,
    namespace,
    uid,
    resourceVersion,
    generation,
    deletionTimestamp,
    finalizers,
    ...(confirmation !== undefined && { annotations: { [confirmDeletionsAnnotation]: confirmation } }),
  }).filter(([, value]) => value !== undefined);
  return { metadata: Object.fromEntries(present), spec, status };
}

interface ClaimFacts {
  readonly object: KubeObject;
  /** The Namespace of the name that the claim asks for. */
  readonly namespaceObject: KubeObject | undefined;
  /** True while the definition of the kind is being deleted, which deletes all claims without a review. */
  readonly isKindTerminating: boolean;
  /** Namespaces of the same policy that claims have deleted in the last ten minutes. */
  readonly recentDeletions: number;
  /** The `maxDeletions` of the policy. */
  readonly maxDeletions: number;
}

export type NamespaceClaimStep =
  | { readonly kind: 'none' }
  | { readonly kind: 'create'; readonly namespaceObject: KubeObject }
  | { readonly kind: 'delete'; readonly namespaceObject: KubeObject }
  | { readonly kind: 'finalizer'; readonly isWanted: boolean }
  | { readonly kind: 'report'; readonly condition: Condition; readonly namespaceUID?: string };

export function planNamespaceClaim(facts: ClaimFacts): NamespaceClaimStep {
  const { object } = facts;
  const read = readClaim(object);
  const hasFinalizer = finalizersOf(object).includes(cleanupFinalizer);
  if (isTerminating(object)) {
    if (!hasFinalizer) return { kind: 'none' };
    return read.ok ? planEnd(read.value, facts) : { kind: 'finalizer', isWanted: false };
  }
  if (!read.ok) return { kind: 'report', condition: claimNotReady('Invalid', 'the spec does not load') };
  const isWanted = read.value.spec.deletionPolicy === 'Delete';
  return hasFinalizer === isWanted ? planLife(read.value, facts) : { kind: 'finalizer', isWanted };
}

function planEnd(claim: NamespaceClaim, facts: ClaimFacts): NamespaceClaimStep {
  const { object, namespaceObject, isKindTerminating, recentDeletions, maxDeletions } = facts;
  const deletes = !isKindTerminating && deletesNamespace(claim, object, namespaceObject);
  if (!deletes) return { kind: 'finalizer', isWanted: false };
  const { name } = claim.spec;
  const isConfirmed = valueOf(annotationsOf(object), confirmDeletionsAnnotation) === name;
  const isHeld =
    recentDeletions >= maxDeletions || conditionOf(object['status'], 'Ready')?.reason === heldReason;
  if (isConfirmed || !isHeld) return { kind: 'delete', namespaceObject };
  return {
    kind: 'report',
    condition: claimNotReady(
      heldReason,
      `namespace ${name} stays, because claims of policy ${claim.spec.policy} have deleted ${maxDeletions} namespaces in ten ` +
        `minutes, its maxDeletions; annotate the claim ${confirmDeletionsAnnotation}=${name} to delete it, or set ` +
        'deletionPolicy to Retain',
    ),
  };
}

const heldReason = 'TooManyDeletions';

function report(reason: string, message: string): NamespaceClaimStep {
  return { kind: 'report', condition: claimNotReady(reason, message) };
}

function planLife(claim: NamespaceClaim, { object, namespaceObject }: ClaimFacts): NamespaceClaimStep {
  const { name } = claim.spec;
  if (claimantOf(claim) === undefined)
    return report('NotJudged', 'the webhook has not stamped the claim: write its spec again');
  if (namespaceObject === undefined) {
    if (typeof ownMember(object['status'], 'namespaceUID') !== 'string')
      return { kind: 'create', namespaceObject: claimedNamespace(claim, object) };
    return report('NamespaceDeleted', `namespace ${name} was deleted; a new claim can ask for it again`);
  }
  if (!isOfClaim(namespaceObject, object)) return report('NameTaken', takenText(name));
  return {
    kind: 'report',
    condition: readinessOf(namespaceObject, name),
    namespaceUID: namespaceObject.metadata.uid ?? '',
  };
}

export function takenText(name: string): string {
  return `namespace ${name} exists and was not created for this claim; no claim takes over a namespace`;
}

function readinessOf(namespaceObject: KubeObject, name: string): Condition {
  if (isTerminating(namespaceObject))
    return claimNotReady('NamespaceTerminating', `namespace ${name} is being deleted`);
  const ready = conditionOf(namespaceObject['status'], readyCondition);
  if (ready === undefined) return pendingCondition(name);
  const { status, reason, message } = ready;
  return { type: 'Ready', status, reason, message };
}

export function pendingCondition(name: string): Condition {
  return claimNotReady('Pending', `namespace ${name} exists, and its objects are being created`);
}

export function claimNotReady(reason: string, message: string): Condition {
  return { type: 'Ready', status: 'False', reason, message };
}

export function finalizersOf({ metadata }: KubeObject): readonly string[] {
  const { finalizers } = metadata;
  return Array.isArray(finalizers) ? finalizers.filter((each) => typeof each === 'string') : [];
}

// Policies and shares as owners of the objects they provide, and what the reconciler has to know of each.
import { group, useVerb } from '../api/names.ts';

export const ownerKinds = ['NamespacePolicy', 'SecretShare'] as const;
export type OwnerKind = (typeof ownerKinds)[number];

/** As it stands in the annotation of an object: `NamespacePolicy/team-namespaces`. */
export type OwnerId = `${OwnerKind}/${string}`;

export function ownerId(kind: OwnerKind, name: string): OwnerId {
  return `${kind}/${name}`;
}

/** Undefined for a text that names no owner of ours. */
export function parseOwnerId(text: string | undefined): OwnerId | undefined {
  const kind = ownerKinds.find((each) => text?.startsWith(`${each}/`));
  const name = kind === undefined ? '' : (text ?? '').slice(kind.length + 1);
  return kind === undefined || name === '' ? undefined : ownerId(kind, name);
}

export function kindOfOwner(id: OwnerId): OwnerKind {
  return id.startsWith('NamespacePolicy/') ? 'NamespacePolicy' : 'SecretShare';
}

export function ownerName(id: OwnerId): string {
  return id.slice(id.indexOf('/') + 1);
}

/** The right to decide which namespaces it reaches, and what they get from it. */
export function useOf(id: OwnerId) {
  const resource = kindOfOwner(id) === 'NamespacePolicy' ? 'namespacepolicies' : 'secretshares';
  return { verb: useVerb, group, resource, name: ownerName(id) } as const;
}

/** One policy or share as it is stored, whether it loads or not. */
export interface OwnerState {
  readonly id: OwnerId;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  /** One that does not load keeps everything it owns as it is. */
  readonly isValid: boolean;
  readonly isDeleting: boolean;
  readonly hasFinalizer: boolean;
  /** Whether it provides objects: has contents, or is a share. */
  readonly provides: boolean;
  readonly isSuspended: boolean;
  readonly deletionPolicy: 'Delete' | 'Orphan';
  readonly maxDeletions: number;
  /** The annotation reeve.dev/confirm-deletions as it is written. */
  readonly confirmation: string | undefined;
  /** `status.confirmationUsed` as it is stored. */
  readonly confirmationUsed: string | undefined;
}

// Policies and shares as owners of the objects they provide, and what the reconciler has to know of each.
import { group, useVerb } from '../../api/names.ts';

export const providerKinds = ['NamespacePolicy', 'SecretShare'] as const;
export type ProviderKind = (typeof providerKinds)[number];

/** As it stands in the annotation of an object: `NamespacePolicy/team-namespaces`. */
export type ProviderId = `${ProviderKind}/${string}`;

export function providerId(kind: ProviderKind, name: string): ProviderId {
  return `${kind}/${name}`;
}

/** Undefined for a text that names no owner of ours. */
export function parseProviderId(text: string | undefined): ProviderId | undefined {
  const kind = providerKinds.find((each) => text?.startsWith(`${each}/`));
  const name = kind === undefined ? '' : (text ?? '').slice(kind.length + 1);
  return kind === undefined || name === '' ? undefined : providerId(kind, name);
}

export function kindOfProvider(id: ProviderId): ProviderKind {
  return id.startsWith('NamespacePolicy/') ? 'NamespacePolicy' : 'SecretShare';
}

export function nameOfProvider(id: ProviderId): string {
  return id.slice(id.indexOf('/') + 1);
}

/** The right to decide which namespaces it reaches, and what they get from it. */
export function useOf(id: ProviderId) {
  const resource = kindOfProvider(id) === 'NamespacePolicy' ? 'namespacepolicies' : 'secretshares';
  return { verb: useVerb, group, resource, name: nameOfProvider(id) } as const;
}

/** One policy or share as it is stored, whether it loads or not. */
export interface ProviderState {
  readonly id: ProviderId;
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

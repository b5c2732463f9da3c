// Identifies providers (policies and shares), and lists what the reconciler needs to know of each.
import { isLabelValue } from '../../api/kubernetes-names.ts';
import { group, useVerb } from '../../api/names.ts';

export const providerKinds = ['NamespacePolicy', 'SecretShare'] as const;
export type ProviderKind = (typeof providerKinds)[number];

/** The text of the owner annotation: `NamespacePolicy/team-namespaces`. */
export type ProviderId = `${ProviderKind}/${string}`;

export function providerId(kind: ProviderKind, name: string): ProviderId {
  return `${kind}/${name}`;
}

/** Returns undefined when the text names no policy or share. Their names are label values; the jail checks the same. */
export function parseProviderId(text: string | undefined): ProviderId | undefined {
  const kind = providerKinds.find((each) => text?.startsWith(`${each}/`));
  const name = kind === undefined ? '' : (text ?? '').slice(kind.length + 1);
  return kind === undefined || name === '' || !isLabelValue(name) ? undefined : providerId(kind, name);
}

export function kindOfProvider(id: ProviderId): ProviderKind {
  return id.startsWith('NamespacePolicy/') ? 'NamespacePolicy' : 'SecretShare';
}

export function nameOfProvider(id: ProviderId): string {
  return id.slice(id.indexOf('/') + 1);
}

/** The right to decide which namespaces the provider matches, and what they get from it. */
export function useOf(id: ProviderId) {
  const resource = kindOfProvider(id) === 'NamespacePolicy' ? 'namespacepolicies' : 'secretshares';
  return { verb: useVerb, group, resource, name: nameOfProvider(id) } as const;
}

/** The stored version of a policy or share, valid or not. */
export interface ProviderState {
  readonly id: ProviderId;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  /** False for a version that does not load. All objects that the provider owns then stay as they are. */
  readonly isValid: boolean;
  readonly isDeleting: boolean;
  readonly hasFinalizer: boolean;
  /** True for a policy with contents, and for a share. */
  readonly provides: boolean;
  readonly isSuspended: boolean;
  readonly deletionPolicy: 'Delete' | 'Orphan';
  readonly maxDeletions: number;
  /** The raw value of the annotation reeve.dev/confirm-deletions. */
  readonly confirmation: string | undefined;
  /** The stored `status.confirmationUsed`. */
  readonly confirmationUsed: string | undefined;
}

// Identifies providers (policies, shares and bindings of intents), and lists what the reconciler needs to know of each.
import { kindDefinitions, kinds, type BindingKind, type ProviderKind } from '../../api/kinds.ts';
import type { ObjectRef } from '../../base/metadata.ts';
import type { ObjectType } from '../../base/object-type.ts';
import { isLabelValue, isNamespaceName } from '../../base/kubernetes-names.ts';
import { apiVersion as ownVersion, group, useVerb } from '../../schema/names.ts';
import type { DeletionRecord } from './deletion-record.ts';

/** Sorted by precedence, which is the order of the kinds. */
export const providerKinds: readonly ProviderKind[] = kindDefinitions.flatMap((each) =>
  each.word === 'intent' || each.word === 'claim' ? [] : [each.kind],
);

/** Returns the kind of an object of files or of the API server. Undefined for an object that is no provider. */
export function providerKindOf(kind: unknown): ProviderKind | undefined {
  return providerKinds.find((each) => each === kind);
}

/** The text of the owner annotation: `NamespacePolicy/team-namespaces`, `SecurityIntentBinding/shop/no-egress`. */
export type ProviderId = `${ProviderKind}/${string}`;

/** `namespace` is for a namespaced kind alone: SecurityIntentBinding. */
export function providerId(kind: ProviderKind, name: string, namespace?: string): ProviderId {
  return isNamespaced(kind) ? `${kind}/${namespace ?? ''}/${name}` : `${kind}/${name}`;
}

/** Returns undefined when the text names no provider. Names are label values; the jail checks the same. */
export function parseProviderId(text: string | undefined): ProviderId | undefined {
  const [first, ...rest] = text?.split('/', 4) ?? [];
  const kind = providerKindOf(first);
  const name = rest.at(-1) ?? '';
  const [namespace] = rest;
  if (kind === undefined || namespace === undefined || name === '' || !isLabelValue(name)) return undefined;
  if (rest.length !== (isNamespaced(kind) ? 2 : 1)) return undefined;
  if (isNamespaced(kind) && !isNamespaceName(namespace)) return undefined;
  return providerId(kind, name, namespace);
}

/** Returns true for a kind that tenants write in their own namespace. */
function isNamespaced(kind: ProviderKind): boolean {
  return kinds[kind].scope === 'Namespaced';
}

export function kindOfProvider(id: ProviderId): ProviderKind {
  return providerKinds.find((each) => id.startsWith(`${each}/`)) ?? 'NamespacePolicy';
}

/** The kind of the copies of a share. Undefined for a provider with contents. */
export function copiesOf(id: ProviderId): ObjectType | undefined {
  return kinds[kindOfProvider(id)].copies;
}

/** `policy`, `share` or `binding`. */
export function wordOf(id: ProviderId): string {
  return kinds[kindOfProvider(id)].word;
}

export function isBindingKind(kind: ProviderKind): kind is BindingKind {
  return kinds[kind].word === 'binding';
}

export function isBinding(id: ProviderId): boolean {
  return isBindingKind(kindOfProvider(id));
}

export function nameOfProvider(id: ProviderId): string {
  return id.slice(id.lastIndexOf('/') + 1);
}

/** Undefined for a cluster-scoped provider. */
export function namespaceOfProvider(id: ProviderId): string | undefined {
  const kind = kindOfProvider(id);
  return isNamespaced(kind) ? id.slice(kind.length + 1, id.lastIndexOf('/')) : undefined;
}

/** Returns the namespace of a tenant's binding, or the id of another provider. */
export function tenantOf(id: ProviderId): string {
  return namespaceOfProvider(id) ?? id;
}

export function providerRef(id: ProviderId): ObjectRef {
  const namespace = namespaceOfProvider(id);
  const ref = { apiVersion: ownVersion, kind: kindOfProvider(id), name: nameOfProvider(id) };
  return namespace === undefined ? ref : { ...ref, namespace };
}

/** Returns the name in sentences: `NamespacePolicy team-namespaces`, `SecurityIntentBinding shop/no-egress`. */
export function shownProvider(id: ProviderId): string {
  return id.replace('/', ' ');
}

/** Names the provider in a command: `securityintentbinding no-egress -n shop`. */
export function kubectlName(resource: string, id: ProviderId): string {
  const namespace = namespaceOfProvider(id);
  return `${resource} ${nameOfProvider(id)}${namespace === undefined ? '' : ` -n ${namespace}`}`;
}

/** Returns the name in metrics and violations. A binding has its id there, so that no two providers have one name. */
export function shortName(id: ProviderId): string {
  return isBinding(id) ? id : nameOfProvider(id);
}

/** Returns the name with its kind. The id of a binding, `SecurityIntentBinding/shop/no-egress`, already names the kind. */
export function shownName(policy: string, kind = 'policy'): string {
  return policy.includes('/') ? policy.replace('/', ' ') : `${kind} ${policy}`;
}

/** Orders providers by kind, then by name, so that no tenant's binding comes before a provider of the cluster. */
export function compareProviders(a: ProviderId, b: ProviderId): number {
  const [first, second] = [kindOfProvider(a), kindOfProvider(b)];
  if (first !== second) return providerKinds.indexOf(first) - providerKinds.indexOf(second);
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The right to decide which namespaces the provider matches, and what they get from it. */
export function useOf(id: ProviderId) {
  const namespace = namespaceOfProvider(id);
  const resource = kinds[kindOfProvider(id)].plural;
  const use = { verb: useVerb, group, resource, name: nameOfProvider(id) } as const;
  return namespace === undefined ? use : { ...use, namespace };
}

/** The stored version of a provider, valid or not. */
export interface ProviderState {
  readonly id: ProviderId;
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  /** False for a version that does not load. All objects that the provider owns then stay as they are. */
  readonly isValid: boolean;
  readonly isDeleting: boolean;
  readonly hasFinalizer: boolean;
  /** True for a policy or binding with contents, and for a share. */
  readonly provides: boolean;
  readonly isSuspended: boolean;
  readonly deletionPolicy: 'Delete' | 'Orphan';
  readonly maxDeletions: number;
  /** The raw value of the annotation reeve.dev/confirm-deletions. */
  readonly confirmation: string | undefined;
  /** The stored `status.confirmationUsed`. */
  readonly confirmationUsed: string | undefined;
  /** The deletions that the stored status remembers. */
  readonly deletions: DeletionRecord;
  /** The stored `status.waves`. Absent if it has none. */
  readonly waves?: WavesGate;
}

/** Says which existing namespaces may get enforced values. */
export interface WavesGate {
  /** Identifies the values. The gate of other values opens nothing. */
  readonly values: string;
  /** The last position that may be moved. */
  readonly through: string;
  readonly isStopped: boolean;
}

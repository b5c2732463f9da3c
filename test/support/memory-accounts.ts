// Server-side apply to ServiceAccounts in the cluster in memory, with the managers of their fields.
import type { KubeObject } from '../../src/base/metadata.ts';
import { serviceAccountKind } from '../../src/sandbox/kinds/plain-kinds.ts';
import { applied, withManagedFields } from '../../src/sandbox/patch/managed-fields.ts';

const time = '2026-11-21T12:00:00Z';

export function isAccount({ kind }: Pick<KubeObject, 'kind'>): boolean {
  return kind === serviceAccountKind.kind;
}

export function appliedAccount(stored: KubeObject, sent: KubeObject, name: string): KubeObject {
  const { uid: _uid, resourceVersion: _version, ...metadata } = sent.metadata;
  const manager = { name, subresource: undefined, time };
  const config = { ...sent, metadata };
  return applied({ resource: serviceAccountKind, stored, applied: config, manager, force: true });
}

export function changedAccount(stored: KubeObject, next: KubeObject): KubeObject {
  return withManagedFields(serviceAccountKind, next, stored, { name: 'user', subresource: undefined, time });
}

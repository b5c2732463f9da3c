// Asks the API server what a provider still has, before its finalizer goes: a watch can be behind what an earlier leader wrote.
import type { KubeObject } from '../../base/kube-object.ts';
import { KubeError } from '../../base/kube-error.ts';
import { isTerminating } from '../../base/metadata.ts';
import { providesFields } from '../../policy/compile/load-provider.ts';
import { observeAccount } from '../../policy/plan/account.ts';
import { ownershipOf } from '../../policy/plan/ownership.ts';
import { hasFieldsOf } from '../../policy/plan/plan-account.ts';
import { kindOfProvider, type ProviderId } from '../../policy/terms/provider-id.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import type { ObservedObjects } from '../live/observed-objects.ts';
import { providedKinds, type ProvidedScope } from '../live/watches.ts';
import type { AuditReader, OwnedReader } from '../ports.ts';
import { isManagedNamespace } from './remaining-objects.ts';

export interface UnseenObjectsOptions extends ProvidedScope {
  readonly cluster: Pick<LiveCluster, 'snapshot' | 'provider'>;
  readonly objects: Pick<ObservedObjects, 'isKnown'>;
  readonly ownedReader: OwnedReader;
  readonly auditReader: AuditReader;
}

/** How often to ask while objects are left that no watch has reported. */
export const unseenMs = 2000;

/** Rejects with a KubeError. Objects in namespaces that are excluded or being deleted do not count. */
export async function hasUnseenObjects(
  id: ProviderId,
  { cluster, objects, ownedReader, auditReader, ...scope }: UnseenObjectsOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const snapshot = cluster.snapshot();
  const isInManaged = ({ metadata: { namespace = '' } }: KubeObject): boolean =>
    isManagedNamespace(namespace, snapshot);
  for (const kind of providedKinds(kindOfProvider(id), scope)) {
    // The caller waits for kinds whose watch has not synced.
    if (!objects.isKnown(kind) || !snapshot.isServed(kind.type)) continue;
    const isLeft = (object: KubeObject): boolean =>
      ownershipOf(kind.type, object).owner === id && !isTerminating(object) && isInManaged(object);
    if (await someOf(ownedReader.listOwned(id, kind, signal), isLeft)) return true;
  }
  if (!providesFields(cluster.provider(id)?.definition)) return false;
  return await someOf(
    auditReader.listExisting('serviceaccounts', undefined, signal),
    (account) => hasFieldsOf(id, observeAccount(account)) && isInManaged(account),
  );
}

/** What our account may not list, or what is no longer served, cannot hold the finalizer. */
async function someOf(
  listed: AsyncIterable<KubeObject>,
  isWanted: (object: KubeObject) => boolean,
): Promise<boolean> {
  try {
    for await (const object of listed) if (isWanted(object)) return true;
    return false;
  } catch (error) {
    if (error instanceof KubeError && (error.code === 403 || error.code === 404)) return false;
    throw error;
  }
}

// What is there of Reeve's own: the policies and shares, and every object of any kind that carries its mark.
import { KubeError } from '../base/kube-error.ts';
import { apiVersion, managedByLabel, managedByReeve } from '../api/names.ts';
import type { KubeClient } from '../kube/http/client.ts';
import { resourcePath } from '../kube/http/resource-paths.ts';
import { observeObject, type Observed } from '../policy/plan/observed.ts';
import type { ProviderKind, ProviderState } from '../policy/terms/provider-id.ts';
import { loadStored } from '../state/stored-provider.ts';
import { inParallel } from './in-parallel.ts';
import { listObjects } from './listing.ts';
import { servedKinds, type ServedResource } from './served-kinds.ts';

export interface Facts {
  readonly owners: readonly ProviderState[];
  /** Of objects of any namespaced kind, their metadata. */
  readonly marked: readonly Observed[];
  /** What could not be looked at, and why: `pods.metrics.k8s.io (503 ServiceUnavailable)`. */
  readonly unseen: readonly string[];
}

const plurals: Readonly<Record<ProviderKind, string>> = {
  NamespacePolicy: 'namespacepolicies',
  SecretShare: 'secretshares',
};
const listsAtOnce = 8;

/** Rejects with a KubeError when not even the policies and shares can be listed. */
export async function readFacts(client: KubeClient): Promise<Facts> {
  const [policies, shares, { resources, unseen }] = await Promise.all([
    ownersOf('NamespacePolicy', client),
    ownersOf('SecretShare', client),
    servedKinds(client),
  ]);
  const marked: Observed[] = [];
  const unlisted: string[] = [];
  const lists = await inParallel(resources, listsAtOnce, (resource) => markedOf(resource, client));
  for (const [index, found] of lists.entries()) {
    if (found instanceof KubeError)
      unlisted.push(`${nameOf(resources[index])} (${found.code} ${found.reason})`);
    else marked.push(...found);
  }
  return { owners: [...policies, ...shares], marked, unseen: [...unseen, ...unlisted] };
}

async function ownersOf(kind: ProviderKind, client: KubeClient): Promise<readonly ProviderState[]> {
  const path = resourcePath({ apiVersion, plural: plurals[kind] });
  return (await listObjects(client, { path })).map((object) => loadStored(kind, object, undefined).state);
}

async function markedOf(
  { apiVersion: version, kind, plural }: ServedResource,
  client: KubeClient,
): Promise<readonly Observed[] | KubeError> {
  const target = {
    path: resourcePath({ apiVersion: version, plural }),
    labelSelector: `${managedByLabel}=${managedByReeve}`,
    // Who takes Reeve away reads nobody's Secrets.
    metadataOnly: true,
  };
  try {
    const found = await listObjects(client, target);
    return found.map((object) => observeObject({ apiVersion: version, kind }, object));
  } catch (error) {
    if (error instanceof KubeError) return error;
    throw error;
  }
}

function nameOf(resource: ServedResource | undefined): string {
  const { apiVersion: version = '', plural = '' } = resource ?? {};
  const slash = version.indexOf('/');
  return slash === -1 ? plural : `${plural}.${version.slice(0, slash)}`;
}

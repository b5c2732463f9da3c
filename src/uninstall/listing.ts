// Lists whole collections, for a program that ends when its work is done.
import { KubeError } from '../base/kube-error.ts';
import type { KubeObject } from '../base/kube-object.ts';
import type { KubeClient } from '../kube/http/client.ts';
import { listAll } from '../kube/watch/list-pages.ts';
import type { WatchTarget } from '../kube/watch/watch-target.ts';

/** Nothing where the kind is not served. Rejects with a KubeError. */
export async function listObjects(client: KubeClient, target: WatchTarget): Promise<readonly KubeObject[]> {
  const { signal } = new AbortController();
  try {
    return (await listAll(client, target, { page: 500, signal, onPage: () => undefined })).objects;
  } catch (error) {
    if (error instanceof KubeError && error.code === 404) return [];
    throw error;
  }
}

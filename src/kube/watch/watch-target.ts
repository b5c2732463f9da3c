// What is listed and watched, as the API server is asked for it.
import type { KubeRequest } from '../http/client.ts';

export interface WatchTarget {
  /** Of the collection, in one namespace or in all: `/api/v1/secrets`. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Then every object has the kind PartialObjectMetadata of meta.k8s.io/v1, and nothing but its metadata. */
  readonly metadataOnly?: boolean;
}

const listTimeoutMs = 60_000;
const watchHeadTimeoutMs = 30_000;

/**
 * Without a resourceVersion, which means the most recent state: any other list may be answered from a cache that is
 * behind what was seen already. https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list
 */
export function listRequest(target: WatchTarget, query: Readonly<Record<string, string>>): KubeRequest {
  return { ...read(target, 'PartialObjectMetadataList', query), timeoutMs: listTimeoutMs };
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-watch */
export function watchRequest(target: WatchTarget, resourceVersion: string, seconds: number): KubeRequest {
  const query = {
    watch: 'true',
    resourceVersion,
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(seconds),
  };
  return { ...read(target, 'PartialObjectMetadata', query), timeoutMs: watchHeadTimeoutMs };
}

/**
 * Nothing else is accepted: a server that cannot leave the payload out must refuse, not send it.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
 */
function read(
  target: WatchTarget,
  metadataKind: string,
  query: Readonly<Record<string, string>>,
): KubeRequest {
  const { path, labelSelector, fieldSelector, metadataOnly = false } = target;
  return {
    method: 'GET',
    path,
    query: {
      ...query,
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    },
    accept: metadataOnly ? `application/json;as=${metadataKind};g=meta.k8s.io;v=v1` : 'application/json',
  };
}

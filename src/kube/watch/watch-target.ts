// Describes a collection to list and watch, and builds the requests for it.
import type { KubeRequest } from '../http/client.ts';
import type { KubeError } from '../../base/kube-error.ts';

export interface WatchTarget {
  /** The path of the collection, in one namespace or in all: `/api/v1/secrets`. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** If true, every object is a PartialObjectMetadata of meta.k8s.io/v1, without its payload. */
  readonly metadataOnly?: boolean;
  /** If true, the objects keep their managedFields. */
  readonly keepsManagers?: boolean;
}

const listTimeoutMs = 60_000;
/** A limit for questions with a short answer. An API server that exceeds the limit counts as unreachable. */
const shortTimeoutMs = 10_000;
const watchHeadTimeoutMs = 30_000;

/**
 * Sends no resourceVersion, which means the most recent state. Any other list may come from a cache that is older than
 * what we have already seen. https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list
 */
export function listRequest(target: WatchTarget, query: Readonly<Record<string, string>>): KubeRequest {
  return { ...read(target, 'PartialObjectMetadataList', query), timeoutMs: listTimeoutMs };
}

/** Asks for one object at most, because only the version of the list is of interest. */
export function versionRequest(target: WatchTarget): KubeRequest {
  return {
    ...read({ ...target, metadataOnly: true }, 'PartialObjectMetadataList', { limit: '1' }),
    timeoutMs: shortTimeoutMs,
  };
}

/** Asks for one object of the collection in the form in which the watch reports it. */
export function objectRequest({ metadataOnly = false }: WatchTarget, path: string): KubeRequest {
  const target = { path, metadataOnly };
  return { ...read(target, 'PartialObjectMetadata', {}), timeoutMs: shortTimeoutMs };
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-watch */
export function watchRequest(target: WatchTarget, resourceVersion: string, seconds: number): KubeRequest {
  return watch(target, { resourceVersion }, seconds);
}

/** Without a resourceVersion, as in a list. https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists */
export function initialRequest(target: WatchTarget, seconds: number): KubeRequest {
  return watch(target, { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }, seconds);
}

function watch(target: WatchTarget, from: Readonly<Record<string, string>>, seconds: number): KubeRequest {
  const query = { watch: 'true', ...from, allowWatchBookmarks: 'true', timeoutSeconds: String(seconds) };
  return { ...read(target, 'PartialObjectMetadata', query), timeoutMs: watchHeadTimeoutMs };
}

/**
 * Accepts no other form: a server that cannot leave out the payload must refuse the request, not send the payload.
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

// Judges how a watch ended: whether its version is the cause, so that only a new list helps.

/** After so many doubtful errors in a row, watching from that version may never succeed. */
export const maxDoubts = 2;
/** The server is behind the version that we know. */
export const wentBack = 'WentBack';
const stalled = 'Stalled';
const expired = 410;
const notServed = 404;

/** How one watch ended. */
export interface WatchEnd {
  readonly wasOpen: boolean;
  readonly hadProgress: boolean;
  readonly error: KubeError | undefined;
}

/** True when the connection ended the watch, and not an answer of the server. */
export function wasCut({ wasOpen, error }: WatchEnd): boolean {
  return wasOpen && (error === undefined || error.code === 0);
}

/** Returns whether the server may have stopped: there was no answer, or a gateway or the server itself reports an error. */
export function isOutage({ code }: KubeError): boolean {
  return code === 0 || code >= 500;
}

/** Returns whether the same question may succeed later. */
export function mayBeAnswered(error: KubeError): boolean {
  return isOutage(error) || (unrelatedCodes.has(error.code) && error.code !== notServed);
}

/**
 * Says how much the error suggests that the version is the cause, and not the server or the connection. A watch from a version
 * that etcd lost in a restore is silent.
 */
export function doubtsAbout({ code, reason }: KubeError): number {
  // A kind that is served again has other objects than before.
  if (code === expired || code === notServed || reason === wentBack || reason === stalled) return maxDoubts;
  if (reason === 'MalformedAnswer') return 1;
  return code >= 400 && !unrelatedCodes.has(code) ? 1 : 0;
}

/** Errors about rights, a kind that is not served, or a busy or unreachable server. */
export const unrelatedCodes: ReadonlySet<number> = new Set([401, 403, notServed, 408, 429, 502, 503, 504]);

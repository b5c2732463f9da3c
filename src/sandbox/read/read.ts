// Reads one object or a list of objects, at the revision that the request asks for.
import { badRequestError, expiredError, notFoundError, ApiError, invalidError } from '../api-error.ts';
import type { ObjectRequest } from '../request.ts';
import type { SandboxStore } from '../store.ts';
import { filterOf } from './selectors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';

/** Throws an ApiError, as `readList` does. */
export function readObject(
  store: SandboxStore,
  { resource, namespace, name = '', query }: ObjectRequest,
): ObjectAnswer {
  revisionOf(query, store);
  const object = store.get(resource, namespace, name);
  if (object === undefined) throw notFoundError(resource, name);
  return { kind: 'object', code: 200, object };
}

/** Returns the whole list. A server may send more than `limit` items, so no client gets a token to continue. */
export function readList(store: SandboxStore, request: ObjectRequest): ObjectList {
  const { resource, namespace, query } = request;
  const isSelected = filterOf(request);
  const asked = revisionOf(query, store);
  const match = query.get('resourceVersionMatch') ?? '';
  if (match !== '' && (query.get('resourceVersion') ?? '') === '')
    throw forbiddenOption('resourceVersionMatch', 'is forbidden unless resourceVersion is provided');
  if (match === 'Exact' && asked !== store.revision) throw expiredError();
  if ((query.get('continue') ?? '') !== '')
    throw badRequestError('invalid continue token: the sandbox answers every list whole');
  const items = store.list(resource, namespace).filter(isSelected);
  return { kind: 'list', items, resourceVersion: String(store.revision) };
}

export interface SandboxWatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  /** For ERROR a Status; for BOOKMARK only metadata.resourceVersion and annotations count. */
  readonly object: KubeObject;
}

export interface ObjectList {
  readonly kind: 'list';
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
}

export type ObjectAnswer =
  | ObjectList
  | { readonly kind: 'object'; readonly code: number; readonly object: JsonObject }
  | { readonly kind: 'watch'; readonly events: AsyncIterable<SandboxWatchEvent> };

/** Returns undefined when any revision will do. Throws an ApiError, also for a revision in the future. */
export function revisionOf(query: URLSearchParams, { revision }: { revision: number }): number | undefined {
  const text = query.get('resourceVersion') ?? '';
  if (!/^\d{0,15}$/.test(text))
    throw badRequestError(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}`,
    );
  const asked = Number(text);
  if (asked > revision) throw tooLarge(asked, revision);
  return asked === 0 ? undefined : asked;
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#unavailable-resource-versions */
function tooLarge(asked: number, current: number): ApiError {
  const cause = { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' };
  return new ApiError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: ${cause.message}: ${asked}, current: ${current}`,
    details: { causes: [cause], retryAfterSeconds: 1 },
  });
}

export function forbiddenOption(field: string, why: string): ApiError {
  const cause = { reason: 'FieldValueForbidden', message: `Forbidden: ${field} ${why}`, field };
  return invalidError({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [cause]);
}

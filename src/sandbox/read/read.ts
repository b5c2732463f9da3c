// Reads one object, or all that are selected, as they are now.
import { badRequestError, expiredError, notFoundError } from '../api-error.ts';
import type { ObjectRequest } from '../request.ts';
import type { SandboxStore } from '../store/store.ts';
import type { ObjectAnswer, ObjectList } from './answer.ts';
import { forbiddenOption, revisionOf } from './revision.ts';
import { filterOf } from './selectors.ts';

/** Throws an ApiError, as `list` does. */
export function readObject(
  store: SandboxStore,
  { resource, namespace, name = '', query }: ObjectRequest,
): ObjectAnswer {
  revisionOf(query, store);
  const object = store.get(resource, namespace, name);
  if (object === undefined) throw notFoundError(resource, name);
  return { kind: 'object', code: 200, object };
}

/** Always whole: a server is free to send more than the `limit`, so that nobody has a token to continue with. */
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

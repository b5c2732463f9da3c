// Serves every request for objects: reads, writes, watches, and the tokens of service accounts.
import { ApiError, invalidError, notFoundError } from './api-error.ts';
import { readObject, readList, type ObjectAnswer, startWatch } from './read/read.ts';
import type { ObjectRequest } from './resource.ts';
import { type Tokens, serviceAccountIdentity } from './access/users.ts';
import { type WriteContext, assertOptions } from './write/context.ts';
import { createObject } from './write/create.ts';
import { deleteObject, type Deleted } from './write/delete.ts';
import { patchObject } from './write/patch.ts';
import { updateObject } from './write/update.ts';
import { ownMember } from '../base/json.ts';
import { assertMayDo } from './access/authorizer.ts';

/** Rejects with an ApiError. The caller has checked that the user may do it. */
export type ServeObjects = (request: ObjectRequest) => Promise<ObjectAnswer>;

export function objectService(context: WriteContext, tokens: Tokens): ServeObjects {
  const { store } = context;
  return async (request) => {
    assertOptions(request);
    if (request.subresource === 'token') return tokenFor(context, request, tokens);
    switch (request.verb) {
      case 'get':
        return readObject(store, request);
      case 'list':
        return readList(store, request);
      case 'watch':
        return startWatch(store, request);
      case 'create':
        return { kind: 'object', code: 201, object: await createObject(context, request) };
      case 'update':
        return { kind: 'object', code: 200, object: await updateObject(context, request) };
      case 'patch': {
        const mayCreate = (): void => assertMayDo(context.authorizer, request, 'create');
        const { isNew, object } = await patchObject(context, request, mayCreate);
        return { kind: 'object', code: isNew ? 201 : 200, object };
      }
      case 'delete':
        return deletedAnswer(request, await deleteObject(context, request));
      case 'deletecollection': {
        const listed = readList(store, request);
        for (const { metadata } of listed.items) await removeOne(context, request, metadata.name);
        return listed;
      }
      default:
        return request.verb satisfies never;
    }
  };
}

/** An object of a collection that was deleted in between counts as deleted. */
async function removeOne(context: WriteContext, request: ObjectRequest, name = ''): Promise<void> {
  await deleteObject(context, request, name).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status.code !== 404) throw error;
  });
}

function deletedAnswer({ resource, name = '' }: ObjectRequest, { object, isGone }: Deleted): ObjectAnswer {
  if (!isGone) return { kind: 'object', code: 200, object };
  const { group, plural } = resource;
  const about = { name, ...(group === '' ? {} : { group }), kind: plural, uid: object.metadata.uid };
  const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: about };
  return { kind: 'object', code: 200, object: success };
}

const defaultSeconds = 3600;
const minSeconds = 600;
const maxSeconds = 2 ** 32;

function tokenFor(
  { store, now }: WriteContext,
  { resource, namespace = '', name = '', body }: ObjectRequest,
  tokens: Tokens,
): ObjectAnswer {
  const account = store.get(resource, namespace, name);
  if (account === undefined) throw notFoundError(resource, name);
  const seconds = secondsIn(body);
  const end = new Date(now().getTime() + seconds * 1000);
  const { uid = '' } = account.metadata;
  const token = tokens.issue(
    serviceAccountIdentity(namespace, name, uid),
    () => now() < end && store.get(resource, namespace, name)?.metadata.uid === uid,
  );
  return {
    kind: 'object',
    code: 201,
    object: {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name, namespace },
      spec: { expirationSeconds: seconds },
      status: { token, expirationTimestamp: end.toISOString() },
    },
  };
}

function secondsIn(body: unknown): number {
  const seconds = ownMember(ownMember(body, 'spec'), 'expirationSeconds') ?? defaultSeconds;
  const isTime = typeof seconds === 'number' && seconds >= minSeconds && seconds <= maxSeconds;
  if (isTime) return seconds;
  const message = 'Invalid value: may not specify a duration less than 10 minutes';
  const cause = { reason: 'FieldValueInvalid', message, field: 'spec.expirationSeconds' };
  throw invalidError({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', [cause]);
}

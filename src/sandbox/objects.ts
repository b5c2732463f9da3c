// Everything that can be asked about objects, and what is answered.
import { assertMayDo } from './allowed.ts';
import { ApiError } from './api-error.ts';
import type { ObjectAnswer } from './read/answer.ts';
import { readObject, readList } from './read/read.ts';
import { startWatch } from './read/watch.ts';
import type { ObjectRequest } from './request.ts';
import { tokenFor } from './token-request.ts';
import type { Tokens } from './tokens.ts';
import type { WriteContext } from './write/context.ts';
import { createObject } from './write/create.ts';
import { deleteObject, type Deleted } from './write/delete.ts';
import { checkOptions } from './write/options.ts';
import { patchObject } from './write/patch.ts';
import { updateObject } from './write/update.ts';

/** Rejects with an ApiError. Whether the user may do it was asked before. */
export type ServeObjects = (request: ObjectRequest) => Promise<ObjectAnswer>;

export function objectService(context: WriteContext, tokens: Tokens): ServeObjects {
  const { store } = context;
  return async (request) => {
    checkOptions(request);
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

/** Of a collection, what has gone meanwhile is as good as deleted. */
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

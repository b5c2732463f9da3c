// Everything that can be asked about objects, and what is answered.
import { assertMayDo } from './allowed.ts';
import { ApiError } from './api-error.ts';
import type { ObjectAnswer } from './read/answer.ts';
import { get, list } from './read/read.ts';
import { watch } from './read/watch.ts';
import type { ObjectRequest } from './request.ts';
import { tokenFor } from './token-request.ts';
import type { Tokens } from './tokens.ts';
import type { WriteContext } from './write/context.ts';
import { create } from './write/create.ts';
import { remove, type Deleted } from './write/delete.ts';
import { checkOptions } from './write/options.ts';
import { patch } from './write/patch.ts';
import { update } from './write/update.ts';

/** Rejects with an ApiError. Whether the user may do it was asked before. */
export type ServeObjects = (request: ObjectRequest) => Promise<ObjectAnswer>;

export function objectService(context: WriteContext, tokens: Tokens): ServeObjects {
  const { store } = context;
  return async (request) => {
    checkOptions(request);
    if (request.subresource === 'token') return tokenFor(context, request, tokens);
    switch (request.verb) {
      case 'get':
        return get(store, request);
      case 'list':
        return list(store, request);
      case 'watch':
        return watch(store, request);
      case 'create':
        return { kind: 'object', code: 201, object: await create(context, request) };
      case 'update':
        return { kind: 'object', code: 200, object: await update(context, request) };
      case 'patch': {
        const mayCreate = (): void => assertMayDo(context.authorizer, request, 'create');
        const { isNew, object } = await patch(context, request, mayCreate);
        return { kind: 'object', code: isNew ? 201 : 200, object };
      }
      case 'delete':
        return deletedAnswer(request, await remove(context, request));
      case 'deletecollection': {
        const listed = list(store, request);
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
  await remove(context, request, name).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.failure.code !== 404) throw error;
  });
}

function deletedAnswer({ resource, name = '' }: ObjectRequest, { object, isGone }: Deleted): ObjectAnswer {
  if (!isGone) return { kind: 'object', code: 200, object };
  const { group, plural } = resource;
  const about = { name, ...(group === '' ? {} : { group }), kind: plural, uid: object.metadata.uid };
  const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: about };
  return { kind: 'object', code: 200, object: success };
}

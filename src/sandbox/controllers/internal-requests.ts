// Requests that the sandbox makes of itself, as the controllers of a cluster do: admission sees them, RBAC need not.
import type { KubeObject } from '../../base/kube-object.ts';
import { ApiError } from '../api-error.ts';
import type { ObjectRequest } from '../request.ts';
import type { Resource } from '../resource.ts';
import { serviceAccountIdentity } from '../tokens.ts';
import type { WriteContext } from '../write/context.ts';
import { deleteObject } from '../write/delete.ts';

export function controllerRequest(
  controller: string,
  resource: Resource,
  object: KubeObject,
  parts: Partial<ObjectRequest> = {},
): ObjectRequest {
  const { uid, resourceVersion } = object.metadata;
  return {
    user: serviceAccountIdentity('kube-system', controller, controller),
    verb: 'delete',
    resource,
    subresource: undefined,
    namespace: object.metadata.namespace,
    name: object.metadata.name,
    query: new URLSearchParams(),
    // What has taken its place or has changed meanwhile is not meant.
    body: { preconditions: { uid, resourceVersion } },
    patchType: undefined,
    agent: 'reeve-sandbox',
    warn: () => undefined,
    signal: new AbortController().signal,
    ...parts,
  };
}

/** Whether all are gone, or marked at least. */
export async function deleteAll(
  context: WriteContext,
  controller: string,
  objects: readonly (readonly [Resource, KubeObject])[],
): Promise<boolean> {
  const removals = objects.map(([resource, object]) =>
    succeeds(deleteObject(context, controllerRequest(controller, resource, object))),
  );
  return (await Promise.all(removals)).every(Boolean);
}

/** Whether it is done: what is refused, or has changed meanwhile, is to be tried again. */
export async function succeeds(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.status.code === 404;
  }
}

// Runs controllers after the changes that concern them, and makes the requests that controllers send.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Change, SandboxStore } from '../store.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { ApiError } from '../api-error.ts';
import type { ObjectRequest, Resource } from '../resource.ts';
import { serviceAccountIdentity } from '../access/users.ts';
import type { WriteContext } from '../write/context.ts';
import { deleteObject } from '../write/delete.ts';

export interface Controller {
  concerns(change: Change): boolean;
  /** Does all work that is due. Called again later when it rejects or returns false. */
  run(): Promise<boolean>;
}

const againMs = 1000;

/** Returns a function that stops the controller. */
export function runController(
  store: SandboxStore,
  controller: Controller,
  faulted: (error: unknown) => void,
): () => void {
  const state = { isWanted: false, isRunning: false, isStopped: false };
  let timer: NodeJS.Timeout | undefined;
  const run = async (): Promise<void> => {
    state.isRunning = true;
    while (state.isWanted && !state.isStopped) {
      state.isWanted = false;
      const isDone = await controller.run().catch((error: unknown) => (faulted(error), false));
      if (!isDone) timer = setTimeout(want, againMs).unref();
      // Lets other controllers and requests run between two rounds.
      await nextTurn();
    }
    state.isRunning = false;
  };
  const want = (): void => {
    clearTimeout(timer);
    state.isWanted = true;
    // Runs after the current write has been answered.
    if (!state.isRunning) setImmediate(() => (state.isRunning ? undefined : void run()));
  };
  const unsubscribe = store.subscribe((change) => {
    if (controller.concerns(change)) want();
  });
  return () => {
    state.isStopped = true;
    clearTimeout(timer);
    unsubscribe();
  };
}

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
    // An object that was replaced or changed in between is not deleted.
    body: { preconditions: { uid, resourceVersion } },
    patchType: undefined,
    agent: 'reeve-sandbox',
    warn: () => undefined,
    signal: new AbortController().signal,
    ...parts,
  };
}

/** Returns true when every object is deleted or marked for deletion. */
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

/** Returns false when the request was refused or met a conflict, so that the caller tries again. */
export async function succeeds(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.status.code === 404;
  }
}

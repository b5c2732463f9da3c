// Runs controllers after the changes that concern them, and makes the requests that controllers send.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Change, SandboxStore } from '../store.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { ApiError } from '../api-error.ts';
import type { ObjectRequest } from '../request.ts';
import type { Resource } from '../resource.ts';
import { serviceAccountIdentity } from '../access/users.ts';
import type { WriteContext } from '../write/context.ts';
import { deleteObject } from '../write/delete.ts';

export interface Controller {
  concerns(change: Change): boolean;
  /** Brings everything in order; called again after a while when it rejects, or answers false because something is still left. */
  run(): Promise<boolean>;
}

const againMs = 1000;

/** Answers with how to stop it. */
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
      // Whoever never comes to rest must not keep everybody else from their turn.
      await nextTurn();
    }
    state.isRunning = false;
  };
  const want = (): void => {
    clearTimeout(timer);
    state.isWanted = true;
    // Not within the write that is just being done: whoever made it is answered first.
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

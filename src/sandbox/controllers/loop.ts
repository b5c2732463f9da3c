// Runs a piece of work after every change that concerns it, never twice at once, and again later when it fails.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Change, SandboxStore } from '../store/store.ts';

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

// The context of the reconciler for tests of a single part.
import { anyInstall } from '../../src/policy/terms/install.ts';
import type { ReconcileContext, ReconcileObserver } from '../../src/reconcile/ports.ts';
import { createQueues } from '../../src/reconcile/queue/queue.ts';
import { LiveCluster } from '../../src/state/live-cluster.ts';
import { VirtualClock } from './virtual-clock.ts';

/** By default, reads and writes reject, and the observer ignores its calls. */
export function testContext(parts: Partial<ReconcileContext> = {}): ReconcileContext {
  const { clock = new VirtualClock() } = parts;
  const refuse = (): Promise<never> => Promise.reject(new Error('the test expects no request'));
  return {
    clock,
    cluster: new LiveCluster({ install: anyInstall }),
    writer: { read: refuse, apply: refuse, mergePatch: refuse, remove: refuse },
    install: anyInstall,
    observer: observerOf(() => undefined),
    ...createQueues(clock, () => undefined),
    ...parts,
  };
}

/** An observer that notes the name and the values of each call. */
export function observerOf(note: (name: string, ...values: readonly unknown[]) => void): ReconcileObserver {
  const noting =
    (name: string) =>
    (...values: readonly unknown[]): void =>
      note(name, ...values);
  return {
    wrote: noting('wrote'),
    failed: noting('failed'),
    rewriteLimited: noting('rewriteLimited'),
    reconciled: noting('reconciled'),
    wroteOwn: noting('wroteOwn'),
    reportNotWritten: noting('reportNotWritten'),
    deletionsHeld: noting('deletionsHeld'),
    orphaned: noting('orphaned'),
    guardMissing: noting('guardMissing'),
    blocked: noting('blocked'),
    initialSyncDone: noting('initialSyncDone'),
    unexpectedError: noting('unexpectedError'),
  };
}

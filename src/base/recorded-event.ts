// The port through which rooms record Events of Kubernetes.
import type { ObjectRef } from './metadata.ts';

export interface EventObject extends ObjectRef {
  readonly uid?: string;
}

/** https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/ */
export interface RecordedEvent {
  readonly regarding: EventObject;
  readonly related?: EventObject;
  readonly type: 'Normal' | 'Warning';
  /** One word in UpperCamelCase, for programs. */
  readonly reason: string;
  /** The action that was taken or tried, as one word. */
  readonly action: string;
  /** For people. It must not contain secrets: users who may read Events may not be allowed to read Secrets. */
  readonly note: string;
}

/** Never throws and never waits. An event that cannot be written is dropped. */
export interface EventRecorder {
  record(event: RecordedEvent): void;
}

/** The queue of work that goes before events. */
export interface BusyQueue {
  readonly isBusy: boolean;
}

/** The events of the reconciler give way to its writes. */
export interface YieldingEvents extends EventRecorder {
  /** Events wait for a while as long as the queue is busy: more important requests are being sent. */
  yieldTo(queue: BusyQueue): void;
}

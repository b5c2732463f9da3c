// What the reconciler needs of the world: who writes, who tells people, who measures, and what time it is.
import type { JsonObject } from '../base/json.ts';
import type { KubeObject, ObjectRef } from '../base/kube-object.ts';
import type { ProviderId, ProviderKind } from '../policy/terms/provider-id.ts';

export interface ApplyOptions {
  /** Take over fields that others have set to something else; otherwise those are a conflict (409). */
  readonly force: boolean;
  /** Nothing is stored; the answer is what would have been. */
  readonly dryRun?: boolean;
  readonly subresource?: 'status';
  readonly signal?: AbortSignal;
}

export interface PatchOptions {
  readonly subresource?: 'status';
  readonly signal?: AbortSignal;
}

export interface Preconditions {
  readonly uid: string;
  readonly resourceVersion?: string;
}

/** All of them reject with a KubeError. */
export interface ObjectWriter {
  /** Server-side apply under our one field manager. `metadata.uid` and `metadata.resourceVersion` are preconditions. */
  apply(object: KubeObject, options: ApplyOptions): Promise<KubeObject>;
  /** https://www.rfc-editor.org/rfc/rfc7396; preconditions as in `apply`. */
  mergePatch(ref: ObjectRef, patch: JsonObject, options?: PatchOptions): Promise<KubeObject>;
  remove(ref: ObjectRef, preconditions: Preconditions, signal?: AbortSignal): Promise<void>;
  /** Undefined when there is no such object. */
  read(ref: ObjectRef, signal?: AbortSignal): Promise<KubeObject | undefined>;
}

/** All Secrets with our label, whole, a page at a time. Rejects with a KubeError. */
export interface OwnSecrets {
  listOwnSecrets(signal: AbortSignal): AsyncIterable<KubeObject>;
}

/** Whether the definition of a kind of ours is being deleted. Rejects with a KubeError. */
export interface KindProbe {
  isKindTerminating(kind: ProviderKind, signal: AbortSignal): Promise<boolean>;
}

/** One question of RBAC about our own account; without a name about all objects, without a namespace in all. */
export interface OwnRight {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly name?: string;
  readonly namespace?: string;
}

/** Rejects only when the signal aborts; `unknown`: nobody can say. */
export interface SelfReviewer {
  mayDo(right: OwnRight, signal: AbortSignal): Promise<'yes' | 'no' | 'unknown'>;
}

export interface EventObject extends ObjectRef {
  readonly uid?: string;
}

/** https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/ */
export interface RecordedEvent {
  readonly regarding: EventObject;
  readonly related?: EventObject;
  readonly type: 'Normal' | 'Warning';
  /** Why, in one word; with `action`, what events are aggregated by. */
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

/** Never fails and never waits: an event that cannot be written is dropped. */
export interface EventRecorder {
  record(event: RecordedEvent): void;
}

/** Where an object of ours is. */
export interface Place {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly owner: ProviderId;
}

export type WriteVerb = 'create' | 'update' | 'replace' | 'delete' | 'release';

/** For log and metrics. It sees names, counts and reasons, never an object. */
export interface ReconcileObserver {
  /** An object that the reconciler provides has been written. */
  wrote(verb: WriteVerb, place: Place): void;
  /** It has not: `reason` is that of the API server, or ours. */
  failed(place: Place, reason: string): void;
  /** Somebody keeps changing the object back, so it is not written for a while. */
  rewriteLimited(place: Place): void;
  /** One round of a namespace is over. */
  reconciled(round: {
    readonly namespace: string;
    readonly milliseconds: number;
    readonly writes: number;
    readonly willRetry: boolean;
  }): void;
  /** The status of an owner, a finalizer, the condition of a Namespace or a missing default has been written. */
  wroteOwn(what: 'status' | 'finalizer' | 'condition' | 'default'): void;
  /** The fuse holds the deletions of the provider. */
  deletionsHeld(provider: ProviderId, count: number, limit: number): void;
  /** A provider is not ready: its source, a right or a webhook is missing. */
  blocked(provider: ProviderId, reason: string): void;
  /** Every namespace has been reconciled once since this process became the leader. */
  initialSyncDone(sync: { readonly namespaces: number; readonly milliseconds: number }): void;
  /** An error of the program, or a request error that no status reports. */
  unexpectedError(where: string, error: unknown): void;
}

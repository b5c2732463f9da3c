// What every part of the reconciler gets: its context, and ports to the API server, logs and metrics.
import type { KubeObject } from '../base/metadata.ts';
import type { ProviderKind } from '../api/kinds.ts';
import type { ObjectType } from '../base/object-type.ts';
import type { ProviderId } from '../policy/terms/provider-id.ts';
import type { Clock } from '../base/clock.ts';
import type { ObjectWriter } from '../base/object-writer.ts';
import type { Install } from '../policy/terms/install.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import type { Queues } from './queue/queue.ts';

/** What the parts that only plan get. `reeve plan` has no more. */
export interface PlanContext {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Policies, shares and Namespaces. The caller feeds it. */
  readonly cluster: LiveCluster;
  readonly writer: Pick<ObjectWriter, 'read'>;
  readonly install: Install;
}

/** The context of the reconciler. Every part gets it whole. */
export interface ReconcileContext extends PlanContext, Queues {
  readonly clock: Clock;
  readonly writer: ObjectWriter;
  readonly observer: ReconcileObserver;
}

/** Lists all Secrets with our label, with their content, page by page. Rejects with a KubeError. */
export interface OwnSecrets {
  listOwnSecrets(signal: AbortSignal): AsyncIterable<KubeObject>;
}

/** Lists the objects that a provider has now, without their content. Rejects with a KubeError. */
export interface OwnedReader {
  /** With an empty name: those of all names. */
  listOwned(
    provider: ProviderId,
    kind: { readonly type: ObjectType; readonly name: string },
    signal: AbortSignal,
  ): AsyncIterable<KubeObject>;
}

/** Lists existing objects with their content, page by page. Rejects with a KubeError. */
export interface AuditReader {
  /** Without a namespace: those of all namespaces. */
  listExisting(
    resource: 'roles' | 'rolebindings' | 'secrets' | 'serviceaccounts',
    namespace: string | undefined,
    signal: AbortSignal,
  ): AsyncIterable<KubeObject>;
}

/** Answers whether the CustomResourceDefinition of a provider kind is being deleted. Rejects with a KubeError. */
export interface KindProbe {
  isKindTerminating(kind: ProviderKind, signal: AbortSignal): Promise<boolean>;
}

/** A right of our own account. Without a name: on all objects. Without a namespace: in all namespaces. */
export interface OwnRight {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly name?: string;
  readonly namespace?: string;
}

/** Asks the API server about our own rights. `unknown`: no answer. Rejects only when the signal aborts. */
export interface SelfReviewer {
  mayDo(right: OwnRight, signal: AbortSignal): Promise<'yes' | 'no' | 'unknown'>;
}

/** Names an object of a provider. */
export interface Place {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly owner: ProviderId;
}

export type WriteVerb = 'create' | 'update' | 'replace' | 'delete' | 'release';

/** Port for logs and metrics. It gets names, counts and reasons, never an object. */
export interface ReconcileObserver {
  /** An object of a provider was written. */
  wrote(verb: WriteVerb, place: Place): void;
  /** An object of a provider was not written. `reason` comes from the API server or from us. */
  failed(place: Place, reason: string): void;
  /** Another client keeps changing the object back, so it is not written for a while. */
  rewriteLimited(place: Place): void;
  /** One round of a namespace has ended. */
  reconciled(round: {
    readonly namespace: string;
    readonly milliseconds: number;
    readonly writes: number;
    readonly willRetry: boolean;
  }): void;
  /** A status, a finalizer, the condition of a Namespace, a missing default or a Report was written or deleted. */
  wroteOwn(what: 'status' | 'finalizer' | 'condition' | 'default' | 'report'): void;
  /**
   * The Report of a namespace was not written; without a name, no Report can be written at the moment. `isNew`: the last
   * write did not fail with the same reason.
   */
  reportNotWritten(report: {
    readonly namespace: string;
    readonly reason: string;
    readonly isNew: boolean;
  }): void;
  /** The fuse holds the deletions of the provider. */
  deletionsHeld(provider: ProviderId, count: number, limit: number): void;
  /** A deleted provider leaves objects behind that its deletion was to delete. */
  orphaned(provider: ProviderId, why: string, count: number): void;
  /** A provider is not ready: its source, a right or a webhook is missing. */
  blocked(provider: ProviderId, reason: string): void;
  /** The API server does not enforce a policy of the guard or the jail. */
  guardMissing(policy: string, binding: string): void;
  /** Every namespace has been reconciled once since this process became the leader. */
  initialSyncDone(sync: { readonly namespaces: number; readonly milliseconds: number }): void;
  /** An error of the program, or a request error that no status reports. */
  unexpectedError(where: string, error: unknown): void;
}

// What every part of the reconciler gets: its context, and ports to the API server, logs and metrics.
import type { KubeObject } from '../base/metadata.ts';
import type { Kind } from '../api/kinds.ts';
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
  /** An empty name stands for all names. */
  listOwned(
    provider: ProviderId,
    kind: { readonly type: ObjectType; readonly name: string },
    signal: AbortSignal,
  ): AsyncIterable<KubeObject>;
}

/** Lists existing objects with their content, page by page. Rejects with a KubeError. */
export interface AuditReader {
  /** Without a namespace, lists the objects of all namespaces. */
  listExisting(
    resource: 'roles' | 'rolebindings' | 'secrets' | 'serviceaccounts',
    namespace: string | undefined,
    signal: AbortSignal,
  ): AsyncIterable<KubeObject>;
}

/** Answers whether the CustomResourceDefinition of a kind is being deleted. Rejects with a KubeError. */
export interface KindProbe {
  isKindTerminating(kind: Kind, signal: AbortSignal): Promise<boolean>;
}

/** A right of our own account. Without a name, to all objects. Without a namespace, in all namespaces. */
interface OwnRight {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly name?: string;
  readonly namespace?: string;
}

/** Asks the API server about our own rights. `unknown`: the API server gave no answer. Rejects only when the signal aborts. */
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

/** Receives names, counts and reasons for logs and metrics, and never an object. */
export interface ReconcileObserver {
  /** Called when an object of a provider was written. */
  wrote(verb: WriteVerb, place: Place): void;
  /** Called when an object of a provider was not written. `reason` comes from the API server or from Reeve. */
  failed(place: Place, reason: string): void;
  /** Called when an object is left alone for a while, because another client keeps changing it back. */
  rewriteLimited(place: Place): void;
  /** Called at the end of each round of a namespace. */
  reconciled(round: {
    readonly namespace: string;
    readonly milliseconds: number;
    readonly writes: number;
    readonly willRetry: boolean;
  }): void;
  /**
   * Called when a status, a finalizer, a condition of a Namespace, a missing default, a record, a Report, temporary access or the
   * Namespace of a claim was written or deleted.
   */
  wroteOwn(
    what: 'status' | 'finalizer' | 'condition' | 'default' | 'record' | 'report' | 'access' | 'namespace',
  ): void;
  /**
   * Called when the Report of a namespace was not written. Without a name, no Report can be written at the moment. `isNew`
   * means that the last write did not fail with the same reason.
   */
  reportNotWritten(report: {
    readonly namespace: string;
    readonly reason: string;
    readonly isNew: boolean;
  }): void;
  /** Called when the fuse holds the deletions of the provider. */
  deletionsHeld(provider: ProviderId, count: number, limit: number): void;
  /** Called when a deleted provider leaves objects behind that its deletion should have deleted. */
  orphaned(provider: ProviderId, why: string, count: number): void;
  /** Called when a provider is not ready, because its source, a right or a webhook is missing. */
  blocked(provider: ProviderId, reason: string): void;
  /** Called when the API server does not enforce a policy of the guard or the jail. */
  guardMissing(policy: string, binding: string): void;
  /** Called once every namespace has been reconciled after this process became the leader. */
  initialSyncDone(sync: { readonly namespaces: number; readonly milliseconds: number }): void;
  /** Called for an error of the program, or for an error of a request that no status reports. */
  unexpectedError(where: string, error: unknown): void;
}

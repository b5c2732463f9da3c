// The interfaces that admission needs from other rooms; `app` connects the implementations.
import type { KubeObject, ObjectRef } from '../base/metadata.ts';
import type { JsonPatchOperation } from '../policy/decide/mutate.ts';
import type { Requester } from '../rules/rule.ts';
import type { ClusterSnapshot } from '../policy/compile/snapshot.ts';
import type { AccessAnswer, Right } from '../policy/terms/review.ts';
import type { ValidationAction } from '../api/namespace-policy/namespace-policy.ts';
import type { RequestSummary } from './decode/decode-envelope.ts';

export type Endpoint = 'validate' | 'mutate';

/** The current policies and namespaces. Undefined until the policies are loaded. */
export type SnapshotSource = () => ClusterSnapshot | undefined;

/** Finds a namespace that the snapshot lacks. Undefined when it does not exist. */
export interface NamespaceFinder {
  find(name: string, signal: AbortSignal): Promise<KubeObject | undefined>;
}

/** Finds the stored NamespaceClaim. Undefined when it does not exist. */
export interface ClaimFinder {
  find(claim: ObjectRef, signal: AbortSignal): Promise<KubeObject | undefined>;
}

/** Answers whether a user has a right. 'unknown' (no answer) refuses like 'no'. */
export interface AccessReviewer {
  mayDo(requester: Requester, right: Right, signal: AbortSignal): Promise<AccessAnswer>;
}

export type DecisionKind = 'allowed' | 'denied' | 'mutated' | 'malformed' | 'unavailable' | 'error';

/** A rule that an object violates, without any part of the object. */
export interface BrokenRule {
  readonly policy: string;
  readonly rule: string;
  readonly action: ValidationAction;
}

/** The texts that the user gets. They may contain labels and annotations, but no other part of an object. */
interface Explanation {
  /** Undefined when the request is allowed. */
  readonly refusal: string | undefined;
  readonly warnings: readonly string[];
  readonly patch: readonly JsonPatchOperation[];
}

/** Everything about one answer that may be logged, counted or shown in the feed. The log omits the explanation. */
export interface DecisionRecord extends RequestSummary {
  readonly endpoint: Endpoint;
  readonly decision: DecisionKind;
  readonly overBudget: boolean;
  /** Policies that could only report, and that no budget was left for, by name. */
  readonly unjudged: readonly string[];
  readonly policies: readonly string[];
  readonly rules: readonly BrokenRule[];
  readonly milliseconds: number;
  readonly explanation: Explanation;
}

/** Is notified of every answer, to log and count it. It never sees an object. */
export interface AdmissionObserver {
  decided(record: DecisionRecord): void;
  /** A request that got only an HTTP error: 499 for a client that disconnected, 525 for a failed TLS handshake. */
  refusedTransport(code: number, reason: string): void;
  failed(error: unknown): void;
  began(): void;
  ended(): void;
}

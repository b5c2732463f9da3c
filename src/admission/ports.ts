// What admission needs from the rest of the program; `wire` joins these to the edges that satisfy them.
import type { KubeObject } from '../base/kube-object.ts';
import type { JsonPatchOperation } from '../policy/terms/patch.ts';
import type { Requester } from '../policy/terms/review.ts';
import type { ClusterSnapshot } from '../policy/compile/snapshot.ts';
import type { AccessAnswer, Right } from '../policy/terms/verdict.ts';
import type { ValidationAction } from '../api/namespace-policy/namespace-policy.ts';
import type { RequestSummary } from './decode/request-summary.ts';

export type Endpoint = 'validate' | 'mutate';

/** Policies and namespaces as they stand now; undefined until the policies have been loaded. */
export type SnapshotSource = () => ClusterSnapshot | undefined;

/** Asked once for a namespace that the snapshot does not know; undefined when nobody knows it. */
export interface NamespaceFinder {
  find(name: string, signal: AbortSignal): Promise<KubeObject | undefined>;
}

/** Says whether a person holds a right; 'unknown' (no answer) refuses like 'no'. */
export interface AccessReviewer {
  mayDo(requester: Requester, right: Right, signal: AbortSignal): Promise<AccessAnswer>;
}

export type DecisionKind = 'allowed' | 'denied' | 'mutated' | 'malformed' | 'unavailable' | 'error';

/** A rule that an object breaks, without anything of the object. */
export interface BrokenRule {
  readonly policy: string;
  readonly rule: string;
  readonly action: ValidationAction;
}

/** What was answered, in the words that the requester gets. It may hold labels and annotations, never more of an object. */
export interface Explanation {
  /** Undefined when the request is allowed. */
  readonly refusal: string | undefined;
  readonly warnings: readonly string[];
  readonly patch: readonly JsonPatchOperation[];
}

/** Everything that may be logged, counted and told of one answer. The log takes nothing of the explanation. */
export interface DecisionRecord extends RequestSummary {
  readonly endpoint: Endpoint;
  readonly decision: DecisionKind;
  readonly overBudget: boolean;
  readonly policies: readonly string[];
  readonly rules: readonly BrokenRule[];
  readonly milliseconds: number;
  readonly explanation: Explanation;
}

/** Told of everything that was answered; it logs and counts, and never sees an object. */
export interface AdmissionObserver {
  decided(record: DecisionRecord): void;
  /** Answered by HTTP alone: 499 for clients that went away, 525 for failed TLS handshakes. */
  refusedTransport(code: number, reason: string): void;
  failed(error: unknown): void;
  began(): void;
  ended(): void;
}

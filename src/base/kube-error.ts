// Why the API server did not do what it was asked: enough to decide what to do next, and nothing of any object.

export interface KubeErrorDetails {
  /** The HTTP status; 0 when there was no answer at all. */
  readonly code: number;
  /** The reason of metav1.Status (`Conflict`, `NotFound`), or the code that Node gives an error of the network. */
  readonly reason: string;
  /** `causes[].reason` of metav1.Status: `NamespaceTerminating`, `FieldManagerConflict` and the like. */
  readonly causes?: readonly string[];
  /** Whether the same request may succeed later without anybody changing anything. */
  readonly retryable: boolean;
  /** What the server asked for with Retry-After. */
  readonly retryAfterMs?: number;
}

/** Its message is made of code and reason alone: the text of the server may quote what was sent. */
export class KubeError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly string[];
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor({ code, reason, causes = [], retryable, retryAfterMs }: KubeErrorDetails) {
    super(`the API server answered ${code === 0 ? 'nothing' : code} (${reason})`);
    this.name = 'KubeError';
    this.code = code;
    this.reason = reason;
    this.causes = causes;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
  }
}

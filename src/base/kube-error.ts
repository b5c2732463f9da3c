// Defines the error of a call to the API server: the facts that a caller needs, and no content of any Secret.

/** Why the API server refused a request. */
export interface Refusal {
  /**
   * `rights`: RBAC or another authorizer. `escalation`: the right to bind a role. `role`: of a create, the role to
   * bind does not exist. `policy`: a ValidatingAdmissionPolicy.
   * `fields`: the object is invalid. `unknown`: no form that we know.
   */
  readonly by:
    'rights' | 'escalation' | 'role' | 'policy' | 'webhook' | 'quota' | 'podSecurity' | 'fields' | 'unknown';
  /** The name of the policy, webhook, ResourceQuota or level; for `rights` the missing right: `create secrets`. */
  readonly name?: string;
  /** One line in the words of the API server. Never present where it may quote a Secret. */
  readonly text?: string;
}

interface KubeErrorDetails {
  /** The HTTP status; 0 when there was no answer. */
  readonly code: number;
  /** The reason of metav1.Status (`Conflict`, `NotFound`), or Node's code for a network error. */
  readonly reason: string;
  /** `causes[].reason` of metav1.Status: `NamespaceTerminating`, `FieldManagerConflict` and the like. */
  readonly causes?: readonly string[];
  /** True when the same request may succeed later although nothing else was changed. */
  readonly retryable: boolean;
  /** The wait that the server requires with Retry-After. */
  readonly retryAfterMs?: number;
  readonly refusal?: Refusal;
}

/** The message consists of code and reason only, because the text of the server may quote what was sent. */
export class KubeError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly string[];
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly refusal: Refusal | undefined;

  constructor({ code, reason, causes = [], retryable, retryAfterMs, refusal }: KubeErrorDetails) {
    super(`the API server ${code === 0 ? 'did not answer' : `answered ${code}`} (${reason})`);
    this.name = 'KubeError';
    this.code = code;
    this.reason = reason;
    this.causes = causes;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
    this.refusal = refusal;
  }
}

/** Returns undefined when the API server answers 404. */
export async function unlessNotFound<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof KubeError && error.code === 404) return undefined;
    throw error;
  }
}

// Reads the code that Node gives an error, which is safe to log where the message is not.

/** `ENOENT`, `ERR_HTTP_REQUEST_TIMEOUT`; undefined for an error without a code. https://nodejs.org/api/errors.html#errorcode */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

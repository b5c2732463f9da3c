// Classifies the error of a write: whether to retry it, and what to report about the object.
import { KubeError } from '../../base/kube-error.ts';

export type WriteError =
  /** The object to change or delete does not exist any more. */
  | { readonly kind: 'not-found' }
  /** The namespace is being deleted, so there is nothing left to do in it. */
  | { readonly kind: 'namespace-terminating' }
  /** A conflict, or a server that is busy or away. Retry soon. */
  | {
      readonly kind: 'transient';
      readonly reason: string;
      readonly minDelayMs: number;
      /** No answer at all, as after a timeout. The next request would most likely wait as long. */
      readonly isUnanswered?: true;
    }
  /** Fails in the same way until something changes. `minDelayMs`: reconcile again after this delay. */
  | {
      readonly kind: 'permanent';
      readonly reason: string;
      readonly message: string;
      readonly minDelayMs?: number;
    };

/** A server or proxy that asks for a longer delay is asked again after this one. */
const maxRetryAfterMs = 300_000;

/** Nothing tells us when a right is granted. */
const permissionMs = 30_000;

export type WriteOperation = 'create' | 'change' | 'delete';

/** Throws the error again unless it is a KubeError: it is an error of the program. */
export function classifyWriteError(error: unknown, operation: WriteOperation): WriteError {
  if (!(error instanceof KubeError)) throw error;
  const { code, reason, causes, retryAfterMs = 0 } = error;
  if (causes.includes('NamespaceTerminating')) return { kind: 'namespace-terminating' };
  // 404 for a create means a missing namespace, which its watch will report, or a missing kind, which nothing reports.
  if (code === 404)
    return operation === 'create' ? { kind: 'transient', reason, minDelayMs: 0 } : { kind: 'not-found' };
  if (code === 409) return { kind: 'transient', reason, minDelayMs: 0 };
  if (code === 403) return insufficientPermissions;
  if (isTransient(error)) {
    const minDelayMs = Math.min(retryAfterMs, maxRetryAfterMs);
    return { kind: 'transient', reason, minDelayMs, ...(code === 0 ? { isUnanswered: true } : {}) };
  }
  return { kind: 'permanent', reason: 'Rejected', message: `the API server refuses it: ${code} ${reason}` };
}

/** No answer (0), a token that is not accepted at the moment (401), too many requests (429), or a server error (5xx). */
function isTransient({ code, retryable }: KubeError): boolean {
  return retryable || code === 0 || code === 401 || code === 429 || code >= 500;
}

const insufficientPermissions: WriteError = {
  kind: 'permanent',
  reason: 'InsufficientPermissions',
  message:
    'Reeve may not do this (403): the install gives its account no right to it, an admission policy refuses it, ' +
    'or a ResourceQuota of the namespace is used up',
  minDelayMs: permissionMs,
};

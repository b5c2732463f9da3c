// What a failed write means: whether to try again, and what to say about the object.
import { KubeError } from '../../base/kube-error.ts';

export type WriteFault =
  /** What was to be changed or deleted is not there any more. */
  | { readonly kind: 'gone' }
  /** There is nothing to be done in a namespace that goes. */
  | { readonly kind: 'namespace-ends' }
  /** Somebody else was quicker, or the server had no time: the same again, soon. */
  | {
      readonly kind: 'transient';
      readonly reason: string;
      readonly leastMs: number;
      /** There was no answer at all, as after a timeout: the next request would most likely have to wait as long. */
      readonly isSilence?: true;
    }
  /** It will fail in the same way until somebody changes something; `leastMs`: or look again then. */
  | {
      readonly kind: 'lasting';
      readonly reason: string;
      readonly message: string;
      readonly leastMs?: number;
    };

/** A server, or whatever stands before it, that asks for more is asked again all the same. */
const longestWaitMs = 300_000;

/** Rights are given without anybody telling us. */
const permissionMs = 30_000;

export type Writing = 'create' | 'change' | 'delete';

/** Anything but a KubeError is a fault of the program and is thrown again. */
export function writeFault(error: unknown, writing: Writing): WriteFault {
  if (!(error instanceof KubeError)) throw error;
  const { code, reason, causes, retryAfterMs = 0 } = error;
  if (causes.includes('NamespaceTerminating')) return { kind: 'namespace-ends' };
  // For what is made, it is the namespace that is not there, which its watch will tell; or the kind, and nobody will.
  if (code === 404)
    return writing === 'create' ? { kind: 'transient', reason, leastMs: 0 } : { kind: 'gone' };
  if (code === 409) return { kind: 'transient', reason, leastMs: 0 };
  if (code === 403) return insufficient;
  if (isTransient(error)) {
    const leastMs = Math.min(retryAfterMs, longestWaitMs);
    return { kind: 'transient', reason, leastMs, ...(code === 0 ? { isSilence: true } : {}) };
  }
  return { kind: 'lasting', reason: 'Rejected', message: `the API server refuses it: ${code} ${reason}` };
}

/** No answer, nobody who knows us at the moment, too many requests, or a server in trouble. */
function isTransient({ code, retryable }: KubeError): boolean {
  return retryable || code === 0 || code === 401 || code === 429 || code >= 500;
}

const insufficient: WriteFault = {
  kind: 'lasting',
  reason: 'InsufficientPermissions',
  message:
    'Reeve may not do this (403): the install gives its account no right to it, an admission policy refuses it, ' +
    'or a ResourceQuota of the namespace is used up',
  leastMs: permissionMs,
};

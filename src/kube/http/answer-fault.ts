// Errors of ours about answers of the API server, and any other exception of a client as such an error.
import { errorCode } from '../../base/error-code.ts';
import { KubeError } from '../../base/kube-error.ts';

/** An answer that was complete, and yet is not what the API server sends. */
export function malformedAnswer(): KubeError {
  return new KubeError({ code: 200, reason: 'MalformedAnswer', retryable: true });
}

/** No answer, for the reason given. */
export function noAnswer(reason: string): KubeError {
  return new KubeError({ code: 0, reason, retryable: true });
}

/** What was aborted or broke on the way may end with something else. */
export function kubeErrorOf(error: unknown): KubeError {
  if (error instanceof KubeError) return error;
  // The usual reason of a signal, which has a name in place of a code.
  if (error instanceof DOMException) return noAnswer(error.name);
  return noAnswer(errorCode(error) ?? 'Unknown');
}

// Judges how a watch ended: whether its version is the cause, so that only a new list helps.
import type { KubeError } from '../../base/kube-error.ts';

/** After so many doubtful errors in a row, watching from that version may never succeed. */
export const maxDoubts = 2;
/** The server is behind the version that we know. */
export const wentBack = 'WentBack';
const stalled = 'Stalled';
const expired = 410;
const notServed = 404;

/** How one watch ended. */
export interface WatchEnd {
  readonly wasOpen: boolean;
  readonly hadProgress: boolean;
  readonly error: KubeError | undefined;
}

/** True when the connection ended the watch, and not an answer of the server. */
export function wasCut({ wasOpen, error }: WatchEnd): boolean {
  return wasOpen && (error === undefined || error.code === 0);
}

/** Returns whether the server may have stopped: there was no answer, or a gateway or the server itself reports an error. */
export function isOutage({ code }: KubeError): boolean {
  return code === 0 || code >= 500;
}

/** Returns whether the same question may be answered later. */
export function mayBeAnswered(error: KubeError): boolean {
  return isOutage(error) || (unrelatedCodes.has(error.code) && error.code !== notServed);
}

/**
 * How much the error suggests that the version is the cause, and not the server or the connection. A watch from a version that
 * etcd lost in a restore is silent.
 */
export function doubtsAbout({ code, reason }: KubeError): number {
  // A kind that is served again has other objects than before.
  if (code === expired || code === notServed || reason === wentBack || reason === stalled) return maxDoubts;
  if (reason === 'MalformedAnswer') return 1;
  return code >= 400 && !unrelatedCodes.has(code) ? 1 : 0;
}

/** Errors about rights, a kind that is not served, or a busy or unreachable server. */
export const unrelatedCodes: ReadonlySet<number> = new Set([401, 403, notServed, 408, 429, 502, 503, 504]);

// Judges how a watch ended: whether its version is the cause, so that only a new list helps.
import type { KubeError } from '../../base/kube-error.ts';

/** After so many doubtful errors in a row, watching from that version may never succeed. */
export const maxDoubts = 2;
/** The server is behind the version that we know. */
export const wentBack = 'WentBack';
const expired = 410;

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

/** How much the error suggests that the version is the cause, and not the server or the connection. */
export function doubtsAbout({ code, reason }: KubeError): number {
  if (code === expired || reason === wentBack) return maxDoubts;
  if (reason === 'Stalled' || reason === 'MalformedAnswer') return 1;
  return code >= 400 && !unrelatedCodes.has(code) ? 1 : 0;
}

/** Errors about rights, a kind that is not served, or a busy or unreachable server. */
export const unrelatedCodes: ReadonlySet<number> = new Set([401, 403, 404, 408, 429, 502, 503, 504]);

// Why the API server did not do it, read from the head and the body of its answer; no text of either goes on.
import { STATUS_CODES } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { ownMember } from '../../base/json.ts';
import { KubeError } from '../../base/kube-error.ts';

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/ */
export function kubeErrorOfAnswer(code: number, headers: IncomingHttpHeaders, body: Uint8Array): KubeError {
  const status = statusIn(body);
  const details = ownMember(status, 'details');
  const seconds = retryAfterSeconds(headers['retry-after'], ownMember(details, 'retryAfterSeconds'));
  return new KubeError({
    code,
    reason: reasonIn(status) ?? wordsOf(code),
    causes: causesIn(details),
    retryable: isRetryable(code),
    ...(seconds === undefined ? {} : { retryAfterMs: seconds * 1000 }),
  });
}

/** Not signed in is worth another try: tokens are replaced while the program runs. */
function isRetryable(code: number): boolean {
  return code >= 500 || [401, 408, 409, 429].includes(code);
}

function statusIn(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    // A page of some proxy in between.
    return undefined;
  }
}

/** Admission webhooks choose the reason of a refusal, and may put anything there; a reason is one word. */
function reasonIn(value: unknown): string | undefined {
  const reason = ownMember(value, 'reason');
  return typeof reason === 'string' && /^[A-Z][A-Za-z]{1,63}$/.test(reason) ? reason : undefined;
}

const mostCauses = 20;

function causesIn(details: unknown): readonly string[] {
  const causes = ownMember(details, 'causes');
  if (!Array.isArray(causes)) return [];
  const reasons = causes.slice(0, mostCauses).map(reasonIn);
  return [...new Set(reasons.filter((reason) => reason !== undefined))];
}

/** The header may also be a date, which the API server never sends. */
function retryAfterSeconds(header: string | undefined, detail: unknown): number | undefined {
  const seconds = header !== undefined && /^\d{1,9}$/.test(header) ? Number(header) : detail;
  return typeof seconds === 'number' && seconds > 0 ? seconds : undefined;
}

/** 503 is `ServiceUnavailable`, as the API server calls it too. */
function wordsOf(code: number): string {
  return STATUS_CODES[code]?.replaceAll(/[^A-Za-z]/g, '') ?? 'Unknown';
}

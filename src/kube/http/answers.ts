// Turns answers of the API server into objects, and everything else that can happen into a KubeError.
import { STATUS_CODES } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { errorCode } from '../../base/error-code.ts';
import { isJsonObject, ownMember } from '../../base/json.ts';
import type { JsonObject } from '../../base/json.ts';
import { KubeError } from '../../base/kube-error.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { refusalIn } from './refusal.ts';

/** Throws a KubeError when the answer is not an object. */
export function answeredObject(answer: JsonObject): KubeObject {
  if (isKubeObject(answer)) return answer;
  throw malformedAnswer();
}

function isKubeObject(value: JsonObject): value is JsonObject & KubeObject {
  return isJsonObject(value['metadata']);
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

/** The error for a complete answer that the API server would not send. */
export function malformedAnswer(): KubeError {
  return new KubeError({ code: 200, reason: 'MalformedAnswer', retryable: true });
}

/** The error when no answer arrived. */
export function noAnswer(reason: string): KubeError {
  return new KubeError({ code: 0, reason, retryable: true });
}

/** Turns any error of a client into a KubeError. Aborted requests and broken connections reject with other classes. */
export function kubeErrorOf(error: unknown): KubeError {
  if (error instanceof KubeError) return error;
  // The default reason of a signal has a name instead of a code.
  if (error instanceof DOMException) return noAnswer(error.name);
  return noAnswer(errorCode(error) ?? 'Unknown');
}

/**
 * Reads the head and the body of an error answer. Of a request about a Secret, none of their text goes further.
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
 */
export function kubeErrorOfAnswer(
  code: number,
  headers: IncomingHttpHeaders,
  body: Uint8Array,
  isAboutSecret: boolean,
): KubeError {
  const status = statusIn(body);
  const details = ownMember(status, 'details');
  const seconds = retryAfterSeconds(headers['retry-after'], ownMember(details, 'retryAfterSeconds'));
  return new KubeError({
    code,
    reason: reasonIn(status) ?? reasonOfCode(code),
    causes: causesIn(details),
    retryable: isRetryable(code),
    ...(code >= 400 && code < 500 ? { refusal: refusalIn(status, isAboutSecret) } : {}),
    ...(seconds === undefined ? {} : { retryAfterMs: seconds * 1000 }),
  });
}

/** 401 is retryable, because tokens are replaced while the program runs. */
function isRetryable(code: number): boolean {
  return code >= 500 || [401, 408, 409, 429].includes(code);
}

function statusIn(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    // A proxy in between may have sent a page.
    return undefined;
  }
}

/** Admission webhooks choose the reason of a refusal, and may send any text. Only a single word is accepted. */
function reasonIn(value: unknown): string | undefined {
  const reason = ownMember(value, 'reason');
  return typeof reason === 'string' && /^[A-Z][A-Za-z]{1,63}$/.test(reason) ? reason : undefined;
}

const maxCauses = 20;

function causesIn(details: unknown): readonly string[] {
  const causes = ownMember(details, 'causes');
  if (!Array.isArray(causes)) return [];
  const reasons = causes.slice(0, maxCauses).map(reasonIn);
  return [...new Set(reasons.filter((reason) => reason !== undefined))];
}

/** HTTP also allows a date in the header, which the API server never sends. */
function retryAfterSeconds(header: string | undefined, detail: unknown): number | undefined {
  const seconds = header !== undefined && /^\d{1,9}$/.test(header) ? Number(header) : detail;
  return typeof seconds === 'number' && seconds > 0 ? seconds : undefined;
}

/** 503 is `ServiceUnavailable`, the name that the API server uses too. */
function reasonOfCode(code: number): string {
  return STATUS_CODES[code]?.replaceAll(/[^A-Za-z]/g, '') ?? 'Unknown';
}

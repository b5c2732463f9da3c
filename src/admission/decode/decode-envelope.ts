// Reads the bytes of a body as an AdmissionReview, as far as its uid: without one, only HTTP itself can answer.
import { isUtf8 } from 'node:buffer';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { badBody } from '../http/http-refusal.ts';
import type { HttpRefusal } from '../http/http-refusal.ts';
import { findUid, maxDepth, maxValues, measureJson } from './json-scan.ts';

export const reviewApiVersion = 'admission.k8s.io/v1';
export const reviewKind = 'AdmissionReview';

type Envelope =
  | { readonly kind: 'request'; readonly uid: string; readonly request: JsonObject }
  /** Too many values to be parsed at all, but it can be answered. */
  | { readonly kind: 'oversized'; readonly uid: string }
  | { readonly kind: 'unreadable'; readonly refusal: HttpRefusal };

/** The API server's own are of 36 characters; the bound keeps a hostile one out of answer and log. */
const longestUid = 128;

export function decodeEnvelope(body: Buffer): Envelope {
  // Node would replace what is not UTF-8, and two different bodies would become one.
  if (!isUtf8(body)) return unreadable('the body is not UTF-8');
  const { depth, values } = measureJson(body);
  if (depth > maxDepth) return unreadable(`the body is nested deeper than ${maxDepth} levels`);
  if (values > maxValues) return oversized(findUid(body));
  const review = parseJson(body);
  if (!isJsonObject(review) || review['apiVersion'] !== reviewApiVersion || review['kind'] !== reviewKind) {
    return unreadable(`the body is not an ${reviewKind} of ${reviewApiVersion}`);
  }
  const { request } = review;
  if (!isJsonObject(request)) return unreadable('request: accepted is an object');
  const { uid } = request;
  return isUid(uid) ? { kind: 'request', uid, request } : unreadableUid;
}

/** Undefined, which is nothing that JSON can hold, for a text that is not JSON: the parser's error would quote it. */
function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function isUid(uid: unknown): uid is string {
  // Half of a surrogate pair has no UTF-8, so it could not be echoed.
  return typeof uid === 'string' && uid !== '' && uid.length <= longestUid && uid.isWellFormed();
}

function oversized(uid: unknown): Envelope {
  return isUid(uid) ? { kind: 'oversized', uid } : unreadableUid;
}

function unreadable(message: string): Envelope {
  return { kind: 'unreadable', refusal: badBody(message) };
}

const unreadableUid = unreadable(`request.uid: accepted is a text of 1 to ${longestUid} characters`);

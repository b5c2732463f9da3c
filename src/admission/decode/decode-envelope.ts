// Parses a body as an AdmissionReview up to its uid. Without a uid, only an HTTP error can be the answer.
import { isUtf8 } from 'node:buffer';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { badBody } from '../http/http-refusal.ts';
import type { HttpRefusal } from '../http/http-refusal.ts';
import {
  findUid,
  isSmallAndFlat,
  maxDepth,
  maxGrowth,
  maxReviewValues,
  maxValues,
  measureJson,
} from './json-scan.ts';
import { invalidReview, type ReviewProblem } from './review-problem.ts';

export const reviewApiVersion = 'admission.k8s.io/v1';
export const reviewKind = 'AdmissionReview';

type Envelope =
  | { readonly kind: 'request'; readonly uid: string; readonly request: JsonObject }
  /** Has too many values to be parsed, but can be answered. */
  | { readonly kind: 'oversized'; readonly uid: string; readonly problem: ReviewProblem }
  | { readonly kind: 'unreadable'; readonly refusal: HttpRefusal };

/** A uid of the API server has 36 characters. The limit keeps a hostile one out of answer and log. */
const maxUidLength = 128;

export function decodeEnvelope(body: Buffer): Envelope {
  // Node would replace invalid UTF-8, so that two different bodies would become equal.
  if (!isUtf8(body)) return unreadable('the body is not UTF-8');
  if (!isSmallAndFlat(body)) {
    const size = measureJson(body);
    if (size.depth > maxDepth) return unreadable(`the body is nested deeper than ${maxDepth} levels`);
    const problem = sizeProblem(size);
    if (problem !== undefined) return oversized(findUid(body), problem);
  }
  const review = parseJson(body);
  if (!isJsonObject(review) || review['apiVersion'] !== reviewApiVersion || review['kind'] !== reviewKind) {
    return unreadable(`the body is not an ${reviewKind} of ${reviewApiVersion}`);
  }
  const { request } = review;
  if (!isJsonObject(request)) return unreadable('request: must be an object');
  const { uid } = request;
  return isUid(uid) ? { kind: 'request', uid, request } : unreadableUid;
}

/**
 * An update counts like the creation of the object that it leaves, so that no object can be created and then never be
 * changed again.
 */
function sizeProblem({
  values,
  object,
  oldObject,
}: ReturnType<typeof measureJson>): ReviewProblem | undefined {
  if (values > maxReviewValues)
    return invalidReview('the review', `must have at most ${maxReviewValues} values`);
  if (object <= maxValues || object <= oldObject + maxGrowth) return undefined;
  const accepted = `must have at most ${maxValues} values, keys and items of lists, managedFields included`;
  return invalidReview('request.object', accepted);
}

/** Returns undefined for text that is not JSON. The error of the parser is dropped, because it quotes the text. */
function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function isUid(uid: unknown): uid is string {
  // A lone surrogate has no UTF-8, so the answer could not repeat it.
  return typeof uid === 'string' && uid !== '' && uid.length <= maxUidLength && uid.isWellFormed();
}

function oversized(uid: unknown, problem: ReviewProblem): Envelope {
  return isUid(uid) ? { kind: 'oversized', uid, problem } : unreadableUid;
}

function unreadable(message: string): Envelope {
  return { kind: 'unreadable', refusal: badBody(message) };
}

const unreadableUid = unreadable(`request.uid: must be a text of 1 to ${maxUidLength} characters`);

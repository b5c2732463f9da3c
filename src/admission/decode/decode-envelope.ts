// Parses a body as an AdmissionReview up to its uid. Without a uid, only an HTTP error can be the answer.
import { isUtf8 } from 'node:buffer';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { badBody, type HttpRefusal } from '../http/limits.ts';
import { invalidReview, type ReviewProblem } from './decode-target.ts';
import { clipped } from '../../base/text.ts';

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

// Measures JSON before it is parsed: its depth and its number of values limit the cost of parsing.

/** Deeper than any Kubernetes object, and far below the limit of a recursive reader. */
export const maxDepth = 128;
/** The limit of one object after a write. JSON.parse takes about a microsecond for each value and blocks the process. */
export const maxValues = 150_000;
/** The values that a write may add to an object with more. Such an object may be older than Reeve, and can be mended in steps. */
const maxGrowth = 100;
/**
 * The limit of both objects together. An object in etcd is below 1.5 MiB, so it has about 215,000 values, each a key with its
 * field in managedFields: https://etcd.io/docs/latest/dev-guide/limit/
 */
const maxReviewValues = 450_000;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Returns true for most bodies. A short body cannot have too many values, because each value takes a byte. A body with
 * few brackets, counting those in strings, cannot be too deep. Measuring such a body took 4 % of the time of an answer.
 */
export function isSmallAndFlat(bytes: Uint8Array): boolean {
  if (bytes.length > maxValues) return false;
  let opened = 0;
  // A loop with `of` takes ten times as long.
  // oxlint-disable-next-line typescript/prefer-for-of
  for (let index = 0; index < bytes.length; index++) {
    if (bytes[index] === openBrace || bytes[index] === openBracket) opened += 1;
  }
  return opened <= maxDepth;
}

/** The number of object members and list items. */
interface JsonSize {
  readonly depth: number;
  /** In the whole text. */
  readonly values: number;
  /** In `request.object` and in `request.oldObject`. */
  readonly object: number;
  readonly oldObject: number;
}

/**
 * Measures UTF-8 bytes: in UTF-8, no byte of another character equals an ASCII character. For text that is not JSON the
 * numbers mean nothing, and JSON.parse refuses it afterwards.
 */
export function measureJson(bytes: Uint8Array): JsonSize {
  let depth = 0;
  let deepest = 0;
  let values = 0;
  const members = new RequestMembers();
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === quote) {
      const end = endOfString(bytes, index);
      if (depth <= 2 && isKey(bytes, end)) members.begin(depth, bytes.subarray(index, end + 1), values);
      index = end;
    } else if (byte === comma) {
      values++;
    } else if (byte === openBrace || byte === openBracket) {
      depth++;
      // The first value of a container has no comma before it. An empty container costs as much as a value.
      values++;
      if (depth > deepest) deepest = depth;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth--;
    }
  }
  return { depth: deepest, values, ...members.sizes(values) };
}

/** Counts the values between the keys of `request`. */
class RequestMembers {
  #isRequest = false;
  #key = '';
  #since = 0;
  readonly #sizes = new Map<string, number>();

  begin(depth: number, key: Uint8Array, values: number): void {
    // The comma before the key belongs to neither member.
    this.#end(values - 1);
    this.#since = values;
    // The longest key that counts is "oldObject". No key needs an escape.
    const text = key.length > 16 ? '' : Buffer.from(key).toString('latin1');
    if (depth === 1) this.#isRequest = text === '"request"';
    this.#key = depth === 2 && this.#isRequest ? text : '';
  }

  sizes(values: number): Pick<JsonSize, 'object' | 'oldObject'> {
    this.#end(values);
    return { object: this.#sizes.get('"object"') ?? 0, oldObject: this.#sizes.get('"oldObject"') ?? 0 };
  }

  #end(values: number): void {
    if (this.#key !== '')
      this.#sizes.set(this.#key, (this.#sizes.get(this.#key) ?? 0) + values - this.#since);
    this.#since = values;
  }
}

/** Longer strings are searched by the memory functions of the machine, which costs too much to begin with. */
const maxStepped = 64;

/** Returns the index of the closing quote, or the end of the text. */
function endOfString(bytes: Uint8Array, start: number): number {
  let index = start + 1;
  const near = Math.min(bytes.length, index + maxStepped);
  while (index < near && bytes[index] !== quote) index += bytes[index] === backslash ? 2 : 1;
  return index < near ? index : endOfLongString(bytes, index);
}

/** `start`: a place in the string that no backslash before it escapes. */
function endOfLongString(bytes: Uint8Array, start: number): number {
  for (let index = start; ;) {
    const end = bytes.indexOf(quote, index);
    if (end === -1) return bytes.length;
    let escapes = end;
    while (escapes > index && bytes[escapes - 1] === backslash) escapes--;
    if ((end - escapes) % 2 === 0) return end;
    index = end + 1;
  }
}

/** Finds `request.uid` without parsing the rest, to answer a document that is too large to parse. */
export function findUid(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const path: string[] = [];
  let depth = 0;
  let uid: unknown;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    depth += depthChange(byte);
    if (byte !== quote) continue;
    const end = endOfString(bytes, index);
    // Deeper strings are never the uid, and can have megabytes.
    if (depth <= 2) {
      const token = text.toString('utf8', index, end + 1);
      if (isKey(bytes, end)) path[depth] = token;
      else if (isUidAt(path, depth)) uid = parseString(token);
    }
    index = end;
  }
  return uid;
}

function depthChange(byte: number | undefined): -1 | 0 | 1 {
  if (byte === openBrace || byte === openBracket) return 1;
  return byte === closeBrace || byte === closeBracket ? -1 : 0;
}

function isUidAt(path: readonly string[], depth: number): boolean {
  return depth === 2 && path[1] === '"request"' && path[2] === '"uid"';
}

function isKey(bytes: Uint8Array, end: number): boolean {
  const colon = 0x3a;
  let index = end + 1;
  while (index < bytes.length && isSpace(bytes[index])) index++;
  return bytes[index] === colon;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function parseString(token: string): unknown {
  try {
    return JSON.parse(token);
  } catch {
    return undefined;
  }
}

// Summarizes a request for logs, metrics and answers in short texts, even if it could not be decoded.

export interface RequestSummary {
  readonly uid: string;
  /** A known operation or `unknown`, because clients must not be able to add values of a metric label. */
  readonly operation: string;
  /** `secrets`, `namespaces/status`, or `other`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
  /** Nothing is stored, whatever the answer is. */
  readonly isDryRun: boolean;
}

const operations: readonly unknown[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
const resources: readonly unknown[] = [
  'namespaces',
  'secrets',
  'roles',
  'rolebindings',
  'namespacepolicies',
  'secretshares',
  'configmapshares',
  'securityintents',
  'clustersecurityintentbindings',
  'securityintentbindings',
];
const subresources: readonly unknown[] = ['status', 'finalize'];

export function summaryOf(uid: string, request: JsonObject): RequestSummary {
  const { operation, userInfo } = request;
  return {
    uid,
    operation: operations.includes(operation) ? String(operation) : 'unknown',
    resource: describeResource(request),
    namespace: describeText(request['namespace']),
    name: describeText(request['name']) || nameOf(request['object']) || nameOf(request['oldObject']),
    user: isJsonObject(userInfo) ? describeText(userInfo['username']) : '',
    isDryRun: request['dryRun'] === true,
  };
}

function describeResource({ resource, subResource }: JsonObject): string {
  const name = isJsonObject(resource) ? resource['resource'] : undefined;
  if (!resources.includes(name)) return 'other';
  return subresources.includes(subResource) ? `${String(name)}/${String(subResource)}` : String(name);
}

/** With a deletecollection or `generateName`, only the object has the name. */
function nameOf(object: unknown): string {
  if (!isJsonObject(object) || !isJsonObject(object['metadata'])) return '';
  return describeText(object['metadata']['name']);
}

/** The maximum length of a Kubernetes name. It also limits the lines of the log. */
const maxLength = 253;

function describeText(value: unknown): string {
  return typeof value === 'string' ? clipped(value, maxLength) : '';
}

// Decodes the bytes of a body into a review for the engine, or into the problem with it.
import { type JsonObject, isJsonObject } from '../../base/json.ts';
import { isProviderResource, requestAttributes, type AnyReview } from '../../policy/terms/review.ts';
import type { Requester } from '../../rules/rule.ts';
import { decodeEnvelope } from './decode-envelope.ts';
import { decodeIdentity, placedIn, type ReviewedObjects } from './decode-identity.ts';
import { decodeTarget, type UnjudgedTarget, type ReviewTarget } from './decode-target.ts';
import {
  decoded,
  notDecoded,
  wrongType,
  type Decoding,
  type ReviewProblem,
  isAbsent,
  forbiddenReview,
  isStrings,
} from './review-problem.ts';
import type { HttpRefusal } from '../http/http-refusal.ts';
import type { Endpoint } from '../ports.ts';
import { summaryOf, type RequestSummary } from './request-summary.ts';
import { decodeObject } from './decode-object.ts';

export type DecodedReview =
  | { readonly kind: 'review'; readonly summary: RequestSummary; readonly review: AnyReview }
  /** Needs no decision, so it is allowed. */
  | { readonly kind: 'passed'; readonly summary: RequestSummary }
  | { readonly kind: 'malformed'; readonly summary: RequestSummary; readonly problem: ReviewProblem }
  | { readonly kind: 'unreadable'; readonly refusal: HttpRefusal };

export function decodeReview(body: Buffer, endpoint: Endpoint): DecodedReview {
  const envelope = decodeEnvelope(body);
  switch (envelope.kind) {
    case 'unreadable':
      return envelope;
    case 'oversized':
      return { kind: 'malformed', summary: summaryOf(envelope.uid, {}), problem: envelope.problem };
    case 'request':
      return decodeRequest(envelope.uid, envelope.request, endpoint);
    default:
      return envelope satisfies never;
  }
}

function decodeRequest(uid: string, request: JsonObject, endpoint: Endpoint): DecodedReview {
  const summary = summaryOf(uid, request);
  const target = decodeTarget(request);
  if (!target.ok) return { kind: 'malformed', summary, problem: target.problem };
  if ('isUnjudged' in target.value) return decodeUnjudged(summary, target.value, endpoint);
  const review = decodeJudged(uid, request, target.value, endpoint);
  if (!review.ok) return { kind: 'malformed', summary, problem: review.problem };
  return review.value === undefined
    ? { kind: 'passed', summary }
    : { kind: 'review', summary, review: review.value };
}

/** The validating webhook refuses requests it cannot judge. The mutating webhook leaves that to it. */
function decodeUnjudged(
  summary: RequestSummary,
  { problem }: UnjudgedTarget,
  endpoint: Endpoint,
): DecodedReview {
  return endpoint === 'validate' ? { kind: 'malformed', summary, problem } : { kind: 'passed', summary };
}

/** Undefined when the request needs no decision. */
function decodeJudged(
  uid: string,
  request: JsonObject,
  target: ReviewTarget,
  endpoint: Endpoint,
): Decoding<AnyReview | undefined> {
  const requester = decodeRequester(request['userInfo']);
  if (!requester.ok) return requester;
  const dryRun = request['dryRun'] ?? false;
  if (typeof dryRun !== 'boolean') return notDecoded(wrongType('request.dryRun', dryRun, 'true or false'));
  // The webhook never sets a field on providers.
  if (endpoint === 'mutate' && isProviderResource(target.resource)) return decoded(undefined);
  // A patch on DELETE is an error of the hook, which refuses even where its failurePolicy is Ignore.
  // https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go
  if (endpoint === 'mutate' && target.operation === 'DELETE') return decoded(undefined);
  const objects = decodeObjects(request, target);
  if (!objects.ok) return objects;
  const identity = decodeIdentity(request, target, objects.value);
  if (!identity.ok) return identity;
  return decoded({
    uid,
    resource: target.resource,
    subresource: target.subresource,
    operation: target.operation,
    ...identity.value,
    requester: requester.value,
    dryRun,
    ...placedObjects(objects.value, target, identity.value.namespace),
    attributes: attributesOf(request, dryRun),
  });
}

/** Does not read the object that the operation does not use, such as the old object of a CREATE. */
function decodeObjects(request: JsonObject, target: ReviewTarget): Decoding<ReviewedObjects> {
  const object =
    target.operation === 'DELETE' ? none : decodeObject(request['object'], target, 'request.object');
  if (!object.ok) return object;
  const oldObject =
    target.operation === 'CREATE' ? none : decodeObject(request['oldObject'], target, 'request.oldObject');
  if (!oldObject.ok) return oldObject;
  return decoded({
    ...(object.value === undefined ? {} : { object: object.value }),
    ...(oldObject.value === undefined ? {} : { oldObject: oldObject.value }),
  });
}

const none = decoded(undefined);

function placedObjects(objects: ReviewedObjects, target: ReviewTarget, namespace: string): ReviewedObjects {
  if (namespace === '' || target.resource === 'namespaces') return objects;
  return {
    ...(objects.object === undefined ? {} : { object: placedIn(objects.object, namespace) }),
    ...(objects.oldObject === undefined ? {} : { oldObject: placedIn(objects.oldObject, namespace) }),
  };
}

/** Returns the attributes unchanged, without nulls. `dryRun` is always set, because the API server always sends it. */
function attributesOf(request: JsonObject, dryRun: boolean): Readonly<Record<string, unknown>> {
  const attributes: Record<string, unknown> = { dryRun };
  for (const name of requestAttributes) {
    if (!isAbsent(request[name])) attributes[name] = request[name];
  }
  return attributes;
}

/** Reads the user. A request without a user is refused, because no rights could be checked. */
function decodeRequester(userInfo: unknown): Decoding<Requester> {
  if (!isJsonObject(userInfo)) return unknownUser('', 'must be an object');
  const { username, groups, uid, extra } = userInfo;
  if (typeof username !== 'string' || username === '')
    return unknownUser('.username', 'must be a text that is not empty');
  if (!isAbsent(groups) && !isStrings(groups)) return unknownUser('.groups', 'must be a list of texts');
  if (!isAbsent(uid) && typeof uid !== 'string') return unknownUser('.uid', 'must be a text');
  const extras = decodeExtra(extra);
  if (extras === undefined) return unknownUser('.extra', 'must be a map of lists of texts');
  return decoded({
    username,
    groups: groups ?? [],
    ...(isAbsent(uid) ? {} : { uid }),
    extra: extras,
  });
}

function unknownUser(field: string, text: string): Decoding<Requester> {
  return notDecoded(forbiddenReview(`request.userInfo${field}`, text));
}

function decodeExtra(extra: unknown): Requester['extra'] {
  if (isAbsent(extra)) return {};
  if (!isJsonObject(extra)) return undefined;
  const entries = Object.entries(extra).map(([key, value]) => [key, value ?? []] as const);
  // Object.fromEntries makes every key an own member, `__proto__` too.
  return entries.every(isExtraEntry) ? Object.fromEntries(entries) : undefined;
}

function isExtraEntry(entry: readonly [string, unknown]): entry is readonly [string, readonly string[]] {
  return isStrings(entry[1]);
}

// Turns the bytes of a body into a review that the engine can judge, or says why there is none.
import type { JsonObject } from '../../base/json.ts';
import { isProviderResource, requestAttributes, type AnyReview } from '../../policy/terms/review.ts';
import { decodeEnvelope } from './decode-envelope.ts';
import { decodeIdentity, placedIn } from './decode-identity.ts';
import type { ReviewedObjects } from './decode-identity.ts';
import { decodeObject } from './decode-object.ts';
import { decodeRequester } from './decode-requester.ts';
import { decodeTarget } from './decode-target.ts';
import type { Stray, Target } from './decode-target.ts';
import { badRequest, decoded, faulty, wrongType } from './fault.ts';
import type { Decoding, Fault } from './fault.ts';
import type { HttpRefusal } from '../http/http-refusal.ts';
import { maxValues } from './json-scan.ts';
import { isAbsent } from './json-value.ts';
import type { Endpoint } from '../ports.ts';
import { describeRequest } from './subject.ts';
import type { Subject } from './subject.ts';

export type DecodedReview =
  | { readonly kind: 'review'; readonly subject: Subject; readonly review: AnyReview }
  /** Nothing to judge here: a mutating hook has no opinion on it. */
  | { readonly kind: 'passed'; readonly subject: Subject }
  | { readonly kind: 'faulty'; readonly subject: Subject; readonly fault: Fault }
  | { readonly kind: 'unreadable'; readonly refusal: HttpRefusal };

export function decodeReview(body: Buffer, endpoint: Endpoint): DecodedReview {
  const envelope = decodeEnvelope(body);
  switch (envelope.kind) {
    case 'unreadable':
      return envelope;
    case 'oversized': {
      const fault = badRequest('the review', `it holds more than ${maxValues} values`);
      return { kind: 'faulty', subject: describeRequest(envelope.uid, {}), fault };
    }
    case 'request':
      return decodeRequest(envelope.uid, envelope.request, endpoint);
    default:
      return envelope satisfies never;
  }
}

function decodeRequest(uid: string, request: JsonObject, endpoint: Endpoint): DecodedReview {
  const subject = describeRequest(uid, request);
  const target = decodeTarget(request);
  if (!target.ok) return { kind: 'faulty', subject, fault: target.fault };
  if ('stray' in target.value) return decodeStray(subject, target.value, endpoint);
  const review = decodeGuarded(uid, request, target.value, endpoint);
  if (!review.ok) return { kind: 'faulty', subject, fault: review.fault };
  return review.value === undefined
    ? { kind: 'passed', subject }
    : { kind: 'review', subject, review: review.value };
}

/** The validating hook refuses what it cannot judge; the mutating one would only be in the way. */
function decodeStray(subject: Subject, { fault }: Stray, endpoint: Endpoint): DecodedReview {
  return endpoint === 'validate' ? { kind: 'faulty', subject, fault } : { kind: 'passed', subject };
}

/** Undefined when there is nothing to judge. */
function decodeGuarded(
  uid: string,
  request: JsonObject,
  target: Target,
  endpoint: Endpoint,
): Decoding<AnyReview | undefined> {
  const requester = decodeRequester(request['userInfo']);
  if (!requester.ok) return requester;
  const dryRun = request['dryRun'] ?? false;
  if (typeof dryRun !== 'boolean') return faulty(wrongType('request.dryRun', dryRun, 'true or false'));
  // Nothing is ever set on objects of our own kinds.
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

/** An object that the operation has no use for (the old one of a CREATE) is not read at all. */
function decodeObjects(request: JsonObject, target: Target): Decoding<ReviewedObjects> {
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

function placedObjects(objects: ReviewedObjects, target: Target, namespace: string): ReviewedObjects {
  if (namespace === '' || target.resource === 'namespaces') return objects;
  return {
    ...(objects.object === undefined ? {} : { object: placedIn(objects.object, namespace) }),
    ...(objects.oldObject === undefined ? {} : { oldObject: placedIn(objects.oldObject, namespace) }),
  };
}

/** As they came, without those that are null; `dryRun` always, because the API server always sends it. */
function attributesOf(request: JsonObject, dryRun: boolean): Readonly<Record<string, unknown>> {
  const attributes: Record<string, unknown> = { dryRun };
  for (const name of requestAttributes) {
    if (!isAbsent(request[name])) attributes[name] = request[name];
  }
  return attributes;
}

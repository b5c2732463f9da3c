// Takes an object through defaults, webhooks and checks, in the API server's order.
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject, ObjectMeta } from '../../base/metadata.ts';
import { assertNoEscalation } from '../access/authorizer.ts';
import type { ReviewedWrite } from '../admission/reviewed-write.ts';
import { policyProblems, whyNotEvaluated, conditionProblems } from '../admission/expressions.ts';
import { invalidError, type StatusCause } from '../api-error.ts';
import { withManagedFields } from '../patch/managed-fields.ts';
import type { ObjectRequest, Resource, ServedSubresource } from '../resource.ts';
import { timestamp, type WriteContext, isDryRun } from './context.ts';
import { randomBytes } from 'node:crypto';

interface Candidate {
  readonly object: KubeObject;
  readonly stored: KubeObject | undefined;
  readonly options: JsonObject;
}

/** Returns the object to store. Rejects with an ApiError. */
export async function admitObject(
  context: WriteContext,
  request: ObjectRequest,
  candidate: Candidate,
): Promise<KubeObject> {
  const { stored } = candidate;
  const now = context.now();
  const owned = withOwnerOfChanges(request, prepared(request, candidate.object, stored, now), stored, now);
  const write = reviewedWrite(request, { ...candidate, object: owned });
  const mutated = (await context.admission.mutate(write)) ?? owned;
  const system = stored === undefined ? withSystemFields(mutated, now, ownFields(context, request)) : mutated;
  const next = prepared(request, system, stored, now);
  judge(context, request, next, stored);
  await context.admission.validate({ ...write, name: next.metadata.name ?? '', object: next });
  return next;
}

/** Fields that webhooks add have no owner. An apply has set its owners already. */
function withOwnerOfChanges(
  request: ObjectRequest,
  object: KubeObject,
  stored: KubeObject | undefined,
  now: Date,
): KubeObject {
  if (request.patchType === 'apply') return object;
  return withManagedFields(request.resource, object, stored, managerOf(request, now));
}

export function managerOf({ query, agent, subresource }: ObjectRequest, now: Date) {
  return { name: query.get('fieldManager') ?? agent, subresource, time: timestamp(now) };
}

export function reviewedWrite(
  request: ObjectRequest,
  { object, stored, options }: Omit<Candidate, 'object'> & { readonly object: KubeObject | undefined },
): ReviewedWrite {
  const { resource, subresource, namespace, user, warn, signal } = request;
  const operation = object === undefined ? 'DELETE' : stored === undefined ? 'CREATE' : 'UPDATE';
  return {
    operation,
    resource,
    subresource,
    namespace,
    name: request.name ?? object?.metadata.name ?? '',
    object,
    oldObject: stored,
    user,
    dryRun: isDryRun(request),
    options,
    warn,
    signal,
  };
}

function prepared(
  { resource, subresource }: ObjectRequest,
  object: KubeObject,
  stored: KubeObject | undefined,
  now: Date,
): KubeObject {
  const part = partOf(resource, subresource, object, stored);
  const kept = stored === undefined ? part : withFieldsOf(stored, part);
  return resource.rules.prepare(withoutEmpty(kept), stored, now);
}

function ownFields(
  { uid }: WriteContext,
  { namespace }: ObjectRequest,
): Pick<ObjectMeta, 'uid' | 'namespace'> {
  return { uid: uid(), ...(namespace === undefined ? {} : { namespace }) };
}

/** The namespace is that of the request, even when a webhook has changed it. */
function withSystemFields(
  object: KubeObject,
  now: Date,
  own: Pick<ObjectMeta, 'uid' | 'namespace'>,
): KubeObject {
  const { namespace: _, ...metadata } = named(object).metadata;
  return { ...object, metadata: { ...metadata, ...own, creationTimestamp: timestamp(now) } };
}

function judge(
  context: WriteContext,
  { resource, namespace, user, warn }: ObjectRequest,
  object: KubeObject,
  stored: KubeObject | undefined,
): void {
  assertNoEscalation(context.authorizer, { user, resource, namespace, object, stored });
  const found = resource.rules.problems(object, stored);
  const isPolicy = resource.kind === 'ValidatingAdmissionPolicy';
  const causes = found.length === 0 ? expressionProblems(resource.kind, object) : found;
  if (causes.length > 0) throw invalidError(resource, object.metadata.name ?? '', causes);
  const why = isPolicy ? whyNotEvaluated(object) : undefined;
  if (why !== undefined) warn(`the sandbox stores this policy and does not evaluate it: ${why}`);
}

function expressionProblems(kind: string, object: KubeObject): readonly StatusCause[] {
  if (kind.endsWith('WebhookConfiguration')) return conditionProblems(object);
  return kind === 'ValidatingAdmissionPolicy' ? policyProblems(object) : [];
}

// Sets the metadata that only the server sets, and keeps the parts that a subresource does not write.

const nameEnding = 5;
/**
 * Without vowels and similar letters, so that no words arise:
 * https://pkg.go.dev/k8s.io/apimachinery/pkg/util/rand#String
 */
const letters = 'bcdfghjklmnpqrstvwxz2456789';

const serverKept = [
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'selfLink',
];

/** A create ignores what a client sends in these fields. */
export function withoutSystemFields(object: KubeObject): KubeObject {
  const given = Object.entries(object.metadata).filter(([key]) => !serverKept.includes(key));
  return { ...object, metadata: Object.fromEntries(given) };
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#generated-values */
function named(object: KubeObject): KubeObject {
  const { name, generateName = '' } = object.metadata;
  if (name !== undefined || generateName === '') return object;
  const ending = [...randomBytes(nameEnding)].map((byte) => letters[byte % letters.length]).join('');
  return { ...object, metadata: { ...object.metadata, name: `${generateName.slice(0, 58)}${ending}` } };
}

/** An update has the stored values or none, because the preconditions have been checked. */
function withFieldsOf(stored: KubeObject, submitted: KubeObject): KubeObject {
  const kept = Object.entries(stored.metadata).filter(([key]) => serverKept.includes(key));
  const { metadata } = withoutSystemFields(submitted);
  return { ...submitted, metadata: { ...Object.fromEntries(kept), ...metadata } };
}

/** Empty metadata is left out: https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#ObjectMeta (omitempty) */
export function withoutEmpty({ metadata, ...rest }: KubeObject): KubeObject {
  const filled = Object.entries(metadata).filter(
    ([, value]) => typeof value !== 'object' || value === null || Object.keys(value).length > 0,
  );
  return { ...rest, metadata: Object.fromEntries(filled) };
}

/**
 * Groups whose status subresource does not write metadata. In other groups it can change labels.
 * https://pkg.go.dev/k8s.io/apiserver/pkg/registry/rest#RESTUpdateStrategy (PrepareForUpdate)
 */
const strictStatusGroups = ['apiextensions.k8s.io', 'admissionregistration.k8s.io', 'reeve.dev'];

/** Returns the submitted object, with the stored value of every part that this path does not write. */
function partOf(
  resource: Resource,
  subresource: ServedSubresource | undefined,
  submitted: KubeObject,
  stored: KubeObject | undefined,
): KubeObject {
  if (subresource === 'finalize') return withMember(submitted, 'status', stored);
  if (subresource === 'status') {
    if (!strictStatusGroups.includes(resource.group)) return withMember(submitted, 'spec', stored);
    return withMember({ ...submitted, metadata: statusMetadata(submitted, stored) }, 'spec', stored);
  }
  const kept = resource.subresources.includes('status') ? withMember(submitted, 'status', stored) : submitted;
  return stored !== undefined && resource.subresources.includes('finalize')
    ? withMember(kept, 'spec', stored)
    : kept;
}

function statusMetadata(submitted: KubeObject, stored: KubeObject | undefined): ObjectMeta {
  const { managedFields } = submitted.metadata;
  return { ...stored?.metadata, ...(managedFields === undefined ? {} : { managedFields }) };
}

function withMember(object: KubeObject, key: string, source: KubeObject | undefined): KubeObject {
  const { [key]: _, ...rest } = object;
  const value = source?.[key];
  return { ...rest, metadata: object.metadata, ...(value === undefined ? {} : { [key]: value }) };
}

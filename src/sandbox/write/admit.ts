// Takes an object through defaults, webhooks and checks, in the API server's order.
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject, ObjectMeta } from '../../base/kube-object.ts';
import { checkEscalation } from '../access/escalation.ts';
import type { ReviewedWrite } from '../admission/reviewed-write.ts';
import { policyProblems, whyNotEvaluated, conditionProblems } from '../admission/expressions.ts';
import { invalidError, type StatusCause } from '../api-error.ts';
import { withManagedFields } from '../patch/managed-fields.ts';
import type { ObjectRequest } from '../request.ts';
import { timestamp, type WriteContext } from './context.ts';
import { isDryRun } from './options.ts';
import { named, partOf, withFieldsOf, withoutEmpty } from './system-fields.ts';

export interface Candidate {
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
  checkEscalation(context.authorizer, { user, resource, namespace, object, stored });
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

// Sends every write through the stored webhooks and admission policies.
import { compileSelector } from '../../schema/selector.ts';
import type { KubeObject } from '../../base/metadata.ts';
import type { Kinds } from '../resource.ts';
import type { SandboxStore } from '../store.ts';
import {
  type ReviewedWrite,
  bindingsOf,
  admissionRequest,
  matchesResources,
  matchesWebhook,
} from './reviewed-write.ts';
import { callWebhook, type CallWebhook, WebhookCallError } from './webhook-call.ts';
import { withVariables } from '../../cel/expression.ts';
import { ApiError, forbiddenError, type ErrorStatus } from '../api-error.ts';
import {
  storedConfigurations,
  storedNamespace,
  type AdmissionPolicyBinding,
  type AdmissionPolicy,
  webhooksOf,
  type Webhook,
} from './configurations.ts';
import {
  compiledAdmissionPolicy,
  type CompiledAdmissionPolicy,
  matchConditionsHold,
  evaluateCondition,
} from './expressions.ts';
import { isDeepStrictEqual } from 'node:util';
import { jsonPatched } from '../patch/json-patch.ts';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';

export interface Admission {
  /**
   * Returns the object as the mutating webhooks leave it. These webhooks see a delete too, but cannot change it. Rejects with
   * an ApiError.
   */
  mutate(write: ReviewedWrite): Promise<KubeObject | undefined>;
  /** Applies the admission policies first, then the validating webhooks in parallel. Rejects with an ApiError. */
  validate(write: ReviewedWrite): Promise<void>;
}

interface AdmissionPorts {
  readonly store: SandboxStore;
  readonly kinds: Kinds;
  readonly call?: CallWebhook;
  readonly uid: () => string;
}

/** Reads the stored configurations for every write, so that a change takes effect at once. */
export function createAdmission(ports: AdmissionPorts): Admission {
  const webhooks = { call: callWebhook, ...ports };
  return {
    mutate: async (write) =>
      decidesAboutWrites(write) ? write.object : await callMutatingWebhooks(webhooks, write),
    validate: async (write) => {
      if (!decidesAboutWrites(write) || write.resource.kind.endsWith('WebhookConfiguration')) {
        enforcePolicies(ports, write);
      }
      if (!decidesAboutWrites(write)) await callValidatingWebhooks(webhooks, write);
    },
  };
}

/** Returns true for kinds that no webhook sees, so that a mistake in a webhook or policy can be undone. */
function decidesAboutWrites({ resource }: ReviewedWrite): boolean {
  return resource.group === 'admissionregistration.k8s.io';
}

// Applies the stored ValidatingAdmissionPolicies that have a binding.
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/

interface PolicyViolation {
  readonly message: string;
  readonly reason: string;
}

interface Stored {
  readonly store: SandboxStore;
  readonly kinds: Kinds;
}

/** Throws an ApiError for the first violation that a binding denies. Other violations warn at most. */
function enforcePolicies({ store, kinds }: Stored, write: ReviewedWrite): void {
  const bindings = storedConfigurations(store, 'validatingadmissionpolicybindings');
  for (const policy of storedConfigurations(store, 'validatingadmissionpolicies')) {
    const compiled = compiledAdmissionPolicy(policy);
    if (typeof compiled === 'string' || !matchesResources(store, policy.spec.matchConstraints, write))
      continue;
    const bound = bindings.filter(
      ({ spec: { policyName, matchResources = {} } }) =>
        policyName === policy.metadata.name && matchesResources(store, matchResources, write),
    );
    for (const binding of bound)
      enforce(policy, binding, violationsFor({ store, kinds }, { policy, compiled, binding, write }), write);
  }
}

interface Bound {
  readonly policy: AdmissionPolicy;
  readonly compiled: CompiledAdmissionPolicy;
  readonly binding: AdmissionPolicyBinding;
  readonly write: ReviewedWrite;
}

/** A policy with parameters is evaluated once for each object that the binding refers to. */
function violationsFor({ store, kinds }: Stored, bound: Bound): readonly PolicyViolation[] {
  const { paramKind } = bound.policy.spec;
  const { paramRef } = bound.binding.spec;
  if (paramKind === undefined || paramRef === undefined) return violationsOf(store, bound, undefined);
  const { name, selector = {}, parameterNotFoundAction } = paramRef;
  const kind = kinds.ofKind(paramKind.apiVersion, paramKind.kind);
  const namespace = kind?.isNamespaced === true ? (paramRef.namespace ?? bound.write.namespace) : undefined;
  const isMeant = ({ metadata }: KubeObject): boolean =>
    name === undefined ? compileSelector(selector).matches(metadata.labels ?? {}) : metadata.name === name;
  const found = kind === undefined ? [] : store.list(kind, namespace).filter(isMeant);
  if (found.length > 0) return found.flatMap((params) => violationsOf(store, bound, params));
  const message =
    'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction';
  return parameterNotFoundAction === 'Deny' ? [{ message, reason: 'Invalid' }] : [];
}

function enforce(
  policy: AdmissionPolicy,
  { metadata, spec }: AdmissionPolicyBinding,
  objections: readonly PolicyViolation[],
  write: ReviewedWrite,
): void {
  const source = `ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${metadata.name}'`;
  for (const { message, reason } of objections) {
    if (spec.validationActions.includes('Warn')) write.warn(`Validation failed for ${source}: ${message}`);
    if (!spec.validationActions.includes('Deny')) continue;
    throw refusal(write, { message: `${source} denied request: ${message}`, reason });
  }
}

function violationsOf(
  store: SandboxStore,
  { policy: { spec }, compiled: { variables, validations }, write }: Bound,
  params: KubeObject | undefined,
): readonly PolicyViolation[] {
  const errorViolation = (message: string): readonly PolicyViolation[] =>
    spec.failurePolicy === 'Ignore' ? [] : [{ message, reason: 'Invalid' }];
  const given = { ...bindingsOf(write), params };
  const conditions = matchConditionsHold(spec, given);
  if (typeof conditions === 'string') return errorViolation(conditions);
  if (!conditions) return [];
  const { resource, namespace = '' } = write;
  const namespaceObject = resource.isNamespaced ? storedNamespace(store, namespace) : undefined;
  const bindings = withVariables({ ...given, namespaceObject }, variables);
  return validations.flatMap(({ isMet, explain, message, reason }) => {
    const outcome = evaluateCondition(isMet, bindings);
    if (typeof outcome === 'string') return errorViolation(outcome);
    const computed = explain?.evaluate(bindings);
    const text = computed?.ok === true ? String(computed.value).trim() : '';
    return outcome ? [] : [{ message: text || message, reason }];
  });
}

const codes: ReadonlyMap<string, number> = new Map([
  ['Unauthorized', 401],
  ['Forbidden', 403],
  ['RequestEntityTooLarge', 413],
]);

/** The text is that of a 403, whatever the reason: https://pkg.go.dev/k8s.io/apiserver/pkg/admission#NewForbidden */
function refusal({ resource, name, object }: ReviewedWrite, { message, reason }: PolicyViolation): ApiError {
  const shown = name || object?.metadata.name || 'Unknown';
  const { status } = forbiddenError(resource, shown, message, [{ reason: '', message }]);
  return new ApiError({ ...status, reason, code: codes.get(reason) ?? 422 });
}

// Calls the stored webhooks: mutating ones in sequence, validating ones in parallel.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#response

interface Webhooks extends ReviewPorts {
  readonly store: SandboxStore;
}

async function callValidatingWebhooks(webhooks: Webhooks, write: ReviewedWrite): Promise<void> {
  const all = webhooksOf(webhooks.store, 'validatingwebhookconfigurations');
  const asked = all.filter((webhook) => isCalled(webhooks, webhook, write));
  const outcomes = await Promise.allSettled(asked.map((webhook) => callOneWebhook(webhooks, webhook, write)));
  const refused = outcomes.find((outcome) => outcome.status === 'rejected');
  if (refused !== undefined) throw refused.reason;
}

/**
 * Webhooks with `reinvocationPolicy: IfNeeded` are called once more when a later webhook has changed the object:
 * https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#reinvocation-policy
 */
async function callMutatingWebhooks(
  webhooks: Webhooks,
  write: ReviewedWrite,
): Promise<KubeObject | undefined> {
  const all = webhooksOf(webhooks.store, 'mutatingwebhookconfigurations');
  let waiting = new Set<Webhook>();
  let again = new Set<Webhook>();
  let { object } = write;
  for (const isFirst of [true, false]) {
    for (const webhook of all) {
      const present = { ...write, object };
      if (!(isFirst || again.has(webhook)) || !isCalled(webhooks, webhook, present)) continue;
      const changed = await mutatedBy(webhooks, webhook, present);
      if (!isDeepStrictEqual(changed, object)) {
        again = again.union(waiting);
        waiting = new Set();
      }
      object = changed;
      if (webhook.reinvocationPolicy === 'IfNeeded') waiting.add(webhook);
    }
  }
  return object;
}

function isCalled(webhooks: Webhooks, webhook: Webhook, write: ReviewedWrite): boolean {
  if (!matchesWebhook(webhooks.store, webhook, write)) return false;
  const outcome = matchConditionsHold(webhook, bindingsOf(write));
  if (typeof outcome === 'boolean') return outcome;
  if (webhook.failurePolicy === 'Ignore') return false;
  throw forbiddenError(write.resource, write.name, outcome);
}

/** A patch that does not apply is an error whatever the failurePolicy. */
async function mutatedBy(webhooks: Webhooks, webhook: Webhook, write: ReviewedWrite) {
  const patch = await callOneWebhook(webhooks, webhook, write);
  if (patch.length === 0 || write.object === undefined) return write.object;
  try {
    return jsonPatched(write.object, patch);
  } catch (error) {
    throw error instanceof ApiError ? internalServerError(error.message) : error;
  }
}

interface ReviewPorts {
  readonly call: CallWebhook;
  readonly uid: () => string;
}

/**
 * Returns the operations of the webhook's patch. Rejects with an ApiError when the webhook denies the write, or when an error
 * of the call must count.
 */
async function callOneWebhook(
  ports: ReviewPorts,
  webhook: Webhook,
  write: ReviewedWrite,
): Promise<readonly unknown[]> {
  try {
    const response = await responseOf(ports, webhook, write);
    const warnings = ownMember(response, 'warnings');
    for (const warning of Array.isArray(warnings) ? warnings : []) write.warn(String(warning));
    if (response['allowed'] !== true) throw denial(webhook.name, response['status']);
    return patchOf(response);
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error;
    if (webhook.failurePolicy === 'Ignore' && !write.signal.aborted) return [];
    throw internalServerError(`failed calling webhook "${webhook.name}": ${error.message}`);
  }
}

function internalServerError(why: string): ApiError {
  const details = { causes: [{ reason: '', message: why }] };
  const message = `Internal error occurred: ${why}`;
  return new ApiError({ code: 500, reason: 'InternalError', message, details });
}

async function responseOf(ports: ReviewPorts, webhook: Webhook, write: ReviewedWrite): Promise<JsonObject> {
  const uid = ports.uid();
  const { object = null, oldObject = null, signal } = write;
  const request = { uid, ...admissionRequest(write), object, oldObject };
  const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request };
  const { clientConfig, timeoutSeconds: seconds = 10 } = webhook;
  const answer = await ports.call(clientConfig, review, { seconds, signal });
  const response = ownMember(answer, 'response');
  if (!isJsonObject(response)) throw invalidResponse('webhook response was absent');
  if (response['uid'] !== uid) {
    throw invalidResponse(`expected response.uid="${uid}", got ${JSON.stringify(response['uid'] ?? '')}`);
  }
  if (['kind', 'apiVersion'].some((field) => ownMember(answer, field) !== ownMember(review, field))) {
    throw invalidResponse('expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview');
  }
  return response;
}

function invalidResponse(why: string): WebhookCallError {
  return new WebhookCallError(`received invalid webhook response: ${why}`);
}

function patchOf({ patch: encoded, patchType }: JsonObject): readonly unknown[] {
  if (encoded === undefined && patchType === undefined) return [];
  if (patchType !== 'JSONPatch')
    throw new WebhookCallError(`unsupported patch type ${JSON.stringify(patchType ?? '')}`);
  try {
    const patch: unknown = JSON.parse(Buffer.from(String(encoded), 'base64').toString());
    if (Array.isArray(patch)) return patch;
  } catch {
    // A text that is not JSON is not a patch.
  }
  throw new WebhookCallError('received undecodable patch in webhook response');
}

/** https://pkg.go.dev/k8s.io/apiserver/pkg/admission/plugin/webhook/errors#ToStatusErr */
function denial(webhook: string, status: unknown): ApiError {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- passed on to the client unread
  const {
    code,
    reason = '',
    message = reason,
    details,
  } = (isJsonObject(status) ? status : {}) as Partial<ErrorStatus>;
  const isRefusal = typeof code === 'number' && code >= 400 && code < 600;
  return new ApiError({
    code: isRefusal ? code : 400,
    reason,
    message: `admission webhook "${webhook}" denied the request${message === '' ? ' without explanation' : `: ${message}`}`,
    ...(details === undefined ? {} : { details }),
  });
}

// Calls the stored webhooks: mutating ones in sequence, validating ones in parallel.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#response
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../base/kube-object.ts';
import { ApiError, forbiddenError, type ErrorStatus } from '../api-error.ts';
import { jsonPatched } from '../patch/json-patch.ts';
import type { SandboxStore } from '../store.ts';
import { bindingsOf, type ReviewedWrite, admissionRequest } from './reviewed-write.ts';
import { webhooksOf, type Webhook } from './configurations.ts';
import { matchesWebhook } from './matching.ts';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { WebhookCallError, type CallWebhook } from './webhook-call.ts';
import { matchConditionsHold } from './expressions.ts';

interface Webhooks extends ReviewPorts {
  readonly store: SandboxStore;
}

export async function callValidatingWebhooks(webhooks: Webhooks, write: ReviewedWrite): Promise<void> {
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
export async function callMutatingWebhooks(
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

export interface ReviewPorts {
  readonly call: CallWebhook;
  readonly uid: () => string;
}

/**
 * Returns the operations of its patch. Rejects with an ApiError when the webhook denies, or when its error must
 * count.
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

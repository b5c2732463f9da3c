// Asks one webhook, and understands what it answers.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#response
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { ApiError, type ErrorStatus } from '../api-error.ts';
import { admissionRequest, type ReviewedWrite } from './reviewed-write.ts';
import type { Webhook } from './configurations.ts';
import { WebhookCallError, type CallWebhook } from './webhook-call.ts';

export interface ReviewPorts {
  readonly call: CallWebhook;
  readonly uid: () => string;
}

/** The operations of its patch. Rejects with an ApiError when it denies, or fails and must not. */
export async function callOneWebhook(
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

export function internalServerError(why: string): ApiError {
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
    // No JSON is no patch either.
  }
  throw new WebhookCallError('received undecodable patch in webhook response');
}

/** https://pkg.go.dev/k8s.io/apiserver/pkg/admission/plugin/webhook/errors#ToStatusErr */
function denial(webhook: string, status: unknown): ApiError {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- passed on to the client, and read by nobody here
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

// Asks the webhooks that are stored: those that change objects one after the other, all that judge side by side.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../base/kube-object.ts';
import { ApiError, forbiddenError } from '../api-error.ts';
import { jsonPatched } from '../patch/json-patch.ts';
import type { SandboxStore } from '../store/store.ts';
import { bindingsOf, type ReviewedWrite } from './reviewed-write.ts';
import { webhooksOf, type Webhook } from './configurations.ts';
import { matchConditionsHold } from './conditions.ts';
import { matchesWebhook } from './matching.ts';
import { callOneWebhook, internalServerError, type ReviewPorts } from './webhook-review.ts';

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
 * Who asks for it is asked once more when somebody later has changed the object:
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

/** A patch that does not fit is refused whatever the failurePolicy. */
async function mutatedBy(webhooks: Webhooks, webhook: Webhook, write: ReviewedWrite) {
  const patch = await callOneWebhook(webhooks, webhook, write);
  if (patch.length === 0 || write.object === undefined) return write.object;
  try {
    return jsonPatched(write.object, patch);
  } catch (error) {
    throw error instanceof ApiError ? internalServerError(error.message) : error;
  }
}

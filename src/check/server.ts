// Asks the API server for its version, and whether it asks the webhook.
import { apiVersion, group } from '../schema/names.ts';
import { providerResources } from '../policy/terms/provider-id.ts';
import { ownMember } from '../base/json.ts';
import { KubeError } from '../base/kube-error.ts';
import type { ResourceAttributes } from '../kube/access-review.ts';
import { malformedAnswer } from '../kube/http/answers.ts';
import type { KubeClient } from '../kube/http/client.ts';
import { resourcePath } from '../kube/http/https-client.ts';
import type { Seen } from './findings.ts';

/** The guard consists of ValidatingAdmissionPolicies, which are stable since then. */
const oldestMinor = 30;

/** Rejects with a KubeError. */
export async function versionSeen(
  client: Pick<KubeClient, 'request'>,
  programVersion: string,
): Promise<Seen> {
  const version = await client.request({ method: 'GET', path: '/version' });
  const [major = 0, minor = 0] = ['major', 'minor'].map((key) =>
    Number.parseInt(String(ownMember(version, key)), 10),
  );
  // A proxy can answer with any JSON.
  if (Number.isNaN(major) || Number.isNaN(minor)) throw malformedAnswer();
  const details = [`Kubernetes ${major}.${minor}, and this program is Reeve ${programVersion}`];
  if (major > 1 || minor >= oldestMinor) return { details };
  const problem = `it is Kubernetes ${major}.${minor}, and Reeve needs 1.${oldestMinor} or newer: upgrade the cluster`;
  return { problems: [problem], details };
}

/** Only the webhook can see that the expression does not compile. Neither the schema nor the guard refuses it. */
const refusedBinding = {
  apiVersion,
  kind: 'SecurityIntentBinding',
  metadata: { name: 'reeve-check' },
  spec: { intents: ['reeve-check'], workloads: { cel: ['labels.'] } },
};

/** A binding in the namespace of the install has no effect, so the right to create one is harmless. */
export function rightToReach(namespace: string): ResourceAttributes {
  return { verb: 'create', group, resource: providerResources.SecurityIntentBinding, namespace };
}

const advice = 'see the log of the webhook, its Pods, its Service, and any NetworkPolicy before it';

/**
 * Sends an invalid binding as a dry run: only an answer of the webhook proves that API servers reach it and trust its
 * certificate. Rejects with a KubeError when this account may not create bindings, or another webhook or a
 * ValidatingAdmissionPolicy refuses the binding.
 */
export async function reachProblems(
  client: Pick<KubeClient, 'request'>,
  namespace: string,
): Promise<readonly string[]> {
  try {
    const path = resourcePath({ apiVersion, plural: providerResources.SecurityIntentBinding, namespace });
    await client.request({ method: 'POST', path, query: { dryRun: 'All' }, body: refusedBinding });
    return [`the API server stores bindings without asking the webhook: ${advice}`];
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const { code, reason, refusal } = error;
    if (refusal?.by === 'webhook' && refusal.name?.endsWith(`.${group}`) === true) return [];
    if (code === 403 || refusal?.by === 'webhook' || refusal?.by === 'policy') throw error;
    return [`the API server cannot ask the webhook (${code} ${reason}): ${advice}`];
  }
}

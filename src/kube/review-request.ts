// Puts a question about rights to the API server, and reads its answer: yes, no, or that nobody can say.
import { ownMember } from '../base/json.ts';
import type { JsonObject } from '../base/json.ts';
import { KubeError } from '../base/kube-error.ts';
import type { KubeClient, KubeRequest } from './http/client.ts';
import { resourcePath } from './http/resource-paths.ts';

export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Left out: the right to all of them. */
  readonly name?: string;
  /** Left out: in all namespaces, or cluster-scoped. */
  readonly namespace?: string;
  readonly subresource?: string;
}

/** `unknown`: nobody can say. */
export type RightAnswer = 'yes' | 'no' | 'unknown';

/** The API server waits no longer for a webhook of ours, so an answer after that helps nobody. */
const timeoutMs = 5000;

/** `who`: the fields of the spec that say whose right it is; none for one's own. Never rejects. */
export async function askForRight(
  client: KubeClient,
  kind: 'SubjectAccessReview' | 'SelfSubjectAccessReview',
  who: JsonObject,
  right: Right,
): Promise<RightAnswer> {
  const apiVersion = 'authorization.k8s.io/v1';
  const { verb, group, resource, name, namespace, subresource } = right;
  const resourceAttributes = { verb, group, resource, name, namespace, subresource };
  const request: KubeRequest = {
    method: 'POST',
    path: resourcePath({ apiVersion, plural: `${kind.toLowerCase()}s` }),
    body: { apiVersion, kind, spec: { ...who, resourceAttributes } },
    timeoutMs,
  };
  try {
    return answerIn(await client.request(request));
  } catch (error) {
    if (!isUnanswered(error)) return 'unknown';
  }
  // The client sends no POST twice. This one changes nothing, and a closed connection must not refuse anybody.
  try {
    return answerIn(await client.request(request));
  } catch {
    return 'unknown';
  }
}

function isUnanswered(error: unknown): boolean {
  return error instanceof KubeError && ['ECONNRESET', 'EPIPE'].includes(error.reason);
}

function answerIn(review: JsonObject): RightAnswer {
  const status = ownMember(review, 'status');
  const allowed = ownMember(status, 'allowed');
  if (allowed === true) return 'yes';
  const isDoubtful = Boolean(ownMember(status, 'evaluationError'));
  return allowed === false && !isDoubtful ? 'no' : 'unknown';
}

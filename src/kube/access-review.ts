// Asks the API server whether a user or our own account has a right, and caches the answers about users.
import { createHash } from 'node:crypto';
import { abortable, SingleFlight } from '../base/abort.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { ownMember, type JsonObject } from '../base/json.ts';
import { KubeError } from '../base/kube-error.ts';
import type { KubeClient, KubeRequest } from './http/client.ts';
import { resourcePath } from './http/https-client.ts';

/** The user whose right is in question. */
export interface Caller {
  readonly username: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Undefined asks for the right to objects of any name. */
  readonly name?: string;
  /** Undefined for all namespaces, or for a cluster-scoped resource. */
  readonly namespace?: string;
  readonly subresource?: string;
}

/** `unknown`: the API server gave no answer, or could not evaluate all its authorizers. */
type RightAnswer = 'yes' | 'no' | 'unknown';

export interface AccessReviews {
  /** Rejects only when the signal aborts, and then with its reason. */
  mayDo(caller: Caller, right: ResourceAttributes, signal: AbortSignal): Promise<RightAnswer>;
}

interface SelfReviews {
  /** Rejects only when the signal aborts, and then with its reason. */
  mayDo(right: ResourceAttributes, signal: AbortSignal): Promise<RightAnswer>;
}

const cachedMs: Readonly<Record<'yes' | 'no', number>> = { yes: 10_000, no: 1000 };
const maxCached = 4096;

/** https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/ */
export function createAccessReviewer(
  client: KubeClient,
  clock: Pick<Clock, 'monotonic'> = systemClock,
): AccessReviews {
  return new CachedReviewer(client, clock);
}

/**
 * Every authenticated user may ask about its own rights.
 * https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1/
 */
export function createSelfReviewer(client: KubeClient): SelfReviews {
  return {
    mayDo: async (right, signal) =>
      await abortable(askForRight(client, 'SelfSubjectAccessReview', {}, right), signal),
  };
}

class CachedReviewer implements AccessReviews {
  readonly #client: KubeClient;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** A Map keeps the order of insertion, so the first key is the oldest. */
  readonly #cache = new Map<string, { readonly answer: RightAnswer; readonly until: number }>();
  readonly #asking = new SingleFlight<RightAnswer>();

  constructor(client: KubeClient, clock: Pick<Clock, 'monotonic'>) {
    this.#client = client;
    this.#clock = clock;
  }

  async mayDo(caller: Caller, right: ResourceAttributes, signal: AbortSignal): Promise<RightAnswer> {
    const key = keyOf(caller, right);
    const cached = this.#cache.get(key);
    if (cached !== undefined && this.#clock.monotonic() < cached.until) return cached.answer;
    return await this.#asking.run(key, () => this.#ask(key, caller, right), signal);
  }

  async #ask(key: string, caller: Caller, right: ResourceAttributes): Promise<RightAnswer> {
    const askedAt = this.#clock.monotonic();
    this.#cache.delete(key);
    const { username: user, groups, uid, extra } = caller;
    const answer = await askForRight(
      this.#client,
      'SubjectAccessReview',
      { user, groups, uid, extra },
      right,
    );
    if (answer !== 'unknown') this.#keep(key, answer, askedAt + cachedMs[answer]);
    return answer;
  }

  #keep(key: string, answer: RightAnswer, until: number): void {
    const [oldest] = this.#cache.keys();
    if (this.#cache.size >= maxCached && oldest !== undefined) this.#cache.delete(oldest);
    this.#cache.set(key, { answer, until });
  }
}

/** Returns a hash, because a user can have thousands of groups. */
function keyOf({ username, groups, uid, extra = {} }: Caller, right: ResourceAttributes): string {
  const { verb, group, resource, name, namespace, subresource } = right;
  const attributes = Object.entries(extra).sort(([one], [other]) => (one < other ? -1 : 1));
  const asked = [username, groups, uid, attributes, verb, group, resource, name, namespace, subresource];
  return createHash('sha256').update(JSON.stringify(asked)).digest('base64');
}

/** The API server waits no longer for our webhook, so a later answer is useless. */
const timeoutMs = 5000;

/** `user` holds the fields of the spec that name the user. Empty for our own account. Never rejects. */
async function askForRight(
  client: KubeClient,
  kind: 'SubjectAccessReview' | 'SelfSubjectAccessReview',
  user: JsonObject,
  right: ResourceAttributes,
): Promise<RightAnswer> {
  const apiVersion = 'authorization.k8s.io/v1';
  const { verb, group, resource, name, namespace, subresource } = right;
  const resourceAttributes = { verb, group, resource, name, namespace, subresource };
  const request: KubeRequest = {
    method: 'POST',
    path: resourcePath({ apiVersion, plural: `${kind.toLowerCase()}s` }),
    body: { apiVersion, kind, spec: { ...user, resourceAttributes } },
    timeoutMs,
  };
  try {
    return answerIn(await client.request(request));
  } catch (error) {
    if (!isConnectionClosed(error)) return 'unknown';
  }
  // The client repeats no POST. A review changes nothing, and a closed connection must not refuse a user.
  try {
    return answerIn(await client.request(request));
  } catch {
    return 'unknown';
  }
}

function isConnectionClosed(error: unknown): boolean {
  return error instanceof KubeError && ['ECONNRESET', 'EPIPE'].includes(error.reason);
}

function answerIn(review: JsonObject): RightAnswer {
  const status = ownMember(review, 'status');
  const allowed = ownMember(status, 'allowed');
  if (allowed === true) return 'yes';
  const isIncomplete = Boolean(ownMember(status, 'evaluationError'));
  return allowed === false && !isIncomplete ? 'no' : 'unknown';
}

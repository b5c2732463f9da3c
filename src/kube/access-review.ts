// Asks the API server whether somebody holds a right, and remembers the answer for a moment.
//
// https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/
import { createHash } from 'node:crypto';
import { ownMember } from '../api/json.ts';
import type { JsonObject } from '../api/json.ts';
import { KubeError } from '../api/kube-error.ts';
import type { KubeClient, KubeRequest } from './client.ts';
import { monotonicClock } from './clock.ts';
import type { MonotonicClock } from './clock.ts';
import { resourcePath } from './resource-paths.ts';
import { SingleFlight } from './single-flight.ts';

export interface Person {
  readonly username: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

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

export interface AccessReviews {
  /** Rejects only when the signal aborts, and then with its reason. */
  mayDo(person: Person, right: Right, signal: AbortSignal): Promise<RightAnswer>;
}

const rememberedMs: Readonly<Record<'yes' | 'no', number>> = { yes: 10_000, no: 1000 };
const mostRemembered = 4096;
/** The API server waits no longer for a webhook of ours, so an answer after that helps nobody. */
const timeoutMs = 5000;
const path = resourcePath({ apiVersion: 'authorization.k8s.io/v1', plural: 'subjectaccessreviews' });

export function createAccessReviewer(
  client: KubeClient,
  clock: MonotonicClock = monotonicClock,
): AccessReviews {
  return new CachedReviewer(client, clock);
}

class CachedReviewer implements AccessReviews {
  readonly #client: KubeClient;
  readonly #clock: MonotonicClock;
  /** The oldest first, for that is the order in which a Map keeps its keys. */
  readonly #remembered = new Map<string, { readonly answer: RightAnswer; readonly until: number }>();
  readonly #asking = new SingleFlight<RightAnswer>();

  constructor(client: KubeClient, clock: MonotonicClock) {
    this.#client = client;
    this.#clock = clock;
  }

  async mayDo(person: Person, right: Right, signal: AbortSignal): Promise<RightAnswer> {
    const key = keyOf(person, right);
    const remembered = this.#remembered.get(key);
    if (remembered !== undefined && this.#clock.monotonic() < remembered.until) return remembered.answer;
    return await this.#asking.run(key, () => this.#ask(key, person, right), signal);
  }

  async #ask(key: string, person: Person, right: Right): Promise<RightAnswer> {
    const askedAt = this.#clock.monotonic();
    this.#remembered.delete(key);
    const answer = await ask(this.#client, reviewOf(person, right));
    if (answer !== 'unknown') this.#remember(key, answer, askedAt + rememberedMs[answer]);
    return answer;
  }

  #remember(key: string, answer: RightAnswer, until: number): void {
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size >= mostRemembered && oldest !== undefined) this.#remembered.delete(oldest);
    this.#remembered.set(key, { answer, until });
  }
}

async function ask(client: KubeClient, body: JsonObject): Promise<RightAnswer> {
  const request: KubeRequest = { method: 'POST', path, body, timeoutMs };
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

function reviewOf(person: Person, right: Right): JsonObject {
  const { username: user, groups, uid, extra } = person;
  const { verb, group, resource, name, namespace, subresource } = right;
  const resourceAttributes = { verb, group, resource, name, namespace, subresource };
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, groups, uid, extra, resourceAttributes },
  };
}

/** A person can have thousands of groups, so it is a hash that is kept. */
function keyOf({ username, groups, uid, extra = {} }: Person, right: Right): string {
  const { verb, group, resource, name, namespace, subresource } = right;
  const attributes = Object.entries(extra).sort(([one], [other]) => (one < other ? -1 : 1));
  const asked = [username, groups, uid, attributes, verb, group, resource, name, namespace, subresource];
  return createHash('sha256').update(JSON.stringify(asked)).digest('base64');
}

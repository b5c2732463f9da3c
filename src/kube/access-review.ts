// Asks the API server whether somebody holds a right, and remembers the answer for a moment.
//
// https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/
import { createHash } from 'node:crypto';
import type { KubeClient } from './http/client.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { askForRight, type Right, type RightAnswer } from './review-request.ts';
import { SingleFlight } from '../base/single-flight.ts';

export interface Person {
  readonly username: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export type { Right, RightAnswer };

export interface AccessReviews {
  /** Rejects only when the signal aborts, and then with its reason. */
  mayDo(person: Person, right: Right, signal: AbortSignal): Promise<RightAnswer>;
}

const rememberedMs: Readonly<Record<'yes' | 'no', number>> = { yes: 10_000, no: 1000 };
const mostRemembered = 4096;
export function createAccessReviewer(
  client: KubeClient,
  clock: Pick<Clock, 'monotonic'> = systemClock,
): AccessReviews {
  return new CachedReviewer(client, clock);
}

class CachedReviewer implements AccessReviews {
  readonly #client: KubeClient;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The oldest first, for that is the order in which a Map keeps its keys. */
  readonly #remembered = new Map<string, { readonly answer: RightAnswer; readonly until: number }>();
  readonly #asking = new SingleFlight<RightAnswer>();

  constructor(client: KubeClient, clock: Pick<Clock, 'monotonic'>) {
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
    const { username: user, groups, uid, extra } = person;
    const who = { user, groups, uid, extra };
    const answer = await askForRight(this.#client, 'SubjectAccessReview', who, right);
    if (answer !== 'unknown') this.#remember(key, answer, askedAt + rememberedMs[answer]);
    return answer;
  }

  #remember(key: string, answer: RightAnswer, until: number): void {
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size >= mostRemembered && oldest !== undefined) this.#remembered.delete(oldest);
    this.#remembered.set(key, { answer, until });
  }
}

/** A person can have thousands of groups, so it is a hash that is kept. */
function keyOf({ username, groups, uid, extra = {} }: Person, right: Right): string {
  const { verb, group, resource, name, namespace, subresource } = right;
  const attributes = Object.entries(extra).sort(([one], [other]) => (one < other ? -1 : 1));
  const asked = [username, groups, uid, attributes, verb, group, resource, name, namespace, subresource];
  return createHash('sha256').update(JSON.stringify(asked)).digest('base64');
}

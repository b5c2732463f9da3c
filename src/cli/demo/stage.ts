// What the scenes of the tour act with: people who send requests, and the feed of what comes of them.
import { KubeError } from '../../base/kube-error.ts';
import type { JsonObject } from '../../base/json.ts';
import type { KubeClient, KubeRequest } from '../../kube/http/client.ts';
import type { RunningUp } from '../../app/up.ts';
import type { FeedEvent } from '../feed-event.ts';

/** Who acts in the tour. */
export const people = {
  /** Writes the policies. */
  ann: { username: 'ann', groups: ['system:masters', 'system:authenticated'] },
  /** Of an app team: what he may do says manifests/samples/first-steps/people.yaml, and the policy gives his group. */
  bob: { username: 'bob', groups: ['app-teams', 'ad-kubernetes-app-shop', 'system:authenticated'] },
  /** An administrator in an emergency. */
  eve: { username: 'eve', groups: ['system:masters', 'reeve:break-glass', 'system:authenticated'] },
} as const;

export type Person = keyof typeof people;

/** How a request ended: `code` is 200 for whatever was done. */
export interface Outcome {
  readonly code: number;
  readonly body: JsonObject;
}

/** What it needs of the program. */
export type StageUp = Pick<RunningUp, 'clientFor'>;

export class Stage {
  readonly #up: StageUp;
  readonly #pause: () => Promise<void>;
  readonly #clients = new Map<Person, Promise<KubeClient>>();
  /** Of the present scene. */
  #events: FeedEvent[] = [];

  /** `pause`: between two looks at what has not come about yet. */
  constructor(up: StageUp, pause: () => Promise<void>) {
    this.#up = up;
    this.#pause = pause;
  }

  hear(event: FeedEvent): void {
    this.#events.push(event);
  }

  beginScene(): void {
    this.#events = [];
  }

  async ask(person: Person, request: KubeRequest): Promise<Outcome> {
    try {
      return { code: 200, body: await (await this.#client(person)).request(request) };
    } catch (error) {
      if (error instanceof KubeError) return { code: error.code, body: {} };
      throw error;
    }
  }

  /** Whether it comes about: what the reconciler does takes its time, which on a slow machine is a long one. */
  async comes(condition: () => boolean | Promise<boolean>): Promise<boolean> {
    for (let look = 0; look < mostLooks; look += 1) {
      if (await condition()) return true;
      await this.#pause();
    }
    return false;
  }

  async hears(isMeant: (event: FeedEvent) => boolean): Promise<boolean> {
    return await this.comes(() => this.#events.some(isMeant));
  }

  async #client(person: Person): Promise<KubeClient> {
    const known = this.#clients.get(person) ?? this.#up.clientFor(people[person]);
    this.#clients.set(person, known);
    return await known;
  }
}

const mostLooks = 1500;

// What the scenes of the tour act with: people who send requests, and the feed of what comes of them.
import { KubeError } from '../../base/kube-error.ts';
import type { JsonObject } from '../../base/json.ts';
import type { KubeClient, KubeRequest } from '../../kube/http/client.ts';
import type { RunningUp } from '../../app/up.ts';
import type { FeedEvent } from '../feed.ts';
import { apiVersion } from '../../api/names.ts';

/** Who acts in the tour. */
export const people = {
  /** Writes the policies. */
  ann: { username: 'ann', groups: ['system:masters', 'system:authenticated'] },
  /** Of an app team: what he may do says manifests/samples/first-steps/people.yaml, and the policy gives his group. */
  bob: { username: 'bob', groups: ['app-teams', 'ad-kubernetes-app-shop', 'system:authenticated'] },
  /** An administrator in an emergency. */
  eve: { username: 'eve', groups: ['system:masters', 'reeve:break-glass', 'system:authenticated'] },
} as const;

export type DemoPerson = keyof typeof people;

/** How a request ended: `code` is 200 for whatever was done. */
export interface DemoReply {
  readonly code: number;
  readonly body: JsonObject;
}

/** What it needs of the program. */
export type DemoCluster = Pick<RunningUp, 'clientFor'>;

export class DemoSession {
  readonly #up: DemoCluster;
  readonly #pause: () => Promise<void>;
  readonly #clients = new Map<DemoPerson, Promise<KubeClient>>();
  /** Of the present scene. */
  #events: FeedEvent[] = [];

  /** `pause`: between two looks at what has not come about yet. */
  constructor(up: DemoCluster, pause: () => Promise<void>) {
    this.#up = up;
    this.#pause = pause;
  }

  hear(event: FeedEvent): void {
    this.#events.push(event);
  }

  beginScene(): void {
    this.#events = [];
  }

  async ask(person: DemoPerson, request: KubeRequest): Promise<DemoReply> {
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

  async #client(person: DemoPerson): Promise<KubeClient> {
    const known = this.#clients.get(person) ?? this.#up.clientFor(people[person]);
    this.#clients.set(person, known);
    return await known;
  }
}

const mostLooks = 1500;

export const namespace = 'app-shop';
export const otherNamespace = 'tools';
export const namespacePath = `/api/v1/namespaces/${namespace}`;
export const copyPath = `${namespacePath}/secrets/registry`;
export const passwordPath = `${namespacePath}/secrets/orders-db`;
export const quotaPath = `${namespacePath}/resourcequotas/apps`;
export const bindingPath = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings/ad-kubernetes-${namespace}`;
export const sourcePath = '/api/v1/namespaces/reeve-shared/secrets/registry';
export const policyPath = `/apis/${apiVersion}/namespacepolicies/apps`;

export function read(path: string): KubeRequest {
  return { method: 'GET', path };
}

export function createNamespace(name: string, labels: Readonly<Record<string, string>>): KubeRequest {
  const metadata = { name, labels };
  return {
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata },
  };
}

export function createConfigMap(name: string): KubeRequest {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { color: 'green' } };
  return { method: 'POST', path: `${namespacePath}/configmaps`, body };
}

export function patchRequest(path: string, body: JsonObject): KubeRequest {
  return { method: 'PATCH', path, body, contentType: 'application/merge-patch+json' };
}

export function deleteRequest(path: string): KubeRequest {
  return { method: 'DELETE', path };
}

// Sends the requests of the demo as its people, and records the events of the feed that follow.
import { KubeError } from '../../base/kube-error.ts';
import type { JsonObject } from '../../base/json.ts';
import type { KubeClient, KubeRequest } from '../../kube/http/client.ts';
import type { RunningUp } from '../../app/up.ts';
import type { FeedEvent } from '../feed.ts';
import { apiVersion } from '../../schema/names.ts';

/** The people of the demo. */
export const people = {
  /** Writes the policies. */
  ann: { username: 'ann', groups: ['system:masters', 'system:authenticated'] },
  /** Works in an app team. manifests/samples/first-steps/people.yaml and the policy grant the rights of his groups. */
  bob: { username: 'bob', groups: ['app-teams', 'ad-kubernetes-app-shop', 'system:authenticated'] },
  /** Is an administrator in an emergency. */
  eve: { username: 'eve', groups: ['system:masters', 'reeve:break-glass', 'system:authenticated'] },
} as const;

export type DemoPerson = keyof typeof people;

/** The answer to a request. `code` is 200 for every request that succeeded. */
export interface DemoReply {
  readonly code: number;
  readonly body: JsonObject;
}

export type DemoCluster = Pick<RunningUp, 'clientFor'>;

const maxAttempts = 1500;

export class DemoSession {
  readonly #cluster: DemoCluster;
  readonly #retryDelay: () => Promise<void>;
  readonly #clients = new Map<DemoPerson, Promise<KubeClient>>();
  /** The events of the current scene. */
  #events: FeedEvent[] = [];

  constructor(cluster: DemoCluster, retryDelay: () => Promise<void>) {
    this.#cluster = cluster;
    this.#retryDelay = retryDelay;
  }

  record(event: FeedEvent): void {
    this.#events.push(event);
  }

  startScene(): void {
    this.#events = [];
  }

  async send(person: DemoPerson, request: KubeRequest): Promise<DemoReply> {
    try {
      return { code: 200, body: await (await this.#client(person)).request(request) };
    } catch (error) {
      if (error instanceof KubeError) return { code: error.code, body: {} };
      throw error;
    }
  }

  /** Returns whether the condition becomes true. The reconciler needs some time, on a slow machine much of it. */
  async eventually(condition: () => boolean | Promise<boolean>): Promise<boolean> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      if (await condition()) return true;
      await this.#retryDelay();
    }
    return false;
  }

  /** Returns whether the current scene gets such an event. */
  async hasEvent(isMatch: (event: FeedEvent) => boolean): Promise<boolean> {
    return await this.eventually(() => this.#events.some(isMatch));
  }

  async #client(person: DemoPerson): Promise<KubeClient> {
    const known = this.#clients.get(person) ?? this.#cluster.clientFor(people[person]);
    this.#clients.set(person, known);
    return await known;
  }
}

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

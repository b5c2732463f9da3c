// The objects that Reeve keeps in the namespaces of the soak, from a list that is refreshed in the background.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiCalls } from './api-calls.ts';
import type { Stored } from './stored.ts';
import type { Random } from './random.ts';

const marked = '?labelSelector=app.kubernetes.io%2Fmanaged-by%3Dreeve';
const places = {
  RoleBinding: { prefix: '/apis/rbac.authorization.k8s.io/v1', resource: 'rolebindings' },
  Secret: { prefix: '/api/v1', resource: 'secrets' },
  ConfigMap: { prefix: '/api/v1', resource: 'configmaps' },
} as const;

export type KeptKind = keyof typeof places;

export interface KeptObject {
  readonly kind: KeptKind;
  readonly path: string;
}

const kinds = Object.keys(places) as readonly KeptKind[];
const everyMs = 3000;

export class KeptObjects {
  readonly #calls: ApiCalls;
  #seen: readonly KeptObject[] = [];

  constructor(calls: ApiCalls) {
    this.#calls = calls;
  }

  /** Picks an object that may no longer exist. The choice always uses exactly one random number. */
  pick(random: Random): KeptObject {
    const choice = random.next();
    const kept = this.#seen[Math.floor(choice * this.#seen.length)];
    return kept ?? { kind: 'ConfigMap', path: '/api/v1/namespaces/soak-0/configmaps/settings-0' };
  }

  async lookUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const found = await Promise.all(kinds.map((kind) => this.#look(kind)));
      this.#seen = found.flat();
      await sleep(everyMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #look(kind: KeptKind): Promise<readonly KeptObject[]> {
    const { prefix, resource } = places[kind];
    const { status, body } = await this.#calls.send({
      method: 'GET',
      path: `${prefix}/${resource}${marked}`,
    });
    if (status !== 200) return [];
    return (body as { readonly items: readonly Stored[] }).items.map(({ metadata: { namespace, name } }) => ({
      kind,
      path: `${prefix}/namespaces/${namespace}/${resource}/${name}`,
    }));
  }
}

// Watches the RoleBindings and Secrets of a control plane, and says when an object of a name was seen in so many namespaces.
import type { KubeObject } from '../../../src/base/metadata.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { findApiServer } from '../../../src/kube/auth/find-api-server.ts';
import type { KubeClient } from '../../../src/kube/http/client.ts';
import { createKubeClient } from '../../../src/kube/http/https-client.ts';
import { listWatch } from '../../../src/kube/watch/list-watch.ts';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { prefix } from './plane-objects.ts';

interface Expectation {
  readonly name: string;
  readonly count: number;
  readonly namespaces: Set<string>;
  readonly resolve: () => void;
}

/** The events of one kind in the namespaces with contents. */
export class SeenObjects {
  readonly #waiting = new Set<Expectation>();

  // A list is no event: the watch begins before anything is expected.
  replaced(): void {}

  removed(): void {}

  changed({ metadata: { namespace = '', name } }: KubeObject): void {
    if (!namespace.startsWith(prefix)) return;
    for (const each of this.#waiting) {
      if (each.name !== name) continue;
      each.namespaces.add(namespace);
      if (each.namespaces.size < each.count) continue;
      this.#waiting.delete(each);
      each.resolve();
    }
  }

  /** Resolves when an object of that name has been created or changed in so many namespaces since this call. */
  async expect(name: string, count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (count > 0) this.#waiting.add({ name, count, resolve, namespaces: new Set() });
    else resolve();
    await promise;
  }
}

export interface SeenContents extends Disposable {
  readonly roleBindings: SeenObjects;
  readonly secrets: SeenObjects;
}

export async function seenOn(cluster: ClusterAccess): Promise<SeenContents> {
  const client = createKubeClient(await findApiServer({ kubeconfig: cluster.kubeconfig, environment: {} }));
  const [roleBindings, stopBindings] = await seen(client, '/apis/rbac.authorization.k8s.io/v1/rolebindings');
  const [secrets, stopSecrets] = await seen(client, '/api/v1/secrets');
  return {
    roleBindings,
    secrets,
    [Symbol.dispose]: () => {
      stopBindings();
      stopSecrets();
      client.close();
    },
  };
}

async function seen(client: KubeClient, path: string): Promise<readonly [SeenObjects, () => void]> {
  const objects = new SeenObjects();
  const watch = listWatch(client, { path, metadataOnly: true }, objects, { clock: systemClock });
  await watch.synced;
  return [objects, () => watch.stop()];
}

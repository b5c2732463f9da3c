// Another controller with its own desired state of an object. It sets that state again after each change.
import type { KubeObject } from '../../../src/base/metadata.ts';
import type { KubeClient } from '../../../src/kube/http/client.ts';
import { findApiServer } from '../../../src/kube/auth/find-api-server.ts';
import { createKubeClient } from '../../../src/kube/http/https-client.ts';
import { listWatch, type WatchHealth } from '../../../src/kube/watch/list-watch.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';

interface NamespacedRef {
  readonly namespace: string;
  readonly name: string;
}

export class WritingRival {
  readonly #client: KubeClient;
  readonly #watch: WatchHealth;
  readonly #writes = new Set<Promise<unknown>>();

  private constructor(client: KubeClient, { namespace, name }: NamespacedRef) {
    this.#client = client;
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const object = `${path}/${name}`;
    const revert = (seen: KubeObject): void => this.#revert(object, seen);
    this.#watch = listWatch(
      client,
      { path, fieldSelector: `metadata.name=${name}` },
      { replaced: (all) => all.forEach(revert), changed: revert, removed: () => undefined },
      { clock: systemClock },
    );
  }

  /** Keeps `by: rival` in that ConfigMap. The guard lets only break-glass users through. */
  static async begin(cluster: ClusterAccess, ref: NamespacedRef): Promise<WritingRival> {
    const groups = ['system:masters', 'reeve:break-glass'];
    const kubeconfig = await cluster.clientKubeconfig('rival', groups);
    const client = createKubeClient(await findApiServer({ kubeconfig, environment: {} }));
    return new WritingRival(client, ref);
  }

  /** Returns true when the object has the data of this rival. */
  hasIts(object: object): boolean {
    return (object as { readonly data?: { readonly by?: string } }).data?.by === 'rival';
  }

  async giveUp(): Promise<void> {
    this.#watch.stop();
    await this.#watch.stopped;
    await Promise.all(this.#writes);
    this.#client.close();
  }

  #revert(path: string, seen: KubeObject): void {
    if (this.hasIts(seen)) return;
    // The request names the version that was read. If that version is outdated, the watch reports the newer one.
    const body = { ...seen, data: { by: 'rival' } };
    const write = this.#client.request({ method: 'PUT', path, body }).catch(() => undefined);
    this.#writes.add(write);
  }
}

// Distributes one Secret to many namespaces of a real control plane: by a share of Reeve, and by a raw loop of the same writes.
import type { KubeObject } from '../../src/base/metadata.ts';
import type { KubeClient } from '../../src/kube/http/client.ts';
import { findApiServer } from '../../src/kube/auth/find-api-server.ts';
import { createKubeClient } from '../../src/kube/http/https-client.ts';
import { listWatch, type WatchHealth } from '../../src/kube/watch/list-watch.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import { inParallel } from './in-parallel.ts';
import { until } from './until.ts';

const namespaceCount = 500;
const prefix = 'fo-';
const sourceNamespace = 'reeve-shared';
const crd = '/apis/reeve.dev/v1alpha1';

/** The data of the Secret, as large as a common registry credential. */
const data = {
  '.dockerconfigjson': Buffer.from(JSON.stringify({ auths: { r: { auth: 'x'.repeat(200) } } })).toString(
    'base64',
  ),
};
const type = 'kubernetes.io/dockerconfigjson';

export class FanOut {
  readonly count = namespaceCount;
  readonly #client: KubeClient;
  readonly #watch: WatchHealth;
  readonly #counter: SecretCounter;

  private constructor(client: KubeClient, watch: WatchHealth, counter: SecretCounter) {
    this.#client = client;
    this.#watch = watch;
    this.#counter = counter;
  }

  /** Resolves when the namespaces exist and Reeve has nothing left to do in them. */
  static async prepare(cluster: ClusterAccess): Promise<FanOut> {
    const apiServer = await findApiServer({ kubeconfig: cluster.kubeconfig, environment: {} });
    const client = createKubeClient(apiServer);
    const counter = new SecretCounter();
    const watch = listWatch(client, { path: '/api/v1/secrets', metadataOnly: true }, counter, {
      clock: systemClock,
    });
    await watch.synced;
    const fanOut = new FanOut(client, watch, counter);
    await fanOut.#makeNamespaces();
    return fanOut;
  }

  /** Returns the milliseconds from the request that creates the share until the last copy exists. */
  async share(name: string): Promise<number> {
    await this.#apply(secretOf(sourceNamespace, name));
    const done = this.#counter.expect(name, namespaceCount + 1);
    const began = performance.now();
    await this.#client.request({ method: 'POST', path: `${crd}/secretshares`, body: shareOf(name) });
    await done;
    return performance.now() - began;
  }

  close(): void {
    this.#watch.stop();
    this.#client.close();
  }

  async #makeNamespaces(): Promise<void> {
    // The policy provides an object in each namespace, so that a further object changes nothing in the status of the namespace.
    await this.#client.request({ method: 'POST', path: `${crd}/namespacepolicies`, body: basePolicy });
    await inParallel(namespaceNames(), async (name) => {
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      await this.#client.request({ method: 'POST', path: '/api/v1/namespaces', body });
    });
    let ready = 0;
    await until(
      async () => {
        ready = await this.#countReady();
        return ready === namespaceCount;
      },
      () => `${ready} of ${namespaceCount} namespaces are ready`,
    );
  }

  async #countReady(): Promise<number> {
    const list = (await this.#client.request({ method: 'GET', path: '/api/v1/namespaces' })) as unknown as {
      readonly items: readonly {
        readonly metadata: { readonly name: string };
        readonly status: {
          readonly conditions?: readonly { readonly type: string; readonly reason: string }[];
        };
      }[];
    };
    return list.items.filter(
      ({ metadata, status }) =>
        metadata.name.startsWith(prefix) &&
        status.conditions?.some((each) => each.type === 'reeve.dev/Ready' && each.reason === 'Synced') ===
          true,
    ).length;
  }

  async #apply(secret: KubeObject): Promise<void> {
    const { namespace = '', name = '' } = secret.metadata;
    await this.#client.request({
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}/secrets/${name}`,
      query: { fieldManager: 'raw-loop', force: 'true' },
      contentType: 'application/apply-patch+yaml',
      body: secret,
    });
  }
}

/** Watches Secrets, and counts them by name. */
class SecretCounter {
  readonly #seen = new Map<string, number>();
  #expected: { readonly name: string; readonly count: number; readonly resolve: () => void } | undefined;

  replaced(objects: readonly KubeObject[]): void {
    this.#seen.clear();
    for (const object of objects) this.#add(object, 1);
  }

  changed(object: KubeObject): void {
    this.#add(object, 1);
  }

  removed(object: KubeObject): void {
    this.#add(object, -1);
  }

  /** Resolves once that many Secrets of that name exist. */
  async expect(name: string, count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#expected = { name, count, resolve };
    await promise;
  }

  #add({ metadata }: KubeObject, step: number): void {
    const name = metadata.name ?? '';
    const count = (this.#seen.get(name) ?? 0) + step;
    this.#seen.set(name, count);
    if (this.#expected?.name === name && count >= this.#expected.count) this.#expected.resolve();
  }
}

const basePolicy = {
  apiVersion: 'reeve.dev/v1alpha1',
  kind: 'NamespacePolicy',
  metadata: { name: 'fo-base' },
  spec: {
    match: { names: [`${prefix}*`] },
    contents: {
      resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'base' }, data: { a: 'b' } }],
    },
  },
};

function shareOf(name: string): object {
  return {
    apiVersion: 'reeve.dev/v1alpha1',
    kind: 'SecretShare',
    metadata: { name },
    spec: { source: { namespace: sourceNamespace, name }, targets: { names: [`${prefix}*`] } },
  };
}

function secretOf(namespace: string, name: string): KubeObject {
  const metadata = { name, namespace, labels: { a: 'b' }, annotations: { c: 'd' } };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type, data };
}

function namespaceNames(): readonly string[] {
  return Array.from({ length: namespaceCount }, (_, index) => `${prefix}${index}`);
}

// Secrets as the tests of shares write, change and read them: sources, copies, and those of tenants.
import { mustKubectl } from '../../support/kubectl.ts';
import { until } from '../../support/until.ts';
import { share, type Ref, type StoredObject, type WrittenObject } from './objects.ts';
import type { Stage } from './stage.ts';

export const sourceNamespace = 'reeve-shared';
export const managedLabel = { 'app.kubernetes.io/managed-by': 'reeve' };

export interface StoredSecret extends StoredObject {
  readonly type: string;
  /** In base64. */
  readonly data?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

/** In the namespace of sources, unless another one is given. The values are as they are, not in base64. */
export function secret(
  metadata: WrittenObject['metadata'],
  data: Readonly<Record<string, string | Uint8Array>>,
  rest: Readonly<Record<string, unknown>> = {},
): WrittenObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: sourceNamespace, ...metadata },
    // Makes own members of all keys, `__proto__` too.
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
    ...rest,
  };
}

/** The data of the source with the same name. */
export function shareOf(name: string, targets: object, rest: object = {}): WrittenObject {
  return share(name, { source: { namespace: sourceNamespace, name }, targets, ...rest });
}

export function shareRef(name: string): Ref {
  return { kind: 'SecretShare', name };
}

export function secretRef(namespace: string, name: string): Ref {
  return { kind: 'Secret', namespace, name };
}

export function base64(value: string | Uint8Array): string {
  return Buffer.from(value).toString('base64');
}

interface List<T> {
  readonly items: readonly T[];
}

export class Secrets {
  readonly #stage: Stage;
  readonly #prefix: string;

  constructor(stage: Stage, prefix: string) {
    this.#stage = stage;
    this.#prefix = prefix;
  }

  /** A source with the value `one`, and a share of it. Resolves once the copies are there. */
  async shareInto(name: string, namespaces: readonly string[], rest: object = {}): Promise<void> {
    await this.#stage.apply(secret({ name }, { value: 'one' }), shareOf(name, { names: namespaces }, rest));
    await until(
      async () => (await this.namespacesWith(name)).length === namespaces.length,
      async () => `copies in ${namespaces.join()}, not only in ${(await this.namespacesWith(name)).join()}`,
    );
  }

  /**
   * `kubectl apply` would write the payload into an annotation as well, and so make it part of the metadata. Past the
   * webhook, which may not be there yet.
   */
  async create(...objects: readonly WrittenObject[]): Promise<void> {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    await mustKubectl(['create', '-f', '-'], { ...this.#stage.emergency, input });
  }

  /** Undefined where there is none. */
  async in(namespace: string, name: string): Promise<StoredSecret | undefined> {
    return (await this.#stage.get(secretRef(namespace, name))) as StoredSecret | undefined;
  }

  /** What it has under the key `value`. */
  async value(namespace: string, name: string): Promise<string | undefined> {
    const value = (await this.in(namespace, name))?.data?.['value'];
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
  }

  async uid(namespace: string, name: string): Promise<string | undefined> {
    return (await this.in(namespace, name))?.metadata.uid;
  }

  /** Changes a copy that Reeve keeps, as only an operator with break-glass can. */
  async tamper(namespace: string, name: string, patch: unknown): Promise<void> {
    const what = ['secret', name, '-n', namespace, '--type=merge', `-p=${JSON.stringify(patch)}`];
    await this.#stage.inEmergency('patch', ...what);
  }

  /** Returns those of our namespaces that have a Secret of that name. */
  async namespacesWith(name: string): Promise<readonly string[]> {
    return (await this.allNamespacesWith(name)).filter((namespace) => namespace.startsWith(this.#prefix));
  }

  /** All namespaces of the cluster with a Secret of that name. */
  async allNamespacesWith(name: string): Promise<readonly string[]> {
    const path = `/api/v1/secrets?fieldSelector=metadata.name%3D${name}`;
    const { items } = (await this.#stage.cluster.admin.mustSend('GET', path)) as List<StoredSecret>;
    return items.map(({ metadata }) => metadata.namespace ?? '').sort();
  }

  /** Namespaces of the whole cluster, without terminating ones. */
  async activeNamespaces(): Promise<readonly string[]> {
    const path = '/api/v1/namespaces';
    const { items } = (await this.#stage.cluster.admin.mustSend('GET', path)) as List<StoredObject>;
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name)
      .sort();
  }
}

// Writes, changes and reads Secrets for tests of shares: sources, copies, and Secrets of tenants.
import { mustKubectl } from '../../support/kubectl.ts';
import { until } from '../../support/until.ts';
import { share, type Ref, type StoredObject, type WrittenObject } from './objects.ts';
import type { Stage } from './stage.ts';

export const sourceNamespace = 'reeve-shared';

/** Returns the labels that a copy of the share has from Reeve. */
export function labelsOfCopy(shareName: string): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/managed-by': 'reeve', 'reeve.dev/secretshare': shareName };
}

export interface StoredSecret extends StoredObject {
  readonly type: string;
  /** The values in base64. */
  readonly data?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

/** Returns a Secret, by default in the namespace of sources. The values are plain text, not base64. */
export function secret(
  metadata: WrittenObject['metadata'],
  data: Readonly<Record<string, string | Uint8Array>>,
  rest: Readonly<Record<string, unknown>> = {},
): WrittenObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: sourceNamespace, ...metadata },
    // Object.fromEntries creates an own member for every key, `__proto__` too.
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
    ...rest,
  };
}

/** Returns a share of the source with the same name. */
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

  /** Creates a source with the value `one` and a share of it. Resolves once the copies exist. */
  async shareInto(name: string, namespaces: readonly string[], rest: object = {}): Promise<void> {
    await this.#stage.apply(secret({ name }, { value: 'one' }), shareOf(name, { names: namespaces }, rest));
    await until(
      async () => (await this.namespacesWith(name)).length === namespaces.length,
      async () => `copies in ${namespaces.join()}, not only in ${(await this.namespacesWith(name)).join()}`,
    );
  }

  /**
   * Creates the Secrets without `kubectl apply`, which would also write the payload into an annotation. Bypasses the
   * webhook, which may not run yet.
   */
  async create(...objects: readonly WrittenObject[]): Promise<void> {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    await mustKubectl(['create', '-f', '-'], { ...this.#stage.emergency, input });
  }

  /** Returns the Secret, or undefined when it does not exist. */
  async in(namespace: string, name: string): Promise<StoredSecret | undefined> {
    return (await this.#stage.get(secretRef(namespace, name))) as StoredSecret | undefined;
  }

  /** Returns the value under the key `value`. */
  async value(namespace: string, name: string): Promise<string | undefined> {
    const value = (await this.in(namespace, name))?.data?.['value'];
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
  }

  async uid(namespace: string, name: string): Promise<string | undefined> {
    return (await this.in(namespace, name))?.metadata.uid;
  }

  /** Changes a copy that Reeve keeps. Only an operator with break-glass can do that. */
  async tamper(namespace: string, name: string, patch: unknown): Promise<void> {
    const what = ['secret', name, '-n', namespace, '--type=merge', `-p=${JSON.stringify(patch)}`];
    await this.#stage.inEmergency('patch', ...what);
  }

  /** Returns the namespaces of the test that have a Secret of that name. */
  async namespacesWith(name: string): Promise<readonly string[]> {
    return (await this.allNamespacesWith(name)).filter((namespace) => namespace.startsWith(this.#prefix));
  }

  /** Returns all namespaces of the cluster that have a Secret of that name. */
  async allNamespacesWith(name: string): Promise<readonly string[]> {
    const path = `/api/v1/secrets?fieldSelector=metadata.name%3D${name}`;
    const { items } = (await this.#stage.cluster.admin.mustSend('GET', path)) as List<StoredSecret>;
    return items.map(({ metadata }) => metadata.namespace ?? '').sort();
  }

  /** Returns all namespaces of the cluster that are not terminating. */
  async activeNamespaces(): Promise<readonly string[]> {
    const path = '/api/v1/namespaces';
    const { items } = (await this.#stage.cluster.admin.mustSend('GET', path)) as List<StoredObject>;
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name)
      .sort();
  }
}

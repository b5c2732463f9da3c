// Wraps one implementation of the Kubernetes API for tests: requests, watches, kubectl and unique names.
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { kubectl, mustKubectl, type KubectlOptions } from '../../support/kubectl.ts';
import type { ProgramOutput } from '../../support/run-program.ts';
import { until } from '../../support/until.ts';
import type { ApiObject } from './answers.ts';
import { Api, type Connection, type Reply } from './api.ts';
import type { Difference } from './differences.ts';
import { at } from './objects.ts';
import { apiVersion } from '../../../src/schema/names.ts';
import { kindDefinitions } from '../../../src/api/kinds.ts';

export interface Access {
  /** The connection of a member of system:masters. */
  readonly connection: Connection;
  /** A connection without credentials. */
  readonly anonymous: Connection;
  readonly kubeconfig: string;
  login(user: string, groups: readonly string[]): Promise<Connection>;
  close(): Promise<void>;
}

type KubectlExtras = Omit<KubectlOptions, 'kubeconfig'>;

const crds = join(import.meta.dirname, '..', '..', '..', 'manifests', 'crds');

export class Backend {
  readonly #kind: keyof Difference<unknown>;
  readonly #opening: () => Promise<Access>;
  readonly #namespaces: string[] = [];
  #access: Access | undefined;

  constructor(kind: keyof Difference<unknown>, opening: () => Promise<Access>) {
    this.#kind = kind;
    this.#opening = opening;
  }

  async open(): Promise<void> {
    this.#access = await this.#opening();
  }

  async close(): Promise<void> {
    if (this.#access === undefined) return;
    await Promise.all(this.#namespaces.map((name) => this.api.delete(at('namespaces', '', name))));
    await this.#access.close();
  }

  /** Returns the expected value for this backend, where the two differ on purpose. */
  expects<T>(difference: Difference<T>): T {
    return difference[this.#kind];
  }

  /** Sends requests as the administrator. */
  get api(): Api {
    return new Api(this.#open.connection);
  }

  as(user: string, ...groups: readonly string[]): Api {
    return this.api.as(user, ...groups);
  }

  /** Uses credentials of the user. Impersonation cannot show the rights that impersonation itself requires. */
  async login(user: string, ...groups: readonly string[]): Promise<Api> {
    return new Api(await this.#open.login(user, groups));
  }

  withToken(token: string): Api {
    return new Api({ ...this.#open.anonymous, token });
  }

  get kubeconfig(): string {
    return this.#open.kubeconfig;
  }

  kubectl(args: readonly string[], extras: KubectlExtras = {}): Promise<ProgramOutput> {
    return kubectl(args, { ...extras, kubeconfig: this.kubeconfig });
  }

  mustKubectl(args: readonly string[], extras: KubectlExtras = {}): Promise<string> {
    return mustKubectl(args, { ...extras, kubeconfig: this.kubeconfig });
  }

  /** Returns the name of a new namespace, which is deleted after the tests of the file. */
  async namespace(labels: Readonly<Record<string, string>> = {}): Promise<string> {
    const name = freshName('ns');
    await this.api.must(
      this.api.create(at('namespaces', ''), {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name, labels },
      }),
    );
    this.#namespaces.push(name);
    return name;
  }

  /**
   * Returns the object once the caches of the server have it.
   * With an older object in its cache, the real API server judges a write on that first, webhooks included, and then
   * again.
   */
  async settled(reply: Promise<Reply>, path: string): Promise<ApiObject> {
    const object = await this.api.must(reply);
    const { resourceVersion } = object.metadata;
    await until(
      async () =>
        (await this.api.get(`${path}?resourceVersion=0`)).body.metadata.resourceVersion === resourceVersion,
      () => `${path} is known at ${resourceVersion}`,
    );
    return object;
  }

  /** Installs the kinds of Reeve and waits until they are served. */
  async installKinds(): Promise<void> {
    for (const file of (await readdir(crds)).filter((name) => name.endsWith('.yaml'))) {
      const definition = parse(await readFile(join(crds, file), 'utf8')) as unknown;
      const { status, text } = await this.api.create(at('customresourcedefinitions', ''), definition);
      if (status !== 201 && status !== 409) throw new Error(`${file}: ${status} ${text}`);
    }
    for (const { plural } of kindDefinitions) {
      await until(
        async () => (await this.api.get(`/apis/${apiVersion}/${plural}`)).status === 200,
        () => `${plural} are served`,
      );
    }
  }

  get #open(): Access {
    if (this.#access === undefined) throw new Error('only from within a test or a hook');
    return this.#access;
  }
}

/** Returns a unique name that begins with the given word. */
export function freshName(word: string): string {
  return `ct-${word}-${randomBytes(4).toString('hex')}`;
}

// Creates namespaces with contents of Reeve, changes them in several ways, and records which writes each change requires.
import { isDeepStrictEqual } from 'node:util';
import { send } from '../../cluster/admin-client.ts';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { until } from '../../support/until.ts';
import { configMap, policy, roleBinding, share, source, type WrittenObject } from './objects.ts';
import type { Stage } from './stage.ts';
import { once, WrittenObjects } from './written-objects.ts';

const binding = 'create rolebindings people';
const copy = 'create secrets credential';

export type WriteCounts = Readonly<Record<string, number>>;

interface Listed {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly data?: Readonly<Record<string, string>>;
}

export class TrackedContents {
  readonly #stage: Stage;
  /** The prefix of the namespaces, and the name of the policy and the share. */
  readonly #name: string;
  readonly #written: WrittenObjects;
  readonly #namespaces = new Set<string>();
  /** All namespaces that were ever created, deleted ones included. */
  readonly #everMade = new Set<string>();
  #necessary: string[] = [];
  #made = 0;
  #secretValue = 0;
  #settings = 0;

  private constructor(stage: Stage, name: string) {
    this.#stage = stage;
    this.#name = name;
    this.#written = new WrittenObjects(stage.cluster);
  }

  /** Creates the policy, the share, the source and four namespaces. Reeve must run. */
  static async prepare(stage: Stage, name: string): Promise<TrackedContents> {
    const contents = new TrackedContents(stage, name);
    await stage.apply(contents.#source, contents.#share, contents.#policy);
    await contents.add(4);
    await contents.settled();
    return contents;
  }

  get namespaces(): readonly string[] {
    return [...this.#namespaces];
  }

  /** Returns the writes of Reeve that no change required. */
  async writtenInVain(): Promise<readonly string[]> {
    const needed = [...this.#necessary];
    const written = await this.#written.in([...this.#everMade]);
    return written.filter((write) => {
      const index = needed.indexOf(write);
      if (index >= 0) needed.splice(index, 1);
      return index < 0;
    });
  }

  /**
   * Returns for each object the number of required writes since its creation, and the number that etcd counted. The audit
   * log misses a write whose client no longer waited for the answer.
   */
  async writeCounts(): Promise<{ readonly needed: WriteCounts; readonly done: WriteCounts }> {
    const needed: Record<string, number> = {};
    for (const write of this.#necessary) {
      const [verb, resource, object = ''] = write.split(' ');
      const key = `${resource}/${object}`;
      const [namespace = ''] = object.split('/');
      if (this.#namespaces.has(namespace)) needed[key] = verb === 'create' ? 1 : (needed[key] ?? 0) + 1;
    }
    const { cluster } = this.#stage;
    const versions = Object.keys(needed).map(async (key) => [key, await writesInEtcd(cluster, key)] as const);
    return { needed, done: Object.fromEntries(await Promise.all(versions)) };
  }

  /** Creates namespaces. */
  async add(count: number): Promise<void> {
    const names = Array.from({ length: count }, (_, index) => `${this.#name}-${this.#made + index}`);
    this.#made += count;
    await this.#make(names);
  }

  /** Deletes namespaces. */
  async remove(...names: readonly string[]): Promise<void> {
    await this.#stage.kubectl('delete', 'namespace', ...names, '--timeout=60s');
    for (const name of names) this.#namespaces.delete(name);
  }

  /** Deletes namespaces and creates others with the same names. */
  async replace(...names: readonly string[]): Promise<void> {
    await this.remove(...names);
    await this.#make(names);
  }

  /** Deletes the objects that Reeve provides in the namespaces. */
  async strip(...names: readonly string[]): Promise<void> {
    for (const name of names)
      await this.#stage.inEmergency('delete', '-n', name, 'secret/credential', 'rolebinding/people');
    this.#need(names, binding, copy);
  }

  async changeSource(): Promise<void> {
    this.#secretValue += 1;
    await this.#stage.apply(this.#source);
    this.#need(this.namespaces, 'update secrets credential');
  }

  async changePolicy(): Promise<void> {
    this.#settings += 1;
    await this.#stage.apply(this.#policy);
    this.#need(this.namespaces, `${this.#settings === 1 ? 'create' : 'update'} configmaps settings`);
  }

  /** Waits until all contents are correct, and the policy, the share and the namespaces report it. */
  async settled(): Promise<void> {
    const desired = this.#desired();
    let seen: unknown;
    await until(
      async () => {
        seen = await this.#seen();
        return isDeepStrictEqual(seen, desired);
      },
      () => `${JSON.stringify(desired)}; there is: ${JSON.stringify(seen)}`,
    );
  }

  async #make(names: readonly string[]): Promise<void> {
    await Promise.all(
      names.map((name) =>
        this.#stage.cluster.admin.mustSend('POST', '/api/v1/namespaces', {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name },
        }),
      ),
    );
    for (const name of names) {
      this.#namespaces.add(name);
      this.#everMade.add(name);
    }
    this.#need(names, binding, copy, ...(this.#settings === 0 ? [] : ['create configmaps settings']));
  }

  #need(namespaces: readonly string[], ...writes: readonly string[]): void {
    this.#necessary.push(...once(namespaces, ...writes));
  }

  get #source(): WrittenObject {
    return source(this.#name, { value: String(this.#secretValue) });
  }

  get #share(): WrittenObject {
    return share(this.#name, {
      source: { namespace: 'reeve-shared', name: this.#name },
      targets: { names: [`${this.#name}-*`] },
      target: { name: 'credential' },
      maxDeletions: 1000,
    });
  }

  get #policy(): WrittenObject {
    const settings = this.#settings === 0 ? [] : [configMap('settings', { value: String(this.#settings) })];
    return policy(this.#name, {
      match: { names: [`${this.#name}-*`] },
      contents: { roleBindings: [roleBinding('people', 'fa-people')], resources: settings },
      maxDeletions: 1000,
    });
  }

  #desired(): readonly string[] {
    const secret = Buffer.from(String(this.#secretValue)).toString('base64');
    const perNamespace = this.#settings === 0 ? 1 : 2;
    const count = this.#namespaces.size;
    return [
      ...this.namespaces.flatMap((name) => [
        `${name} True Synced`,
        `${name}/credential ${secret}`,
        `${name}/people`,
        ...(this.#settings === 0 ? [] : [`${name}/settings ${this.#settings}`]),
      ]),
      `policy: ${perNamespace * count} of ${perNamespace * count}, True Synced`,
      `share: ${count} of ${count}, True Synced`,
    ].sort();
  }

  async #seen(): Promise<readonly string[]> {
    const marked = '?labelSelector=app.kubernetes.io%2Fmanaged-by%3Dreeve';
    const [secrets, settings, bindings, ...summaries] = await Promise.all([
      this.#list(`/api/v1/secrets${marked}`),
      this.#list(`/api/v1/configmaps${marked}`),
      this.#list(`/apis/rbac.authorization.k8s.io/v1/rolebindings${marked}`),
      this.#summary('policy', 'NamespacePolicy'),
      this.#summary('share', 'SecretShare'),
      ...this.namespaces.map(async (name) => {
        const condition = await this.#stage.condition({ kind: 'Namespace', name }, 'reeve.dev/Ready');
        return `${name} ${condition}`;
      }),
    ]);
    return [...[...secrets, ...settings, ...bindings].map(told), ...summaries].sort();
  }

  async #list(path: string): Promise<readonly Listed[]> {
    const list = (await this.#stage.cluster.admin.mustSend('GET', path)) as { readonly items: Listed[] };
    return list.items.filter(({ metadata }) => metadata.namespace.startsWith(`${this.#name}-`));
  }

  async #summary(what: string, kind: 'NamespacePolicy' | 'SecretShare'): Promise<string> {
    const ref = { kind, name: this.#name };
    const [{ status }, condition] = await Promise.all([this.#stage.mustGet(ref), this.#stage.condition(ref)]);
    return `${what}: ${status?.synced} of ${status?.desired}, ${condition}`;
  }
}

/** The version of a key counts its writes since its creation: https://etcd.io/docs/v3.6/learning/api/#key-value-pair */
async function writesInEtcd({ etcd }: ClusterAccess, key: string): Promise<number> {
  const body = { key: Buffer.from(`/registry/${key}`).toString('base64'), keys_only: true };
  const answer = await send(`${etcd}/v3/kv/range`, { method: 'POST' }, body);
  const { kvs = [] } = answer.body as { readonly kvs?: readonly { readonly version: string }[] };
  return Number(kvs[0]?.version ?? 0);
}

function told({ metadata: { name, namespace }, data = {} }: Listed): string {
  return [`${namespace}/${name}`, ...Object.values(data)].join(' ');
}

// Does what a person does on a cluster with Reeve, and reads policies, shares and provided objects as a person does.
import { applyAll, headersOf } from '../../cluster/apply.ts';
import { writesOf, type AuditRecord } from '../../cluster/audit-record.ts';
import type { AuditLog } from '../../cluster/audit-log.ts';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { mustKubectl, type KubectlOptions } from '../../support/kubectl.ts';
import type { ProgramOutput } from '../../support/run-program.ts';
import { until } from '../../support/until.ts';
import { emergency } from './people.ts';
import { pathOf, type Kind, type Ref, type StoredObject, type WrittenObject } from './objects.ts';

/** The user who creates, changes and deletes what policies and shares provide. */
export const reconcilerUser = 'system:serviceaccount:reeve-system:reeve-reconciler';

/** The API server gives a webhook 5 s for a review, whatever else the machine does in that time. */
const isLate = /timeout of this request expired|context deadline exceeded/;

export class Stage {
  readonly cluster: ClusterAccess;
  readonly administrator: KubectlOptions;
  /** A user whom the webhooks and the guard exempt. */
  readonly emergency: KubectlOptions;
  readonly #prefix: string;
  readonly #audit: AuditLog;

  /** The names of all objects of a test begin with the prefix. */
  constructor(cluster: ClusterAccess, prefix: string) {
    const { kubeconfig } = cluster;
    this.cluster = cluster;
    this.administrator = { kubeconfig };
    this.emergency = emergency(cluster);
    this.#prefix = prefix;
    this.#audit = cluster.auditLog();
  }

  /** Applies the objects as `kubectl apply` does, again when a busy machine reviews a write too late. Returns its warnings. */
  async apply(...objects: readonly WrittenObject[]): Promise<string> {
    let last: ProgramOutput | undefined;
    await until(
      async () => {
        last = await this.tryApply(objects);
        return last.code === 0 || !isLate.test(last.stderr);
      },
      () => `it was not applied: ${last?.stderr}`,
    );
    if (last?.code === 0) return last.stderr;
    throw new Error(`it was not applied: ${last?.stderr}`);
  }

  async tryApply(objects: readonly WrittenObject[], who = this.administrator): Promise<ProgramOutput> {
    return await this.#applied(objects, who);
  }

  /** Returns the answer of the API server without storing anything. */
  async dryRun(...objects: readonly WrittenObject[]): Promise<ProgramOutput> {
    return await this.#applied(objects, this.administrator, true);
  }

  async kubectl(...args: readonly string[]): Promise<string> {
    return await mustKubectl(args, this.administrator);
  }

  async inEmergency(...args: readonly string[]): Promise<string> {
    return await mustKubectl(args, this.emergency);
  }

  /** Applies the objects without any webhook, so invalid objects pass too. */
  async applyInEmergency(...objects: readonly WrittenObject[]): Promise<void> {
    const { code, stderr } = await this.tryApply(objects, this.emergency);
    if (code !== 0) throw new Error(`it was not applied: ${stderr}`);
  }

  /**
   * Deletes the objects, and waits until they are deleted. A provider stays until no object names it as its owner, and for
   * a minute while the watch of a kind is not in sync.
   */
  async remove(...refs: readonly Ref[]): Promise<void> {
    const found: StoredObject[] = [];
    for (const ref of refs) {
      found.push(await this.mustGet(ref));
      await this.#delete(ref, this.administrator);
    }
    await Promise.all(refs.map((ref, index) => this.#isDeleted(ref, found[index]?.metadata.uid)));
  }

  /** Returns undefined when the object does not exist. */
  async get(ref: Ref): Promise<StoredObject | undefined> {
    const { status, body } = await this.cluster.admin.send('GET', pathOf(ref));
    if (status === 404) return undefined;
    if (status === 200) return body as StoredObject;
    throw new Error(`GET ${pathOf(ref)}: ${status} ${JSON.stringify(body)}`);
  }

  async mustGet(ref: Ref): Promise<StoredObject> {
    const object = await this.get(ref);
    if (object === undefined) throw new Error(`there is no ${pathOf(ref)}`);
    return object;
  }

  /** Returns the owner of each object: a policy or share, the word for a stranger's object, or `absent`. */
  async ownersOf(...refs: readonly Ref[]): Promise<readonly string[]> {
    const [{ kind, name } = { kind: 'Secret' as const, name: '' }] = refs;
    const areNamesakes = refs.every((ref) => ref.kind === kind && ref.name === name && ref.namespace);
    if (refs.length > 1 && areNamesakes) return await this.#ownersOfNamesakes(kind, name, refs);
    return await Promise.all(refs.map(async (ref) => ownerIn(await this.get(ref))));
  }

  /** Lists them with one request, because tests poll the objects of dozens of namespaces. */
  async #ownersOfNamesakes(kind: Kind, name: string, refs: readonly Ref[]): Promise<readonly string[]> {
    const collection = pathOf({ kind, name: '' }).slice(0, -1);
    const { status, body } = await this.cluster.admin.send(
      'GET',
      `${collection}?fieldSelector=metadata.name%3D${name}`,
    );
    if (status !== 200) throw new Error(`GET ${collection}: ${status} ${JSON.stringify(body)}`);
    const { items } = body as { readonly items: readonly StoredObject[] };
    const found = new Map(items.map((object) => [object.metadata.namespace, object]));
    return refs.map(({ namespace }) => ownerIn(found.get(namespace)));
  }

  async uidsOf(...refs: readonly Ref[]): Promise<readonly (string | undefined)[]> {
    return await Promise.all(refs.map(async (ref) => (await this.get(ref))?.metadata.uid));
  }

  /** Returns a condition such as `True Synced` once it is about the stored version. */
  async condition(ref: Ref, type = 'Ready'): Promise<string> {
    const { metadata, status } = await this.mustGet(ref);
    if (status?.observedGeneration !== metadata.generation) return 'it has not been observed yet';
    const found = status?.conditions?.find((condition) => condition.type === type);
    return found === undefined ? `there is no condition ${type}` : `${found.status} ${found.reason}`;
  }

  async namespaceCondition(name: string): Promise<string> {
    return await this.condition({ kind: 'Namespace', name }, 'reeve.dev/Ready');
  }

  /** Returns the errors in the status, once it is about the stored version: `namespace Kind name: reason, message`. */
  async failures(ref: Ref): Promise<readonly string[]> {
    const isObserved = async (): Promise<boolean> => {
      const { metadata, status } = await this.mustGet(ref);
      return status?.observedGeneration === metadata.generation;
    };
    await until(isObserved, () => `${ref.kind}/${ref.name} has not been observed yet`);
    const { status } = await this.mustGet(ref);
    return (status?.failures ?? []).map(
      ({ namespace, kind, name, reason, message }) =>
        `${namespace} ${kind === undefined ? '' : `${kind} ${name}: `}${reason}, ${message}`,
    );
  }

  /** Returns the writes of Reeve in a namespace: `patch configmaps settings`. The name of the namespace must be unique. */
  async reeveWrites(namespace: string): Promise<readonly string[]> {
    const records = writesOf(await this.#audit.records(), { user: reconcilerUser, namespace });
    return records.filter(({ resource }) => resource !== 'namespaces').map(told);
  }

  /** Returns all write requests of Reeve in the namespace, even those that changed nothing, and dry runs. */
  async reeveAttempts(namespace: string): Promise<readonly string[]> {
    const records = await this.#audit.records();
    return records
      .filter((record) => record.user === reconcilerUser && record.namespace === namespace)
      .filter(({ verb, resource }) => verb !== 'get' && resource !== 'namespaces')
      .map(told);
  }

  /** Returns the deletions of any objects by any user, finished or not. */
  async deletionsIn(namespace: string): Promise<readonly string[]> {
    const records = writesOf(await this.#audit.records(), { namespace });
    return records.filter(({ verb }) => verb.startsWith('delete')).map(told);
  }

  async cleanUp(): Promise<void> {
    const providers = await this.#ours(
      { kind: 'NamespacePolicy' },
      { kind: 'SecretShare' },
      { kind: 'ConfigMapShare' },
      { kind: 'ClusterSecurityIntentBinding' },
      { kind: 'SecurityIntent' },
    );
    for (const ref of providers) await this.#delete(ref, this.emergency);
    await Promise.all(providers.map((ref) => this.#isDeleted(ref)));
    const others = await this.#ours(
      { kind: 'Namespace' },
      { kind: 'Secret', namespace: 'reeve-shared' },
      { kind: 'ConfigMap', namespace: 'reeve-shared' },
    );
    for (const ref of others) await this.#delete(ref, this.emergency);
  }

  async #applied(
    items: readonly WrittenObject[],
    who: KubectlOptions,
    isDryRun = false,
  ): Promise<ProgramOutput> {
    return await applyAll(this.cluster, items, { who, isDryRun });
  }

  /** A missing object counts as deleted. */
  async #delete(ref: Ref, who: KubectlOptions): Promise<void> {
    const answer = await this.cluster.admin.send('DELETE', pathOf(ref), undefined, headersOf(who));
    if (answer.status >= 300 && answer.status !== 404)
      throw new Error(`DELETE ${pathOf(ref)}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  /** Waits until the object is deleted. With a UID, another object may have its name. */
  async #isDeleted(ref: Ref, uid?: string): Promise<void> {
    let last: StoredObject | undefined;
    await until(
      async () => {
        last = await this.get(ref);
        return last === undefined || (uid !== undefined && last.metadata.uid !== uid);
      },
      () => `${pathOf(ref)} is deleted: ${JSON.stringify(last)}`,
      90,
    );
  }

  /** Returns the objects of these kinds whose names have the prefix of the test. */
  async #ours(...kinds: readonly Omit<Ref, 'name'>[]): Promise<readonly Ref[]> {
    const lists = kinds.map(async (kind) => {
      const path = pathOf({ ...kind, name: '' }).slice(0, -1);
      const { status, body } = await this.cluster.admin.send('GET', path);
      // An install can lack a kind of ours.
      if (status === 404) return [];
      const { items } = body as { readonly items: readonly StoredObject[] };
      return items.map(({ metadata }) => ({ ...kind, name: metadata.name }));
    });
    const all = (await Promise.all(lists)).flat();
    return all.filter(({ name }) => name.startsWith(this.#prefix));
  }
}

function ownerIn(object: StoredObject | undefined): string {
  if (object === undefined) return 'absent';
  const { labels = {}, annotations = {} } = object.metadata;
  const owner = annotations['reeve.dev/owner'];
  if (labels['app.kubernetes.io/managed-by'] === 'reeve') return owner ?? 'marked, without an owner';
  return owner === undefined ? 'nobody' : `not marked, of ${owner}`;
}

function told({ verb, resource, name }: AuditRecord): string {
  return `${verb} ${resource} ${name}`;
}

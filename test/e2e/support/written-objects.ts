// Counts what the reconcilers wrote for policies and shares. All replicas share one account and so one name in the audit log.
import type { AuditLog } from '../../cluster/audit-log.ts';
import { writesOf, type AuditRecord } from '../../cluster/audit-record.ts';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import type { Ref } from './objects.ts';
import { reconcilerUser } from './stage.ts';

export class WrittenObjects {
  readonly #audit: AuditLog;
  #from = 0;

  constructor(cluster: ClusterAccess) {
    this.#audit = cluster.auditLog();
  }

  /** Ignores all writes until now. */
  async forget(): Promise<void> {
    this.#from = (await this.#audit.records()).length;
  }

  /** Returns each write as often as it happened: `create configmaps fa-one/settings`. */
  async in(namespaces: readonly string[]): Promise<readonly string[]> {
    const records = await this.records();
    return writesOf(records)
      .filter(({ resource, namespace }) => resource !== 'namespaces' && namespaces.includes(namespace))
      .map(told)
      .sort();
  }

  /** Returns the times of the writes of a ConfigMap, in milliseconds. */
  async timesOf({ namespace, name }: Required<Ref>): Promise<readonly number[]> {
    return writesOf(await this.records(), { resource: 'configmaps', namespace })
      .filter((write) => write.name === name)
      .map(({ receivedAt }) => Date.parse(receivedAt))
      .sort((a, b) => a - b);
  }

  /** Returns how often the condition of each namespace was written. */
  async conditionsOf(namespaces: readonly string[]): Promise<readonly number[]> {
    const writes = writesOf(await this.records(), { resource: 'namespaces' });
    return namespaces.map((name) => writes.filter((write) => write.name === name).length);
  }

  /** Returns all write requests of the reconcilers, even those that changed nothing or were refused. */
  async records(): Promise<readonly AuditRecord[]> {
    const all = await this.#audit.records();
    return all.slice(this.#from).filter(({ user }) => user === reconcilerUser);
  }
}

/** Returns these writes for each of the namespaces, in the form of `in`: `create configmaps settings`. */
export function once(namespaces: readonly string[], ...writes: readonly string[]): readonly string[] {
  return namespaces
    .flatMap((namespace) =>
      writes.map((write) => {
        const [verb, resource, name] = write.split(' ');
        return `${verb} ${resource} ${namespace}/${name}`;
      }),
    )
    .sort();
}

/** An apply has the verb `patch`. It created the object when the answer is 201. */
function told({ verb, status, resource, namespace, name }: AuditRecord): string {
  const done = status === 201 ? 'create' : verb === 'delete' ? 'delete' : 'update';
  return `${done} ${resource.split('.')[0]} ${namespace}/${name}`;
}

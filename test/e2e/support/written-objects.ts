// What the reconcilers wrote for policies and shares, all replicas together: they share an account, and so a name in the audit log.
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

  /** What was written until now is not told any more. */
  async forget(): Promise<void> {
    this.#from = (await this.#audit.records()).length;
  }

  /** Each as often as it was written: `create configmaps fa-one/settings`. */
  async in(namespaces: readonly string[]): Promise<readonly string[]> {
    const records = await this.records();
    return writesOf(records)
      .filter(({ resource, namespace }) => resource !== 'namespaces' && namespaces.includes(namespace))
      .map(told)
      .sort();
  }

  /** When a ConfigMap was written, in milliseconds. */
  async timesOf({ namespace, name }: Required<Ref>): Promise<readonly number[]> {
    return writesOf(await this.records(), { resource: 'configmaps', namespace })
      .filter((write) => write.name === name)
      .map(({ receivedAt }) => Date.parse(receivedAt))
      .sort((a, b) => a - b);
  }

  /** How often the condition of each namespace was written. */
  async conditionsOf(namespaces: readonly string[]): Promise<readonly number[]> {
    const writes = writesOf(await this.records(), { resource: 'namespaces' });
    return namespaces.map((name) => writes.filter((write) => write.name === name).length);
  }

  /** All that the reconcilers asked for, also what changed nothing or was refused. */
  async records(): Promise<readonly AuditRecord[]> {
    const all = await this.#audit.records();
    return all.slice(this.#from).filter(({ user }) => user === reconcilerUser);
  }
}

/** The same of each of the namespaces, as `in` tells it: `create configmaps settings`. */
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

/** An apply is a `patch`, whatever it does: the answer to one that creates is 201. */
function told({ verb, status, resource, namespace, name }: AuditRecord): string {
  const done = status === 201 ? 'create' : verb === 'delete' ? 'delete' : 'update';
  return `${done} ${resource.split('.')[0]} ${namespace}/${name}`;
}

// Reads from the audit log what the webhooks wrote: the shared authority and the webhook configurations.
import { writesOf, type AuditRecord } from '../../cluster/audit-record.ts';

const webhookUser = 'system:serviceaccount:reeve-system:reeve-webhook';
const configuration = /^(?:validating|mutating)webhookconfigurations\.admissionregistration\.k8s\.io$/;

/** Returns the time in milliseconds since 1970, by the clock of the API server. */
export function timeOf({ receivedAt }: AuditRecord): number {
  return Date.parse(receivedAt);
}

/** Returns the writes of the shared authority. Each write is one step of its rotation. */
export function authorityWrites(records: readonly AuditRecord[]): readonly AuditRecord[] {
  return writesOf(records, { user: webhookUser, resource: 'secrets', namespace: 'reeve-system' });
}

/** Returns all requests to write the configurations, even those that changed nothing. */
export function configurationWrites(records: readonly AuditRecord[]): readonly AuditRecord[] {
  return records.filter(
    ({ user, resource, verb }) =>
      user === webhookUser && configuration.test(resource) && !['get', 'list', 'watch'].includes(verb),
  );
}

/**
 * Returns for each configuration that another user has changed since then how many milliseconds passed until a webhook
 * repaired it.
 */
export function repairTimes(records: readonly AuditRecord[], since: number): readonly number[] {
  const changes = writesOf(records).filter(
    (record) => timeOf(record) >= since && configuration.test(record.resource),
  );
  return [...Map.groupBy(changes, ({ resource }) => resource).values()].flatMap((ofOne) => {
    const change = ofOne.find(({ user }) => user !== webhookUser);
    if (change === undefined) return [];
    const repair = ofOne.find((each) => each.user === webhookUser && timeOf(each) > timeOf(change));
    return [repair === undefined ? Number.POSITIVE_INFINITY : timeOf(repair) - timeOf(change)];
  });
}

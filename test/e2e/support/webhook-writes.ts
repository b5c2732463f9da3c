// What the webhooks have written, by the audit log: the authority that they share, and their configurations.
import { writesOf, type AuditRecord } from '../../cluster/audit-record.ts';

const webhookUser = 'system:serviceaccount:reeve-system:reeve-webhook';
const configuration = /^(?:validating|mutating)webhookconfigurations\.admissionregistration\.k8s\.io$/;

/** In milliseconds since 1970, by the clock of the API server. */
export function timeOf({ receivedAt }: AuditRecord): number {
  return Date.parse(receivedAt);
}

/** Writes of the shared authority: each is one step of it. */
export function authorityWrites(records: readonly AuditRecord[]): readonly AuditRecord[] {
  return writesOf(records, { user: webhookUser, resource: 'secrets', namespace: 'reeve-system' });
}

/** All that they asked to be written there, also what changed nothing. */
export function configurationWrites(records: readonly AuditRecord[]): readonly AuditRecord[] {
  return records.filter(
    ({ user, resource, verb }) =>
      user === webhookUser && configuration.test(resource) && !['get', 'list', 'watch'].includes(verb),
  );
}

/**
 * For each configuration that others have changed since then: how many milliseconds passed until a webhook had written it
 * again.
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

// Puts the parts of the audit together: what it knows, its sweeps, their queue and its watches.
import { roleBindingType, roleType, isSameObjectType } from '../../policy/terms/object-key.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import type { WatchSink } from '../../base/watch-sink.ts';
import type { Clock } from '../../base/clock.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import type { WantedWatch } from '../live/watches.ts';
import type { AuditReader, ReconcileObserver } from '../ports.ts';
import { WorkQueue } from '../queue/queue.ts';
import { AuditSweeps, type Sweep } from './audit-sweeps.ts';
import { ObjectAudit } from './object-audit.ts';

export interface AuditPartsOptions {
  readonly cluster: LiveCluster;
  readonly clock: Clock;
  readonly observer: Pick<ReconcileObserver, 'unexpectedError'>;
  readonly auditReader: AuditReader;
  /** Reads all Secrets page by page, and keeps none. Default: Secrets are judged only when they are written. */
  readonly auditSecrets?: boolean;
  readonly providerQueue: Pick<WorkQueue<ProviderId>, 'add'>;
}

const intervalMs = 600_000;
/** Waits before the next violations are looked up when listed ones are corrected. People often correct many at once. */
const refillMs = 10_000;

export function createAudit(options: AuditPartsOptions) {
  const { cluster, clock, observer, auditReader, auditSecrets = false, providerQueue } = options;
  const auditQueue = new WorkQueue<Sweep>({
    concurrency: 1,
    clock,
    onError: (key, error) => observer.unexpectedError(`audit of ${key}`, error),
  });
  const objectAudit: ObjectAudit = new ObjectAudit({
    cluster,
    clock,
    auditSecrets,
    changed: (provider, resource) => {
      providerQueue.add(provider);
      if (!objectAudit.isFull(resource)) auditQueue.addAfter(resource, refillMs);
    },
  });
  const rolesNeeded = Promise.withResolvers<void>();
  const sweeps = new AuditSweeps({
    cluster,
    audit: objectAudit,
    reader: auditReader,
    queue: auditQueue,
    rolesNeeded: () => rolesNeeded.resolve(),
    intervalMs,
  });
  const watched = (watches: readonly WantedWatch[]): readonly WantedWatch[] =>
    auditedWatches(watches, objectAudit, rolesNeeded.promise);
  return { auditQueue, objectAudit, sweeps, watched };
}

/** Adds the watch of Roles, and has the audit listen to the watch of RoleBindings. */
function auditedWatches(
  watches: readonly WantedWatch[],
  audit: ObjectAudit,
  needed: Promise<void>,
): readonly WantedWatch[] {
  const roles: WantedWatch = {
    type: roleType,
    metadataOnly: false,
    isOptional: true,
    needed,
    sink: audit.sink('roles'),
  };
  const bindings = audit.sink('rolebindings');
  return [
    ...watches.map((watch) =>
      isSameObjectType(watch.type, roleBindingType) ? { ...watch, sink: both(watch.sink, bindings) } : watch,
    ),
    roles,
  ];
}

function both(first: WatchSink, second: WatchSink): WatchSink {
  return {
    replaced: (...list) => {
      first.replaced(...list);
      second.replaced(...list);
    },
    changed: (object) => {
      first.changed(object);
      second.changed(object);
    },
    removed: (object) => {
      first.removed(object);
      second.removed(object);
    },
  };
}

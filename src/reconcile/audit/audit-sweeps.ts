// Judges all existing objects of a resource, or those of one namespace, page by page, when the answers may have changed.
import type { Install } from '../../policy/terms/install.ts';
import { isDeepStrictEqual } from 'node:util';
import { KubeError } from '../../base/kube-error.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { hasAuditableRules, type AuditedResource } from '../../policy/decide/audit.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import { matchNamespace } from '../../policy/terms/match.ts';
import { roleBindingType, roleType, isSameObjectType } from '../../base/object-type.ts';
import { shortName, type ProviderId } from '../../policy/terms/provider-id.ts';
import type { LiveCluster, NamespaceChange, ProviderChange } from '../../state/live-cluster.ts';
import type { LoadedProvider } from '../../state/stored-provider.ts';
import type { AuditReader, ReconcileObserver } from '../ports.ts';
import { done, type Attempt, type Handled, WorkQueue } from '../queue/queue.ts';
import { auditedResources, keyOf, ObjectAudit } from './object-audit.ts';
import type { WatchSink } from '../../base/watch-sink.ts';
import type { Clock } from '../../base/clock.ts';
import type { WantedWatch } from '../live/watches.ts';

/** `roles`: those of all namespaces. `roles/team-a`: those of one namespace. */
export type Sweep = AuditedResource | `${AuditedResource}/${string}`;

interface AuditSweepsOptions {
  readonly cluster: Pick<LiveCluster, 'snapshot' | 'subscribe'>;
  readonly audit: ObjectAudit;
  readonly reader: AuditReader;
  readonly queue: Pick<WorkQueue<Sweep>, 'add' | 'addAfter'>;
  /** Called when a policy has rules for Roles. */
  readonly rolesNeeded: () => void;
  /** How often everything is judged again: certificates expire without an event. */
  readonly intervalMs: number;
}

/** Several policies are often written at once. One sweep judges by all of them. */
const settleMs = 500;
/** Waits before it asks again for what our account may not list. The status of the policy names the missing right. */
const forbiddenMs = 15_000;

class AuditSweeps {
  readonly #options: AuditSweepsOptions;
  #isActive = false;

  constructor(options: AuditSweepsOptions) {
    this.#options = options;
    options.cluster.subscribe({
      namespace: (change) => {
        if (this.#isActive) this.#namespaceChanged(change);
      },
      affecting: (change) => {
        if (this.#isActive) this.#providerChanged(change);
      },
    });
  }

  begin(): void {
    this.#isActive = true;
    this.#options.audit.begin();
    for (const resource of auditedResources) this.#options.queue.add(resource);
  }

  end(): void {
    this.#isActive = false;
    this.#options.audit.end();
  }

  /** Handles one key of the audit queue. */
  async sweep(key: Sweep, { signal }: Attempt): Promise<Handled> {
    const { audit, queue, intervalMs, rolesNeeded } = this.#options;
    const { resource, namespace } = partsOf(key);
    if (resource === 'roles' && audit.isAudited('roles')) rolesNeeded();
    try {
      if (audit.isAudited(resource)) await this.#judgeAll(resource, namespace, signal);
    } catch (error) {
      if (signal.aborted) return done;
      if (!(error instanceof KubeError)) throw error;
      if (error.code !== 403) return { kind: 'retry' };
      queue.addAfter(key, forbiddenMs);
      return done;
    }
    if (namespace !== undefined) return done;
    audit.swept(resource);
    if (audit.isAudited(resource))
      queue.addAfter(resource, Math.min(intervalMs, audit.nextExceptionEndMs(resource)));
    return done;
  }

  async #judgeAll(
    resource: AuditedResource,
    namespace: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { audit, reader } = this.#options;
    audit.beginSweep();
    try {
      const gone = audit.violatorsOf(resource, namespace);
      for await (const object of reader.listExisting(resource, namespace, signal)) {
        const key = keyOf(object);
        gone.delete(key);
        if (!audit.isTouched(resource, key)) audit.judge(resource, object);
      }
      for (const key of gone) if (!audit.isTouched(resource, key)) audit.forget(resource, key);
    } finally {
      audit.endSweep();
    }
  }

  #providerChanged({ id, before, after }: ProviderChange): void {
    const { audit, queue } = this.#options;
    if (after?.definition === undefined) audit.forgetPolicy(shortName(id));
    for (const resource of auditedResources) {
      if (!isDeepStrictEqual(judgingParts(before, resource), judgingParts(after, resource)))
        queue.addAfter(resource, settleMs);
    }
  }

  #namespaceChanged({ name, before, after }: NamespaceChange): void {
    const { cluster, audit, queue } = this.#options;
    if (after === undefined || !isManaged(after, cluster.snapshot())) return audit.forgetNamespace(name);
    const wasUnknown = audit.takeUnknown(name);
    if (before !== undefined && isDeepStrictEqual(selectedParts(before), selectedParts(after))) return;
    for (const resource of auditedResources) {
      if (!audit.isAudited(resource)) continue;
      // The objects of a new namespace come with their own watch, unless they came before the namespace.
      const matters = before === undefined ? wasUnknown : this.#matchesOthers(resource, before, after);
      if (matters) queue.add(`${resource}/${name}`);
    }
  }

  /** Returns whether the labels or annotations bring the namespace under other policies than before. */
  #matchesOthers(resource: AuditedResource, before: KubeObject, after: KubeObject): boolean {
    const { policies } = this.#options.cluster.snapshot();
    return policies
      .candidates(resource, [before, after])
      .some(({ match }) => matchNamespace(match, before).kind !== matchNamespace(match, after).kind);
  }
}

function selectedParts({ metadata: { uid, labels, annotations } }: KubeObject): unknown {
  return { uid, labels, annotations };
}

/** Returns the parts of a policy that decide which existing objects violate it. Undefined: none can. */
export function judgingParts(loaded: LoadedProvider | undefined, resource: AuditedResource): unknown {
  const definition = loaded?.definition;
  if (definition?.kind !== 'NamespacePolicy' || !hasAuditableRules(definition.compiled, resource))
    return undefined;
  const { match, exceptions, secrets, rbac } = definition.object.spec;
  return { match, exceptions, rules: resource === 'secrets' ? secrets : rbac };
}

function partsOf(key: Sweep): { readonly resource: AuditedResource; readonly namespace: string | undefined } {
  const [first, namespace] = key.split('/');
  const resource = auditedResources.find((each) => each === first) ?? 'roles';
  return { resource, namespace };
}

// Puts the parts of the audit together: what it knows, its sweeps, their queue and its watches.

export interface AuditPartsOptions {
  readonly cluster: LiveCluster;
  readonly clock: Clock;
  readonly observer: Pick<ReconcileObserver, 'unexpectedError'>;
  readonly auditReader: AuditReader;
  /** With `auditSecrets`, all Secrets are read page by page, and none is kept. */
  readonly install: Pick<Install, 'auditSecrets'>;
  readonly providerQueue: Pick<WorkQueue<ProviderId>, 'add'>;
}

const intervalMs = 600_000;
/** Waits before the next violations are looked up when listed ones are corrected. People often correct many at once. */
const refillMs = 10_000;

export function createAudit(options: AuditPartsOptions) {
  const { cluster, clock, observer, auditReader, install, providerQueue } = options;
  const auditQueue = new WorkQueue<Sweep>({
    concurrency: 1,
    clock,
    onError: (key, error) => observer.unexpectedError(`audit of ${key}`, error),
  });
  const objectAudit: ObjectAudit = new ObjectAudit({
    cluster,
    clock,
    install,
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

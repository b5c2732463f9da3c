// Judges all existing objects of a resource, or those of one namespace, page by page, when the results may have changed.
import { isDeepStrictEqual } from 'node:util';
import { KubeError } from '../../base/kube-error.ts';
import { namespacedName, type KubeObject } from '../../base/metadata.ts';
import { hasAuditableRules } from '../../policy/compile/snapshot.ts';
import type { AuditedResource } from '../../policy/decide/audit.ts';
import { policyIn } from '../../policy/compile/load-provider.ts';
import { isManaged } from '../../policy/desired/desired.ts';
import { matchNamespace } from '../../policy/terms/match.ts';
import { roleBindingType, roleType, isSameObjectType } from '../../base/object-type.ts';
import { shortName } from '../../policy/terms/provider-id.ts';
import type { NamespaceChange, ProviderChange } from '../../state/live-cluster.ts';
import type { LoadedProvider } from '../../state/stored-provider.ts';
import type { AuditReader, ReconcileContext } from '../ports.ts';
import { done, type Attempt, type Handled, type Sweep } from '../queue/queue.ts';
import { auditedResources, ObjectAudit } from './object-audit.ts';
import { SharedSink } from '../../base/watch-sink.ts';
import type { WantedWatch } from '../live/watches.ts';

/** The interval after which everything is judged again, because certificates expire without an event. */
const intervalMs = 600_000;
/** A wait, because several policies are often written at once, and one sweep can judge by all of them. */
const settleMs = 500;
/** The wait before Reeve lists again what its account may not list. The status of the policy names the missing right. */
const forbiddenMs = 15_000;

class AuditSweeps {
  readonly #context: ReconcileContext;
  readonly #audit: ObjectAudit;
  readonly #reader: AuditReader;
  /** Resolves when a policy has rules for Roles. */
  readonly #rolesNeeded = Promise.withResolvers<void>();
  readonly #bindings = new SharedSink();
  #isActive = false;

  constructor(context: ReconcileContext, audit: ObjectAudit, reader: AuditReader) {
    this.#context = context;
    this.#audit = audit;
    this.#reader = reader;
    // The watches of policies can be ahead.
    for (const loaded of context.cluster.providers()) this.#needFor(loaded);
    context.cluster.subscribe({
      affecting: (change) => {
        this.#needFor(change.after);
        if (this.#isActive) this.#providerChanged(change);
      },
    });
  }

  /** Adds the watch of Roles, and has the audit share the watch of RoleBindings. */
  watched(watches: readonly WantedWatch[]): readonly WantedWatch[] {
    const roles: WantedWatch = {
      type: roleType,
      metadataOnly: false,
      isOptional: true,
      needed: this.#rolesNeeded.promise,
      sink: this.#audit.sink('roles'),
    };
    const shared = watches.map((watch) => {
      if (!isSameObjectType(watch.type, roleBindingType)) return watch;
      this.#bindings.add(watch.sink);
      return { ...watch, sink: this.#bindings };
    });
    return [...shared, roles];
  }

  begin(): void {
    this.#isActive = true;
    this.#audit.begin();
    for (const resource of auditedResources) this.#context.auditQueue.add(resource);
  }

  end(): void {
    this.#isActive = false;
    this.#audit.end();
  }

  /** Handles one key of the audit queue. */
  async sweep(key: Sweep, { signal }: Attempt): Promise<Handled> {
    const { auditQueue } = this.#context;
    const { resource, namespace } = partsOf(key);
    if (resource === 'roles' && this.#audit.isAudited('roles')) this.#rolesNeeded.resolve();
    try {
      if (this.#audit.isAudited(resource)) await this.#judgeAll(resource, namespace, signal);
    } catch (error) {
      if (signal.aborted) return done;
      if (!(error instanceof KubeError)) throw error;
      if (error.code !== 403) return { kind: 'retry' };
      auditQueue.addAfter(key, forbiddenMs);
      return done;
    }
    if (namespace !== undefined) return done;
    this.#audit.swept(resource);
    if (this.#audit.isAudited(resource))
      auditQueue.addAfter(resource, Math.min(intervalMs, this.#audit.nextExceptionEndMs(resource)));
    return done;
  }

  async #judgeAll(
    resource: AuditedResource,
    namespace: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    this.#audit.beginSweep();
    try {
      const gone = this.#audit.violatorsOf(resource, namespace);
      for await (const object of this.#reader.listExisting(resource, namespace, signal)) {
        const key = namespacedName(object);
        gone.delete(key);
        if (!this.#audit.isTouched(resource, key)) this.#audit.judge(resource, object);
      }
      for (const key of gone) if (!this.#audit.isTouched(resource, key)) this.#audit.forget(resource, key);
    } finally {
      this.#audit.endSweep();
    }
  }

  /** Listens to Namespaces and RoleBindings from the first policy with rules on. A sweep then judges what is there. */
  #needFor(loaded: LoadedProvider | undefined): void {
    if (this.#audit.isNeeded || auditedResources.every((each) => judgingParts(loaded, each) === undefined))
      return;
    this.#audit.isNeeded = true;
    this.#bindings.add(this.#audit.sink('rolebindings'));
    this.#context.cluster.subscribe({
      namespace: (change) => {
        if (this.#isActive) this.#namespaceChanged(change);
      },
    });
  }

  #providerChanged({ id, before, after }: ProviderChange): void {
    if (after?.definition === undefined) this.#audit.forgetPolicy(shortName(id));
    for (const resource of auditedResources) {
      if (!isDeepStrictEqual(judgingParts(before, resource), judgingParts(after, resource)))
        this.#context.auditQueue.addAfter(resource, settleMs);
    }
  }

  #namespaceChanged({ name, before, after }: NamespaceChange): void {
    const { cluster } = this.#context;
    if (after === undefined || !isManaged(after, cluster.snapshot()))
      return this.#audit.forgetNamespace(name);
    const wasUnknown = this.#audit.takeUnknown(name);
    if (before !== undefined && isDeepStrictEqual(selectedParts(before), selectedParts(after))) return;
    for (const resource of auditedResources) {
      if (!this.#audit.isAudited(resource)) continue;
      // The watch of a new namespace's objects judges them, unless they came before the namespace.
      const matters = before === undefined ? wasUnknown : this.#matchesOthers(resource, before, after);
      if (matters) this.#context.auditQueue.add(`${resource}/${name}`);
    }
  }

  /** Returns whether the labels or annotations bring the namespace under other policies than before. */
  #matchesOthers(resource: AuditedResource, before: KubeObject, after: KubeObject): boolean {
    const { policies } = this.#context.cluster.snapshot();
    return policies
      .candidates(resource, [before, after])
      .some(({ match }) => matchNamespace(match, before).kind !== matchNamespace(match, after).kind);
  }
}

function selectedParts({ metadata: { uid, labels, annotations } }: KubeObject): unknown {
  return { uid, labels, annotations };
}

/** Returns the parts of a policy that decide which existing objects violate it. Undefined if no object can. */
export function judgingParts(loaded: LoadedProvider | undefined, resource: AuditedResource): unknown {
  const policy = policyIn(loaded?.definition);
  if (policy === undefined || !hasAuditableRules(policy.compiled, resource)) return undefined;
  const { match, variables, exceptions, secrets, rbac } = policy.object.spec;
  return { match, variables, exceptions, rules: resource === 'secrets' ? secrets : rbac };
}

function partsOf(key: Sweep): { readonly resource: AuditedResource; readonly namespace: string | undefined } {
  const [first, namespace] = key.split('/');
  const resource = auditedResources.find((each) => each === first) ?? 'roles';
  return { resource, namespace };
}

// Puts the parts of the audit together: its results, and its sweeps.

/** The wait before the next violations are looked up, because people often correct many objects at once. */
const refillMs = 10_000;

export function createAudit(context: ReconcileContext, auditReader: AuditReader) {
  const { auditQueue, providerQueue } = context;
  const objectAudit: ObjectAudit = new ObjectAudit(context, (provider, resource) => {
    providerQueue.add(provider);
    if (!objectAudit.isFull(resource)) auditQueue.addAfter(resource, refillMs);
  });
  return { objectAudit, sweeps: new AuditSweeps(context, objectAudit, auditReader) };
}

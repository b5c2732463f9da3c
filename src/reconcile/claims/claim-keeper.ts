// Creates the Namespaces that NamespaceClaims ask for, deletes those of deleted claims, and reports on each claim.
import { conditionOf, isSameCondition, stamped, type Condition } from '../../base/condition.ts';
import { ownMember } from '../../base/json.ts';
import { KubeError } from '../../base/kube-error.ts';
import { isTerminating, namespacedName, nameOf, type KubeObject } from '../../base/metadata.ts';
import { isNewerResourceVersion } from '../../base/watch-sink.ts';
import { kinds } from '../../api/kinds.ts';
import {
  finalizersOf,
  neededOf,
  claimNotReady,
  pendingCondition,
  planNamespaceClaim,
  takenText,
  type NamespaceClaimStep,
} from '../../policy/plan/plan-namespace-claim.ts';
import { claimOf, claimRef } from '../../policy/terms/claim.ts';
import { providerId } from '../../policy/terms/provider-id.ts';
import { apiVersion, cleanupFinalizer } from '../../schema/names.ts';
import type { WantedWatch } from '../live/watches.ts';
import { classifyWriteError } from '../namespace/write-error.ts';
import type { KindProbe, ReconcileContext } from '../ports.ts';
import { done, type Attempt, type Handled } from '../queue/queue.ts';

export interface ClaimPorts {
  readonly kinds: KindProbe;
  /** Rejects with a KubeError if the object exists. An apply would change a Namespace of others instead. */
  readonly create: (object: KubeObject) => Promise<KubeObject>;
}

const kind = kinds.NamespaceClaim.kind;
const windowMs = 600_000;
/** The limit of a policy that does not load. */
const defaultMaxDeletions = 20;
const againMs = 30_000;

export class ClaimKeeper {
  readonly watch: WantedWatch;
  readonly #context: ReconcileContext;
  readonly #ports: ClaimPorts;
  /** By namespace and name. */
  readonly #claims = new Map<string, KubeObject>();
  /** The keys of the claims that ask for a name. */
  readonly #byName = new Map<string, Set<string>>();
  /** The times of deletions on the monotonic clock, by policy. */
  readonly #deletions = new Map<string, number[]>();
  #isLeading = false;

  constructor(context: ReconcileContext, ports: ClaimPorts) {
    this.#context = context;
    this.#ports = ports;
    this.watch = {
      type: { apiVersion, kind },
      metadataOnly: false,
      isOptional: true,
      sink: {
        replaced: (objects) => {
          const present = new Set(objects.map(namespacedName));
          for (const key of this.#claims.keys()) if (!present.has(key)) this.#remove(key);
          for (const object of objects) this.#take(object);
        },
        changed: (object) => this.#take(object),
        removed: (object) => this.#remove(namespacedName(object)),
      },
    };
    context.cluster.subscribe({
      namespace: ({ name }) => this.#wake(this.#byName.get(name) ?? []),
      // A policy may now allow what it refused.
      affecting: () => this.#wake(this.#waiting()),
    });
  }

  begin(): void {
    this.#isLeading = true;
    this.enqueueAll();
  }

  end(): void {
    this.#isLeading = false;
    this.#deletions.clear();
  }

  enqueueAll(): void {
    this.#wake(this.#claims.keys());
  }

  /** Handles one key of the claim queue. */
  async keep(key: string, { signal }: Attempt): Promise<Handled> {
    const object = this.#claims.get(key);
    if (object === undefined) return done;
    try {
      const step = await this.#stepOf(object, signal);
      return await this.#carryOut(key, object, step, signal);
    } catch (error) {
      if (signal.aborted) return done;
      if (error instanceof KubeError) return { kind: 'retry' };
      throw error;
    }
  }

  async #stepOf(object: KubeObject, signal: AbortSignal): Promise<NamespaceClaimStep> {
    const { cluster } = this.#context;
    const policy = textIn(object, 'policy');
    const state = cluster.provider(providerId('NamespacePolicy', policy))?.state;
    return planNamespaceClaim({
      object,
      namespaceObject: cluster.namespace(textIn(object, 'name')),
      isKindTerminating: isTerminating(object) && (await this.#ports.kinds.isKindTerminating(kind, signal)),
      recentDeletions: this.#recent(policy).length,
      maxDeletions: state?.maxDeletions ?? defaultMaxDeletions,
    });
  }

  async #carryOut(
    key: string,
    object: KubeObject,
    step: NamespaceClaimStep,
    signal: AbortSignal,
  ): Promise<Handled> {
    switch (step.kind) {
      case 'none':
        return done;
      case 'finalizer':
        await this.#setFinalizer(object, step.isWanted, signal);
        return done;
      case 'create':
        return await this.#create(key, object, step.namespaceObject, signal);
      case 'delete':
        return await this.#delete(object, step.namespaceObject, signal);
      case 'report':
        await this.#report(object, step.condition, step.namespaceUID, signal);
        return done;
      default:
        return step satisfies never;
    }
  }

  async #create(
    key: string,
    object: KubeObject,
    namespaceObject: KubeObject,
    signal: AbortSignal,
  ): Promise<Handled> {
    const name = nameOf(namespaceObject);
    try {
      const { metadata } = await this.#ports.create(namespaceObject);
      this.#context.observer.wroteOwn('namespace');
      await this.#report(object, pendingCondition(name), metadata.uid, signal);
      return done;
    } catch (error) {
      if (error instanceof KubeError && error.reason === 'AlreadyExists') {
        this.#again(key);
        await this.#report(object, claimNotReady('NameTaken', takenText(name)), undefined, signal);
        return done;
      }
      return await this.#refused(object, error, 'create', signal);
    }
  }

  /** The UID is a precondition, because another Namespace may have the name by now. */
  async #delete(object: KubeObject, namespaceObject: KubeObject, signal: AbortSignal): Promise<Handled> {
    const { writer, observer, clock } = this.#context;
    const { uid = '' } = namespaceObject.metadata;
    try {
      await writer.remove(
        { apiVersion: 'v1', kind: 'Namespace', name: nameOf(namespaceObject) },
        { uid },
        signal,
      );
    } catch (error) {
      return await this.#refused(object, error, 'delete', signal);
    }
    observer.wroteOwn('namespace');
    const policy = textIn(object, 'policy');
    this.#deletions.set(policy, [...this.#recent(policy), clock.monotonic()]);
    // The Namespace is being deleted, so the claim may end.
    await this.#setFinalizer(object, false, signal);
    return done;
  }

  /** Tries again after a while, because nothing reports a new right, or what a webhook would say now. */
  async #refused(
    object: KubeObject,
    error: unknown,
    operation: 'create' | 'delete',
    signal: AbortSignal,
  ): Promise<Handled> {
    if (signal.aborted) return done;
    const failure = classifyWriteError(error, operation);
    if (failure.kind === 'transient') return { kind: 'retry', minDelayMs: failure.minDelayMs };
    if (failure.kind !== 'permanent') return { kind: 'retry' };
    const reason = failure.reason === 'Rejected' ? 'Refused' : failure.reason;
    await this.#report(
      object,
      claimNotReady(reason, `${operation} Namespace: ${failure.message}`),
      undefined,
      signal,
    );
    return { kind: 'retry', minDelayMs: againMs };
  }

  #again(key: string): void {
    this.#context.claimQueue.addAfter(key, againMs);
  }

  /** Writes the list back under the version that was read, because the list can hold finalizers of others. */
  async #setFinalizer(object: KubeObject, isWanted: boolean, signal: AbortSignal): Promise<void> {
    const { writer, observer } = this.#context;
    const { resourceVersion } = object.metadata;
    const others = finalizersOf(object).filter((each) => each !== cleanupFinalizer);
    const finalizers = isWanted ? [...others, cleanupFinalizer] : others;
    const patch = { metadata: { resourceVersion, finalizers } };
    this.#stored(await writer.mergePatch(claimRef(namespacedName(object)), patch, { signal }));
    observer.wroteOwn('finalizer');
  }

  async #report(
    object: KubeObject,
    condition: Condition,
    namespaceUID: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { writer, observer, clock } = this.#context;
    const { status } = object;
    const before = conditionOf(status, condition.type);
    const known = ownMember(status, 'namespaceUID');
    const { generation } = object.metadata;
    const isSame =
      isSameCondition(condition, before) &&
      ownMember(status, 'observedGeneration') === generation &&
      (namespaceUID === undefined || namespaceUID === known);
    if (isSame) return;
    const observed = generation === undefined ? {} : { observedGeneration: generation };
    const conditions = [{ ...stamped(condition, before, clock.now()), ...observed }];
    // The UID is a precondition: another claim of this name may follow, and must not get the namespaceUID.
    const patch = {
      metadata: { uid: object.metadata.uid },
      status: { ...observed, ...(namespaceUID === undefined ? {} : { namespaceUID }), conditions },
    };
    const ref = claimRef(namespacedName(object));
    this.#stored(await writer.mergePatch(ref, patch, { subresource: 'status', signal }));
    observer.wroteOwn('status');
  }

  #recent(policy: string): readonly number[] {
    const since = this.#context.clock.monotonic() - windowMs;
    return (this.#deletions.get(policy) ?? []).filter((at) => at > since);
  }

  #waiting(): readonly string[] {
    const { cluster } = this.#context;
    return [...this.#claims].flatMap(([key, object]) => {
      const namespaceObject = cluster.namespace(textIn(object, 'name'));
      return claimOf(namespaceObject) === key ? [] : [key];
    });
  }

  #wake(keys: Iterable<string>): void {
    if (this.#isLeading) for (const key of keys) this.#context.claimQueue.add(key);
  }

  #take(object: KubeObject): void {
    this.#stored(object);
    this.#wake([namespacedName(object)]);
  }

  /** Keeps the newest version: the answer to a write of ours can come before older events of the watch. */
  #stored(object: KubeObject): void {
    const key = namespacedName(object);
    const known = this.#claims.get(key);
    if (known !== undefined && known.metadata.uid === object.metadata.uid && !isNewer(object, known)) return;
    if (known !== undefined) this.#forgetName(key, known);
    this.#claims.set(key, neededOf(object));
    const name = textIn(object, 'name');
    this.#byName.set(name, (this.#byName.get(name) ?? new Set()).add(key));
  }

  #remove(key: string): void {
    const known = this.#claims.get(key);
    if (known === undefined) return;
    this.#claims.delete(key);
    this.#forgetName(key, known);
  }

  #forgetName(key: string, object: KubeObject): void {
    const name = textIn(object, 'name');
    const keys = this.#byName.get(name);
    keys?.delete(key);
    if (keys?.size === 0) this.#byName.delete(name);
  }
}

function isNewer(object: KubeObject, known: KubeObject): boolean {
  return isNewerResourceVersion(
    String(object.metadata['resourceVersion']),
    String(known.metadata['resourceVersion']),
  );
}

/** Returns a field of the spec, or an empty text for a spec that does not load. */
function textIn(object: KubeObject, field: 'name' | 'policy'): string {
  const value = ownMember(object['spec'], field);
  return typeof value === 'string' ? value : '';
}

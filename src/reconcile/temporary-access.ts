// Deletes the RoleBindings that people granted for a while (`reeve grant access`), each at its end.
import { isTerminating, namespacedName, type KubeObject } from '../base/metadata.ts';
import { roleBindingType } from '../base/object-type.ts';
import type { WatchSink } from '../base/watch-sink.ts';
import { isManaged } from '../policy/desired/desired.ts';
import { endOfGrant } from '../policy/terms/temporary-grant.ts';
import { expiresAtAnnotation, temporaryLabel } from '../schema/names.ts';
import type { EventAnnouncer } from './events.ts';
import { classifyWriteError } from './namespace/write-error.ts';
import type { ReconcileContext } from './ports.ts';
import { done, type Attempt, type Handled } from './queue/queue.ts';

interface Grant {
  readonly uid: string;
  readonly resourceVersion: string;
  /** See `endOfGrant`. */
  readonly end: number;
  readonly isTerminating: boolean;
}

/** The wait for a namespace that the watch has not reported yet, and for a right that is missing. */
const againMs = 15_000;

export class TemporaryAccess {
  /** Takes RoleBindings with the label alone. */
  readonly sink: WatchSink;
  readonly #context: ReconcileContext;
  readonly #announcer: Pick<EventAnnouncer, 'namespace'>;
  /** By namespace and name. */
  readonly #grants = new Map<string, Grant>();
  #isLeading = false;

  constructor(context: ReconcileContext, announcer: Pick<EventAnnouncer, 'namespace'>) {
    this.#context = context;
    this.#announcer = announcer;
    this.sink = {
      replaced: (objects) => {
        this.#grants.clear();
        for (const object of objects) this.#take(object);
      },
      changed: (object) => this.#take(object),
      removed: (object) => this.#removed(namespacedName(object)),
    };
  }

  begin(): void {
    this.#isLeading = true;
    for (const key of this.#grants.keys()) this.#context.accessQueue.add(key);
  }

  end(): void {
    this.#isLeading = false;
  }

  /** Handles one key of the access queue. */
  async endIfDue(key: string, { signal }: Attempt): Promise<Handled> {
    const { clock, cluster, accessQueue } = this.#context;
    const grant = this.#grants.get(key);
    if (grant === undefined) return done;
    const [namespace = '', name = ''] = key.split('/');
    const snapshot = cluster.snapshot();
    const namespaceObject = snapshot.namespace(namespace);
    const leftMs = grant.end - clock.now().getTime();
    if (leftMs > 0) accessQueue.addAfter(key, leftMs);
    else if (namespaceObject === undefined) accessQueue.addAfter(key, againMs);
    else if (!isManaged(namespaceObject, snapshot)) return done;
    else if (Number.isNaN(grant.end)) this.#say(namespace, `RoleBinding ${name} ${noEnd}`);
    else if (grant.isTerminating) this.#say(namespace, `RoleBinding ${name} ${heldText}`);
    else return await this.#remove(namespace, name, grant, signal);
    return done;
  }

  /** The version is a precondition, because the end may have been moved meanwhile. */
  async #remove(
    namespace: string,
    name: string,
    { uid, resourceVersion }: Grant,
    signal: AbortSignal,
  ): Promise<Handled> {
    const { writer, observer } = this.#context;
    try {
      await writer.remove({ ...roleBindingType, namespace, name }, { uid, resourceVersion }, signal);
    } catch (error) {
      if (signal.aborted) return done;
      const failure = classifyWriteError(error, 'delete');
      if (failure.kind === 'not-found' || failure.kind === 'namespace-terminating') return done;
      if (failure.kind === 'permanent')
        this.#say(namespace, `RoleBinding ${name} did not end: ${failure.message}`);
      return { kind: 'retry', minDelayMs: failure.minDelayMs ?? againMs };
    }
    observer.wroteOwn('access');
    return done;
  }

  #removed(key: string): void {
    const { end = Infinity } = this.#grants.get(key) ?? {};
    this.#grants.delete(key);
    const [namespace = '', name = ''] = key.split('/');
    if (this.#isLeading && end <= this.#context.clock.now().getTime())
      this.#say(namespace, `RoleBinding ${name} has ended`, 'Normal');
  }

  #say(namespace: string, note: string, type?: 'Normal'): void {
    this.#announcer.namespace(namespace, 'TemporaryAccess', note, type);
  }

  #take(object: KubeObject): void {
    const key = namespacedName(object);
    const end = endOfGrant(object);
    if (end === undefined) return void this.#grants.delete(key);
    const { uid = '', resourceVersion } = object.metadata;
    this.#grants.set(key, {
      uid,
      resourceVersion: String(resourceVersion),
      end,
      isTerminating: isTerminating(object),
    });
    if (this.#isLeading) this.#context.accessQueue.add(key);
  }
}

const noEnd = `has the label ${temporaryLabel}, but no time in the annotation ${expiresAtAnnotation}, so it does not end`;
const heldText = 'should have ended; finalizers keep it, and it grants until then';

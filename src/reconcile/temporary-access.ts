// Deletes the RoleBindings that people granted for a while (`reeve grant access`), each at its end.
import { annotationsOf, labelsOf, valueOf, type KubeObject } from '../base/metadata.ts';
import { roleBindingType } from '../base/object-type.ts';
import type { WatchSink } from '../base/watch-sink.ts';
import { isManaged } from '../policy/desired/desired.ts';
import { expiresAtAnnotation, managedByLabel, managedByReeve, temporaryLabel } from '../schema/names.ts';
import type { EventAnnouncer } from './events.ts';
import { classifyWriteError } from './namespace/write-error.ts';
import type { ReconcileContext } from './ports.ts';
import { done, type Attempt, type Handled } from './queue/queue.ts';

interface Grant {
  readonly uid: string;
  /** Milliseconds since the epoch. NaN when the annotation is missing or unreadable, so that nothing is deleted by guess. */
  readonly end: number;
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
      removed: (object) => void this.#grants.delete(keyOf(object)),
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
    if (Number.isNaN(grant.end)) {
      this.#say(namespace, `RoleBinding ${name} has the label ${temporaryLabel}, ${noEnd}`);
      return done;
    }
    const leftMs = grant.end - clock.now().getTime();
    const snapshot = cluster.snapshot();
    const namespaceObject = snapshot.namespace(namespace);
    if (leftMs > 0) accessQueue.addAfter(key, leftMs);
    else if (namespaceObject === undefined) accessQueue.addAfter(key, againMs);
    else if (isManaged(namespaceObject, snapshot)) return await this.#remove(namespace, name, grant, signal);
    return done;
  }

  async #remove(namespace: string, name: string, { uid }: Grant, signal: AbortSignal): Promise<Handled> {
    const { writer, observer } = this.#context;
    try {
      await writer.remove({ ...roleBindingType, namespace, name }, { uid }, signal);
    } catch (error) {
      if (signal.aborted) return done;
      const failure = classifyWriteError(error, 'delete');
      if (failure.kind === 'not-found' || failure.kind === 'namespace-terminating') return done;
      if (failure.kind === 'permanent')
        this.#say(namespace, `RoleBinding ${name} did not end: ${failure.message}`);
      return { kind: 'retry', minDelayMs: failure.minDelayMs ?? againMs };
    }
    observer.wroteOwn('access');
    this.#say(namespace, `RoleBinding ${name} has ended`, 'Normal');
    return done;
  }

  #say(namespace: string, note: string, type?: 'Normal'): void {
    this.#announcer.namespace(namespace, 'TemporaryAccess', note, type);
  }

  /** A RoleBinding of a policy ends with its policy, whatever its labels. */
  #take(object: KubeObject): void {
    const key = keyOf(object);
    const labels = labelsOf(object);
    const isGrant =
      valueOf(labels, temporaryLabel) === 'true' && valueOf(labels, managedByLabel) !== managedByReeve;
    if (!isGrant) return void this.#grants.delete(key);
    const end = Date.parse(valueOf(annotationsOf(object), expiresAtAnnotation) ?? '');
    this.#grants.set(key, { uid: object.metadata.uid ?? '', end });
    if (this.#isLeading) this.#context.accessQueue.add(key);
  }
}

const noEnd = `but no time in the annotation ${expiresAtAnnotation}, so it does not end`;

function keyOf({ metadata: { namespace = '', name = '' } }: KubeObject): string {
  return `${namespace}/${name}`;
}

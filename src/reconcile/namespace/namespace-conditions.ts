// Writes what Reeve keeps on a Namespace itself: its conditions, and missing defaults. Objects are written first.
import { KubeError } from '../../base/kube-error.ts';
import { keyText, nameOf, type KubeObject } from '../../base/metadata.ts';
import { listed } from '../../base/text.ts';
import { conflictResult, failedResult, type ObjectResult } from '../../policy/plan/observed.ts';
import { keptReasons, type KeptKey, type KeyRepairs, type RepairedKey } from '../../policy/plan/repair.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import { ChangeLimit, rewriteFingerprint } from './change-limit.ts';
import { objectKey, type ObjectKey } from '../../base/object-type.ts';
import type { EventAnnouncer } from '../events.ts';
import type { NamespaceAudits } from './namespace-audits.ts';
import { RewriteLimit } from './step-executor.ts';
import {
  compliantCondition,
  confirmDeletionsAnnotation,
  ownConditions,
  readyCondition,
} from '../../schema/names.ts';
import {
  areSameConditions,
  conditionOf,
  isSameCondition,
  stamped,
  type Condition,
  type StampedCondition,
} from '../../base/condition.ts';
import { pause } from '../../base/abort.ts';
import { isNewerResourceVersion } from '../../base/watch-sink.ts';
import type { NamespaceChange } from '../../state/live-cluster.ts';
import { changesOnlyConditions, wasRestored } from '../dispatcher.ts';
import type { ReconcileContext } from '../ports.ts';
import { done, type Attempt, type Handled } from '../queue/queue.ts';
import { classifyWriteError, type WriteError } from './write-error.ts';

interface Wanted {
  /** A condition of ours that is not among them is removed. */
  readonly conditions: readonly Condition[];
  /** The time since which the namespace needs other conditions. */
  readonly since: number;
}

interface Written {
  readonly uid: string | undefined;
  readonly resourceVersion: string;
  readonly conditions: readonly StampedCondition[];
}

/**
 * Conditions wait at most this long while namespaces wait for a place in their queue. Otherwise, a quarter of the writes of a
 * burst would be conditions that delay the objects. The first conditions wait in their handlers, the others in the queue.
 */
const maxDeferMs = 5000;
const retryRefusedMs = 2000;

export class NamespaceConditions {
  readonly #context: ReconcileContext;
  readonly #announcer: Pick<EventAnnouncer, 'namespace'>;
  /** Conditions that still have to be written. */
  readonly #wanted = new Map<string, Wanted>();
  /** The last conditions of each namespace, written or not. */
  readonly #last = new Map<string, readonly Condition[]>();
  /** Our own writes, until the watch has reported them. */
  readonly #written = new Map<string, Written>();

  constructor(context: ReconcileContext, announcer: Pick<EventAnnouncer, 'namespace'>) {
    this.#context = context;
    this.#announcer = announcer;
    context.cluster.subscribe({ namespace: (change) => this.#namespaceChanged(change) });
  }

  want(name: string, conditions: readonly Condition[]): void {
    this.#last.set(name, conditions);
    if (areSameConditions(conditions, this.#currentOf(name))) {
      this.#wanted.delete(name);
      return;
    }
    const since = this.#wanted.get(name)?.since ?? this.#context.clock.monotonic();
    this.#wanted.set(name, { conditions, since });
    this.#context.conditionQueue.add(name);
  }

  forget(name: string): void {
    this.#last.delete(name);
    this.#wanted.delete(name);
    this.#written.delete(name);
  }

  /** Counts the namespaces by their last readiness, for the metrics. */
  counts(): { readonly ready: number; readonly notReady: number } {
    let ready = 0;
    for (const conditions of this.#last.values())
      if (conditions.some(({ type, status }) => type === readyCondition && status === 'True')) ready += 1;
    return { ready, notReady: this.#last.size - ready };
  }

  /** Forgets the wanted conditions, because this process no longer leads. */
  reset(): void {
    for (const known of [this.#last, this.#wanted]) known.clear();
  }

  /** Handles one key of the condition queue. */
  async write(name: string, { signal }: Attempt): Promise<Handled> {
    const { clock, writer, observer, conditionQueue, cluster } = this.#context;
    const waiting = this.#wanted.get(name);
    if (waiting !== undefined) await this.#objectsFirst(waiting, signal);
    const wanted = this.#wanted.get(name);
    const namespaceObject = cluster.snapshot().namespace(name);
    if (wanted === undefined || namespaceObject === undefined || signal.aborted) return done;
    const current = this.#currentOf(name);
    const before = (type: string) => current.find((each) => each.type === type);
    const conditions = wanted.conditions.map((each) => stamped(each, before(each.type), clock.now()));
    try {
      const options = { force: true, subresource: 'status', signal } as const;
      this.#remember(name, await writer.apply(applied(namespaceObject, conditions), options));
    } catch (error) {
      return this.#failed(error);
    }
    observer.wroteOwn('condition');
    for (const condition of conditions)
      if (condition.type === compliantCondition && condition.status === 'False')
        if (!isSameCondition(condition, before(compliantCondition)))
          this.#announcer.namespace(name, 'Violated', condition.message);
    if (this.#wanted.get(name) === wanted) this.#wanted.delete(name);
    // Other conditions were wanted after the write began.
    else conditionQueue.add(name);
    return done;
  }

  #namespaceChanged(change: NamespaceChange): void {
    const { name, before, after } = change;
    if (before?.metadata.uid !== after?.metadata.uid) this.forget(name);
    // The conditions that we wrote after the backup was taken are lost.
    else if (wasRestored(change)) this.#written.delete(name);
    const last = this.#last.get(name);
    // Any other change brings the whole namespace to the namespace queue, including its conditions.
    if (last !== undefined && after !== undefined && changesOnlyConditions(before, after))
      this.want(name, last);
  }

  /** Returns early when the signal aborts. */
  async #objectsFirst({ since }: Wanted, signal: AbortSignal): Promise<void> {
    const { clock, namespaceQueue } = this.#context;
    const left = since + maxDeferMs - clock.monotonic();
    if (left <= 0 || !namespaceQueue.isBusy) return;
    const over = new AbortController();
    await Promise.race([namespaceQueue.calm(), pause(clock, left, AbortSignal.any([signal, over.signal]))]);
    over.abort();
  }

  #remember(name: string, answer: KubeObject): void {
    const { uid, resourceVersion } = answer.metadata;
    if (typeof resourceVersion !== 'string') return;
    this.#written.set(name, { uid, resourceVersion, conditions: conditionsIn(answer) });
  }

  #failed(error: unknown): Handled {
    // The namespace was deleted and created again, with another UID. The watch will report this.
    if (error instanceof KubeError && error.code === 422) return done;
    const writeError = classifyWriteError(error, 'change');
    if (writeError.kind === 'transient') return { kind: 'retry', minDelayMs: writeError.minDelayMs };
    if (writeError.kind !== 'permanent') return done;
    this.#context.observer.unexpectedError('the condition of a namespace', error);
    return { kind: 'retry', minDelayMs: writeError.minDelayMs ?? retryRefusedMs };
  }

  #currentOf(name: string): readonly StampedCondition[] {
    const watched = this.#context.cluster.snapshot().namespace(name);
    const written = this.#written.get(name);
    if (watched === undefined) return [];
    const { uid, resourceVersion } = watched.metadata;
    if (
      written?.uid === uid &&
      isNewerResourceVersion(written?.resourceVersion ?? '', String(resourceVersion))
    )
      return written?.conditions ?? [];
    this.#written.delete(name);
    return conditionsIn(watched);
  }
}

function conditionsIn({ status }: KubeObject): readonly StampedCondition[] {
  return ownConditions.flatMap((type) => conditionOf(status, type) ?? []);
}

/** Names only our conditions. The API server merges the list by type, so it keeps conditions of other types. */
function applied({ metadata }: KubeObject, conditions: readonly StampedCondition[]): KubeObject {
  const { name = '', uid } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, ...(uid === undefined ? {} : { uid }) },
    status: { conditions },
  };
}

// Adds missing defaults to a Namespace for `existing: Repair`, and changes no value but that of an enforced key.

export interface Repair {
  readonly error?: WriteError;
  readonly outcomes: readonly ObjectResult[];
  /** The delay after which keys that were left alone may be written again. */
  readonly againMs?: number;
  readonly waves?: KeyRepairs['waves'];
}

const noProblem: Repair = { outcomes: [] };

interface LimitedKey extends RepairedKey {
  readonly id: string;
  readonly value: string;
  /** The delay before the key may be written. 0: now. */
  readonly againMs: number;
}

function namespaceKey(name: string): ObjectKey {
  return objectKey({ apiVersion: 'v1', kind: 'Namespace' }, name);
}

/** Names no count, so that a change in one namespace does not cost a write in every other namespace. */
const tooManyText = `it keeps other values for now, because Reeve changes enforced values in at most maxDeletions namespaces within ten minutes; the annotation ${confirmDeletionsAnnotation} with a higher number allows more`;

function keptResult({ provider, why, message }: KeptKey, name: string): ObjectResult | readonly [] {
  if (why === 'wave') return [];
  const about = { provider, key: namespaceKey(name) };
  return why === 'conflict'
    ? conflictResult(about, keptReasons.conflict, message)
    : failedResult(about, keptReasons[why], message);
}

export class DefaultsRepairer {
  readonly #context: ReconcileContext;
  readonly #audits: NamespaceAudits;
  readonly #announcer: EventAnnouncer;
  /** Limits each key of each Namespace by itself, so that a client that removes one key does not stop the others. */
  readonly #rewriteLimit: RewriteLimit;
  #changeLimit: ChangeLimit | undefined;

  constructor(context: ReconcileContext, audits: NamespaceAudits, announcer: EventAnnouncer) {
    this.#context = context;
    this.#audits = audits;
    this.#announcer = announcer;
    this.#rewriteLimit = new RewriteLimit(context.clock);
  }

  async repair(namespaceObject: KubeObject, signal: AbortSignal): Promise<Repair> {
    const found = this.#audits.keyRepairs(namespaceObject);
    if (found === undefined) return noProblem;
    const keys = found.keys.map((key): LimitedKey => {
      const id = [namespaceObject.metadata.uid, key.field, key.key].join('/');
      const value = found[key.field].get(key.key) ?? '';
      return {
        ...key,
        id,
        value,
        againMs: this.#rewriteLimit.pauseFor(id, rewriteFingerprint({ ...key, value })),
      };
    });
    const limited = keys.filter(({ againMs }) => againMs > 0);
    const parts = this.#withinLimit(
      keys.filter(({ againMs }) => againMs === 0),
      nameOf(namespaceObject),
    );
    const left = this.#leftAlone(namespaceObject, limited);
    const added = parts.due.length === 0 ? noProblem : await this.#add(parts.due, namespaceObject, signal);
    const kept = found.kept.flatMap((each) => keptResult(each, nameOf(namespaceObject)));
    const pauses = [left, parts].flatMap(({ againMs = [] }) => againMs);
    return {
      ...(added.error === undefined ? {} : { error: added.error }),
      ...(pauses.length === 0 ? {} : { againMs: Math.min(...pauses) }),
      outcomes: [...kept, ...left.outcomes, ...parts.outcomes, ...added.outcomes],
      waves: found.waves,
    };
  }

  /** Leaves out changes of values in more namespaces than the policy allows within ten minutes. */
  #withinLimit(
    keys: readonly LimitedKey[],
    namespace: string,
  ): Repair & { readonly due: readonly LimitedKey[] } {
    const { cluster, clock } = this.#context;
    const { providers } = cluster.snapshot();
    const changing = new Set(
      keys.flatMap(({ provider, before }) => (before === undefined ? [] : [provider])),
    );
    const pauses = new Map<ProviderId, number>();
    for (const provider of changing) {
      this.#changeLimit ??= new ChangeLimit(clock);
      const state = providers.get(provider);
      const pauseMs = state === undefined ? 0 : this.#changeLimit.pauseFor(state, namespace);
      if (pauseMs > 0) pauses.set(provider, pauseMs);
    }
    const due = keys.filter(({ provider, before }) => before === undefined || !pauses.has(provider));
    const outcomes = [...pauses.keys()].map((provider) =>
      failedResult({ provider, key: namespaceKey(namespace) }, 'TooManyChanges', tooManyText),
    );
    return pauses.size === 0 ? { due, outcomes } : { due, outcomes, againMs: Math.min(...pauses.values()) };
  }

  async #add(keys: readonly LimitedKey[], namespaceObject: KubeObject, signal: AbortSignal): Promise<Repair> {
    const { name = '', uid, resourceVersion } = namespaceObject.metadata;
    const fields = Map.groupBy(keys, ({ field }) => field);
    const added = Object.fromEntries(
      [...fields].map(([field, own]) => [
        field,
        Object.fromEntries(own.map(({ key, value }) => [key, value])),
      ]),
    );
    // The version is a precondition, because a key that was set meanwhile must not be changed.
    const patch = { metadata: { uid, resourceVersion, ...added } };
    try {
      await this.#context.writer.mergePatch({ apiVersion: 'v1', kind: 'Namespace', name }, patch, { signal });
    } catch (error) {
      if (signal.aborted) throw error;
      return this.#failed(namespaceObject, classifyWriteError(error, 'change'));
    }
    this.#context.observer.wroteOwn('default');
    for (const each of keys) {
      this.#rewriteLimit.wrote(each.id, rewriteFingerprint(each));
      this.#announcer.added(each.provider, name, each);
    }
    return noProblem;
  }

  /** Reports the keys to the policies that set them. */
  #leftAlone(namespaceObject: KubeObject, keys: readonly LimitedKey[]): Repair {
    if (keys.length === 0) return noProblem;
    const { name = '' } = namespaceObject.metadata;
    const outcomes = [...Map.groupBy(keys, ({ provider }) => provider)].map(([provider, own]) => {
      this.#context.observer.rewriteLimited({ namespace: name, kind: 'Namespace', name, owner: provider });
      const names = listed(own.map(({ field, key }) => keyText(field, key)));
      const isChange = own.some(({ before }) => before !== undefined);
      const who = isChange ? 'another client or policy keeps changing' : 'another client keeps removing';
      const message = `${who} ${names}, so Reeve leaves it alone for a while`;
      return failedResult({ provider, key: namespaceKey(name) }, 'Contended', message);
    });
    return { outcomes, againMs: Math.min(...keys.map(({ againMs }) => againMs)) };
  }

  /** Reports the error for every policy that repairs the namespace. */
  #failed(namespaceObject: KubeObject, error: WriteError): Repair {
    if (error.kind !== 'permanent') return { error, outcomes: [] };
    const key = namespaceKey(namespaceObject.metadata.name ?? '');
    const message = `cannot set defaults and enforced values: ${error.message}`;
    const outcomes = this.#audits.repairers(namespaceObject).map((policy): ObjectResult => {
      const about = { provider: policy.id, key };
      return failedResult(about, error.reason, message);
    });
    return { error, outcomes };
  }
}

// Lists the watches that the reconciler needs for the kinds that this installation allows.
import type { WatchSink } from '../../base/watch-sink.ts';
import type { Observed } from '../../policy/plan/observed.ts';
import type { ProviderKind } from '../../api/kinds.ts';
import {
  type ObjectType,
  roleBindingType,
  secretObjectType,
  serviceAccountType,
  groupOf,
} from '../../base/object-type.ts';
import type { Install } from '../../policy/terms/install.ts';
import type { ObservedAccounts } from './observed-accounts.ts';
import type { ObservedObjects } from './observed-objects.ts';
import type { Sources } from './sources.ts';
import { isAborted, pause } from '../../base/abort.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import type { Clock } from '../../base/clock.ts';
import type { SelfReviewer } from '../ports.ts';

/** One list-watch that the caller has to start. */
export interface WantedWatch {
  readonly type: ObjectType;
  /** Undefined: all namespaces. */
  readonly namespace?: string;
  /** Only objects of this name (fieldSelector metadata.name). Undefined: all names. */
  readonly name?: string;
  /** Requests PartialObjectMetadata: the content must never be in memory. */
  readonly metadataOnly: boolean;
  /** If true, the objects keep their managedFields. */
  readonly keepsManagers?: boolean;
  /** The reconciler starts without it, because the API server may not serve the kind. */
  readonly isOptional: boolean;
  /** The watch starts when this resolves. Undefined: at once. */
  readonly needed?: Promise<void>;
  readonly sink: WatchSink;
}

export function wantedWatches(
  { sourceNamespaces, secretNames, resourceKinds = [] }: Install,
  objects: ObservedObjects,
  sources: Sources,
): readonly WantedWatch[] {
  const secrets = (name?: string): WantedWatch => ({
    type: secretObjectType,
    ...(name === undefined ? {} : { name }),
    metadataOnly: true,
    isOptional: false,
    sink: objects.sink(secretObjectType, name),
  });
  const kind = (type: ObjectType, isOptional: boolean): WantedWatch => ({
    type,
    metadataOnly: false,
    isOptional,
    sink: objects.sink(type),
  });
  const source = (namespace: string): WantedWatch => ({
    type: secretObjectType,
    namespace,
    metadataOnly: true,
    isOptional: false,
    sink: sources.sink(namespace),
  });
  return [
    kind(roleBindingType, false),
    ...(secretNames === undefined ? [secrets()] : secretNames.map((name) => secrets(name))),
    ...resourceKinds.map((type) => kind(type, true)),
    ...sourceNamespaces.map(source),
  ];
}

/** Starts only when a policy first adds fields to ServiceAccounts: a cluster has many of them. */
export function accountsWatch(accounts: ObservedAccounts): WantedWatch {
  return {
    type: serviceAccountType,
    metadataOnly: false,
    keepsManagers: true,
    isOptional: true,
    needed: accounts.needed,
    sink: accounts.sink,
  };
}

/** A kind of objects that providers may create. An empty name stands for all names. */
type ProvidedKind = Pick<Observed, 'type' | 'name'>;

export function providedKinds(
  providers: ProviderKind,
  { resourceKinds = [], secretNames = [''] }: Install,
): readonly ProvidedKind[] {
  return providers === 'SecretShare'
    ? secretNames.map((name) => ({ type: secretObjectType, name }))
    : [roleBindingType, ...resourceKinds].map((type) => ({ type, name: '' }));
}

/** Returns the kinds that such providers may create and whose watch has not synced. */
export function unsyncedKinds(
  providers: ProviderKind,
  install: Install,
  objects: ObservedObjects,
): readonly string[] {
  const unsynced = providedKinds(providers, install).filter((each) => !objects.isKnown(each));
  return [...new Set(unsynced.map(({ type }) => type.kind))];
}

// Waits until every watch has delivered its first complete list, except watches that our account may not use.

interface WatchSyncOptions {
  readonly watches: readonly WantedWatch[];
  readonly cluster: LiveCluster;
  readonly objects: ObservedObjects;
  readonly sources: Sources;
  readonly selfReviewer: SelfReviewer;
  readonly install: Install;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
}

const pollMs = 20;
/** How long optional kinds are waited for, and how often the rights of the other watches are asked about. */
const patienceMs = 2000;

export class WatchSync {
  readonly #options: WatchSyncOptions;
  /** Watches that our account has no right to. Statuses name the missing right. */
  readonly #forbidden = new Set<WantedWatch>();

  constructor(options: WatchSyncOptions) {
    this.#options = options;
  }

  get isSynced(): boolean {
    return this.#options.cluster.isSynced && this.#pending(false).every((each) => this.#forbidden.has(each));
  }

  /** Polls, because the watches have no common event for their first lists. */
  async wait(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let askAt = clock.monotonic() + patienceMs;
    while (!isAborted(signal) && !this.isSynced) {
      await pause(clock, pollMs, signal);
      if (isAborted(signal) || clock.monotonic() < askAt) continue;
      await this.#reviewPending(signal);
      askAt = clock.monotonic() + patienceMs;
    }
    const until = clock.monotonic() + patienceMs;
    while (!isAborted(signal) && this.#pending(true).length > 0 && clock.monotonic() < until)
      await pause(clock, pollMs, signal);
  }

  #pending(isOptional: boolean): readonly WantedWatch[] {
    const { watches, objects, sources } = this.#options;
    return watches.filter(
      (watch) =>
        watch.isOptional === isOptional &&
        !(watch.namespace === undefined
          ? objects.isKnown({ type: watch.type, name: watch.name ?? '' })
          : sources.isSyncedIn(watch.namespace)),
    );
  }

  async #reviewPending(signal: AbortSignal): Promise<void> {
    for (const watch of this.#pending(false)) {
      if (await this.#isForbidden(watch, signal)) this.#forbidden.add(watch);
      else this.#forbidden.delete(watch);
    }
  }

  async #isForbidden({ type, namespace, name }: WantedWatch, signal: AbortSignal): Promise<boolean> {
    const { selfReviewer, install } = this.#options;
    const resource = {
      group: groupOf(type.apiVersion),
      resource: install.resourceOf(type),
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
    };
    try {
      const answers = await Promise.all(
        ['list', 'watch'].map((verb) => selfReviewer.mayDo({ ...resource, verb }, signal)),
      );
      return answers.includes('no');
    } catch (error) {
      if (isAborted(signal)) return false;
      throw error;
    }
  }
}

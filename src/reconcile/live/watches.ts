// Lists the watches that the reconciler needs for the kinds that this installation allows.
import { ownTypes } from '../../contents/contents.ts';
import type { WatchSink } from '../../base/watch-sink.ts';
import type { Observed } from '../../policy/plan/observed.ts';
import { kinds, type ProviderKind } from '../../api/kinds.ts';
import {
  configMapType,
  isSameObjectType,
  type ObjectType,
  secretObjectType,
  serviceAccountType,
} from '../../base/object-type.ts';
import { contentTypes, isProvided, type Install } from '../../policy/terms/install.ts';
import type { ObservedAccounts } from './observed-accounts.ts';
import type { ObservedObjects } from './observed-objects.ts';
import type { Sources } from './sources.ts';

/** One list-watch that the caller has to start. */
export interface WantedWatch {
  readonly type: ObjectType;
  /** Undefined: all namespaces. */
  readonly namespace?: string;
  /** Only objects of this name (fieldSelector metadata.name). Undefined: all names. */
  readonly name?: string;
  /** True to request PartialObjectMetadata, because the content must never be in memory. */
  readonly metadataOnly: boolean;
  /** If true, the objects keep their managedFields. */
  readonly keepsManagers?: boolean;
  /** True if the reconciler starts without this watch, because the API server may not serve the kind. */
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
  const source = (type: ObjectType, namespace: string, isOptional: boolean): WantedWatch => ({
    type,
    namespace,
    metadataOnly: true,
    isOptional,
    sink: sources.sink(type, namespace),
  });
  // The right to all ConfigMaps, which their copies need, covers these watches.
  const ofConfigMaps = resourceKinds.some((type) => isSameObjectType(type, configMapType))
    ? sourceNamespaces.map((namespace) => source(configMapType, namespace, true))
    : [];
  return [
    ...ownTypes.map((type) => kind(type, false)),
    ...(secretNames === undefined ? [secrets()] : secretNames.map((name) => secrets(name))),
    ...resourceKinds.map((type) => kind(type, true)),
    ...sourceNamespaces.map((namespace) => source(secretObjectType, namespace, false)),
    ...ofConfigMaps,
  ];
}

/** Starts only when a policy first adds fields to ServiceAccounts, because a cluster has many of them. */
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

export function providedKinds(providers: ProviderKind, install: Install): readonly ProvidedKind[] {
  const { copies } = kinds[providers];
  if (copies === undefined) return contentTypes(install).map((type) => ({ type, name: '' }));
  if (isSameObjectType(copies, secretObjectType))
    return (install.secretNames ?? ['']).map((name) => ({ type: copies, name }));
  return isProvided(copies, install) ? [{ type: copies, name: '' }] : [];
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

// Defines the state that a command looks at: objects by kind, their origin, and the kinds that could not be read.
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import type { Install } from '../../policy/terms/install.ts';
import type { ObjectType } from '../../base/object-type.ts';
import { clipped } from '../../base/text.ts';

export interface UnreadKind {
  readonly kind: string;
  readonly reason: string;
}

export interface ClusterState {
  /** `files`, or a description of the cluster. */
  readonly origin: string;
  readonly isCluster: boolean;
  readonly install: Install;
  /** Returns all objects of the kind. Also returns none for a kind that could not be read. */
  objects(type: ObjectType): readonly KubeObject[];
  /** `namespace` is empty for cluster-scoped kinds. */
  find(type: ObjectType, namespace: string, name: string): KubeObject | undefined;
  /** Kinds that could not be listed. They never count as kinds without objects. */
  readonly unread: readonly UnreadKind[];
  /** Files do not say which kinds are served, so every kind counts as served. */
  isServed(type: ObjectType): boolean;
  /** True if `metadata.managedFields` was kept. */
  readonly hasManagers: boolean;
}

/** What a command reads from a cluster. */
export type Need =
  | 'providers'
  | 'namespaces'
  | 'provided'
  | 'accounts'
  | 'own-secrets'
  | 'sources'
  | 'roles'
  | 'namespaced-roles'
  | 'rbac'
  | 'secrets'
  | 'install'
  | 'written';

type StateFacts = Omit<ClusterState, 'objects' | 'find'>;

/** Later objects replace earlier ones of the same kind, namespace and name. */
export function clusterState(facts: StateFacts, objects: Iterable<KubeObject>): ClusterState {
  const kinds = new Map<string, Map<string, KubeObject>>();
  for (const object of objects) {
    const type = typeKey(object);
    const known = kinds.get(type) ?? new Map<string, KubeObject>();
    kinds.set(type, known.set(nameKey(object.metadata.namespace ?? '', nameOf(object)), object));
  }
  const lists = new Map([...kinds].map(([type, byName]) => [type, [...byName.values()]]));
  return {
    ...facts,
    objects: (type) => lists.get(typeKey(type)) ?? [],
    find: (type, namespace, name) => kinds.get(typeKey(type))?.get(nameKey(namespace, name)),
  };
}

/** Returns the base with these objects in place of those with the same names, and without the removed ones. */
export function withObjects(
  base: ClusterState,
  objects: readonly KubeObject[],
  isGone: (object: KubeObject) => boolean = () => false,
): ClusterState {
  const overlay = clusterState(base, objects);
  const replaced = new Map<string, readonly KubeObject[]>();
  return {
    ...base,
    objects: (type) => {
      const known = replaced.get(typeKey(type));
      if (known !== undefined) return known;
      const added = overlay.objects(type);
      const kept = base
        .objects(type)
        .filter(
          (object) => overlay.find(type, object.metadata.namespace ?? '', nameOf(object)) === undefined,
        );
      const all =
        added.length === 0 ? base.objects(type) : [...kept, ...added.filter((object) => !isGone(object))];
      replaced.set(typeKey(type), all);
      return all;
    },
    find: (type, namespace, name) => {
      const found = overlay.find(type, namespace, name);
      if (found === undefined) return base.find(type, namespace, name);
      return isGone(found) ? undefined : found;
    },
  };
}

function typeKey({ apiVersion = '', kind = '' }: Pick<KubeObject, 'apiVersion' | 'kind'>): string {
  return `${apiVersion} ${kind}`;
}

/** Names contain no slash. */
function nameKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

// Says which kinds a command could not read.

/** Empty if everything could be read. Without this line, an incomplete result would look like a cluster in order. */
export function unreadText(unread: readonly { readonly kind: string }[]): string {
  const kinds = [...new Set(unread.map(({ kind }) => clipped(kind)))];
  return kinds.length === 0 ? '' : `incomplete: could not read ${kinds.join(', ')}`;
}

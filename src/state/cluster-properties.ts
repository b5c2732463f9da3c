// Keeps the ClusterProperty objects that the watches report: facts about the cluster beside those that the install sets.
import { ownMember } from '../base/json.ts';
import { nameOf, type KubeObject } from '../base/metadata.ts';
import { isSameObjectType, type ObjectType } from '../base/object-type.ts';
import type { WatchSink } from '../base/watch-sink.ts';
import type { Install } from '../policy/terms/install.ts';
import { ObjectCache } from './object-cache.ts';

/** A cluster serves one of these versions, or both. https://github.com/kubernetes-sigs/about-api */
export const propertyTypes: readonly ObjectType[] = ['v1beta1', 'v1alpha1'].map((version) => ({
  apiVersion: `about.k8s.io/${version}`,
  kind: 'ClusterProperty',
}));

function isClusterProperty({ apiVersion = '', kind = '' }: KubeObject): boolean {
  return propertyTypes.some((type) => isSameObjectType(type, { apiVersion, kind }));
}

type Variables = Install['clusterVariables'];

/** A value may have 128,000 characters. Templates put it into labels and names, so that a longer one is a mistake. */
const maxLength = 1024;

/**
 * Adds the ClusterProperties among the objects, without values that are too long. A value of the install wins. Where no install is
 * known, nothing says which variables there are.
 */
export function withProperties(variables: Variables, objects: readonly KubeObject[]): Variables {
  if (variables === undefined) return undefined;
  const found = objects
    .filter(isClusterProperty)
    .flatMap((object): readonly (readonly [string, string])[] => {
      const value = ownMember(object['spec'], 'value');
      return typeof value === 'string' && value.length <= maxLength ? [[nameOf(object), value]] : [];
    });
  return { ...Object.fromEntries(found), ...variables };
}

/** The word stands in each expression that reads `variables.cluster`. */
export function mayReadVariables(spec: unknown): boolean {
  return JSON.stringify(spec ?? {}).includes('cluster');
}

export class ClusterProperties {
  /** One for each version, in the order of `propertyTypes`. */
  readonly sinks: readonly (ObjectType & { readonly sink: WatchSink })[];
  readonly #caches: readonly ObjectCache<KubeObject>[];

  constructor(changed: () => void) {
    const caches = propertyTypes.map((type) => ({
      ...type,
      sink: new ObjectCache<KubeObject>({ ...type, read: (object) => object, changed }),
    }));
    this.sinks = caches;
    this.#caches = caches.map(({ sink }) => sink);
  }

  get isSynced(): boolean {
    return this.#caches.every(({ isSynced }) => isSynced);
  }

  get objects(): readonly KubeObject[] {
    return this.#caches.flatMap((cache) => [...cache.values()]);
  }
}

// Asks the API server for one Namespace, for when the watch has not brought it yet.
import type { KubeObject } from '../base/kube-object.ts';
import { answeredObject, unlessNotFound } from './http/answered-object.ts';
import type { KubeClient } from './http/client.ts';
import { resourcePath } from './http/resource-paths.ts';

export interface LiveNamespaces {
  /** Undefined when there is none of that name; every other failure rejects, because it is no answer. */
  find(name: string, signal: AbortSignal): Promise<KubeObject | undefined>;
}

export function createNamespaceFinder(client: KubeClient): LiveNamespaces {
  return {
    find: (name, signal) => {
      const path = resourcePath({ apiVersion: 'v1', plural: 'namespaces', name });
      return unlessNotFound(async () =>
        answeredObject(await client.request({ method: 'GET', path, signal })),
      );
    },
  };
}

// Gives every namespace the service account `default`.
// https://kubernetes.io/docs/concepts/security/service-accounts/#default-service-accounts
import { namespaceKind, serviceAccountKind } from '../kinds/plain-kinds.ts';
import { timestamp, type WriteContext } from '../write/context.ts';
import type { Controller } from './loop.ts';

export function defaultAccounts({ store, now, uid }: WriteContext): Controller {
  return {
    concerns: ({ resource, type }) =>
      (resource === namespaceKind && type === 'added') ||
      (resource === serviceAccountKind && type === 'deleted'),
    run: () => {
      for (const { metadata } of store.list(namespaceKind)) {
        const namespace = metadata.name;
        if (metadata.deletionTimestamp !== undefined || namespace === undefined) continue;
        if (store.get(serviceAccountKind, namespace, 'default') !== undefined) continue;
        const own = { name: 'default', namespace, uid: uid(), creationTimestamp: timestamp(now()) };
        store.put(serviceAccountKind, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: own }, undefined);
      }
      return Promise.resolve(true);
    },
  };
}

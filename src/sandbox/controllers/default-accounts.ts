// Gives every namespace the service account `default`.
// https://kubernetes.io/docs/concepts/security/service-accounts/#default-service-accounts
import { timestamp, type WriteContext } from '../write/context.ts';
import type { Controller } from './loop.ts';

export function defaultAccounts({ store, kinds, now, uid }: WriteContext): Controller {
  return {
    concerns: ({ resource, type }) =>
      (resource.plural === 'namespaces' && type === 'added') ||
      (resource.plural === 'serviceaccounts' && type === 'deleted'),
    run: () => {
      const namespaces = kinds.find('', 'v1', 'namespaces');
      const accounts = kinds.find('', 'v1', 'serviceaccounts');
      if (namespaces === undefined || accounts === undefined) return Promise.resolve(true);
      for (const { metadata } of store.list(namespaces)) {
        const namespace = metadata.name;
        if (metadata.deletionTimestamp !== undefined || namespace === undefined) continue;
        if (store.get(accounts, namespace, 'default') !== undefined) continue;
        const own = { name: 'default', namespace, uid: uid(), creationTimestamp: timestamp(now()) };
        store.put(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: own }, undefined);
      }
      return Promise.resolve(true);
    },
  };
}

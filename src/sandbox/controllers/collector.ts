// Removes objects whose owners have all gone. https://kubernetes.io/docs/concepts/architecture/garbage-collection/
import { allObjects, type WriteContext } from '../write/context.ts';
import { deleteAll } from './internal-requests.ts';
import type { Controller } from './loop.ts';

export function garbageCollector(context: WriteContext): Controller {
  return {
    concerns: ({ type, object }) => type === 'deleted' || (object.metadata.ownerReferences?.length ?? 0) > 0,
    run: async () => {
      const all = allObjects(context);
      const present = new Map(all.map(([, { metadata }]) => [metadata.uid, metadata.namespace]));
      const orphans = all.filter(([, { metadata }]) => {
        const { ownerReferences: owners = [], deletionTimestamp } = metadata;
        // An owner in another namespace counts as absent.
        const mayOwn = [undefined, metadata.namespace];
        const isThere = (uid?: string) => present.has(uid) && mayOwn.includes(present.get(uid));
        const isOwned = owners.length === 0 || owners.some(({ uid }) => isThere(uid));
        return !isOwned && deletionTimestamp === undefined;
      });
      return await deleteAll(context, 'generic-garbage-collector', orphans);
    },
  };
}

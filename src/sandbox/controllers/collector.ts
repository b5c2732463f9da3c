// Removes objects whose owners have all gone. https://kubernetes.io/docs/concepts/architecture/garbage-collection/
import { everyObject, type WriteContext } from '../write/context.ts';
import { removeAll } from './internal-requests.ts';
import type { Controller } from './loop.ts';

export function collector(context: WriteContext): Controller {
  return {
    concerns: ({ type, object }) => type === 'deleted' || (object.metadata.ownerReferences?.length ?? 0) > 0,
    run: async () => {
      const all = everyObject(context);
      const present = new Set(all.map(([, { metadata }]) => metadata.uid));
      const orphans = all.filter(([, { metadata }]) => {
        const { ownerReferences: owners = [], deletionTimestamp } = metadata;
        const isOwned = owners.length === 0 || owners.some(({ uid }) => present.has(uid));
        return !isOwned && deletionTimestamp === undefined;
      });
      return await removeAll(context, 'generic-garbage-collector', orphans);
    },
  };
}

// Removes objects whose owners have all gone. https://kubernetes.io/docs/concepts/architecture/garbage-collection/
import type { KubeObject } from '../../api/kube-object.ts';
import type { Resource } from '../resource.ts';
import type { WriteContext } from '../write/context.ts';
import { remove } from '../write/delete.ts';
import { controllerRequest } from './internal-requests.ts';
import type { Controller } from './loop.ts';

export function collector(context: WriteContext): Controller {
  const { store, kinds } = context;
  const everything = (): readonly (readonly [Resource, KubeObject])[] =>
    kinds.all().flatMap((resource) => store.list(resource).map((object) => [resource, object] as const));
  return {
    concerns: ({ type, object }) => type === 'deleted' || (object.metadata.ownerReferences?.length ?? 0) > 0,
    run: async () => {
      const all = everything();
      const present = new Set(all.map(([, { metadata }]) => metadata.uid));
      const orphans = all.filter(([, { metadata }]) => {
        const owners = metadata.ownerReferences ?? [];
        return (
          owners.length > 0 &&
          metadata.deletionTimestamp === undefined &&
          !owners.some(({ uid }) => present.has(uid))
        );
      });
      for (const [resource, object] of orphans) {
        await remove(context, controllerRequest('generic-garbage-collector', resource, object, {}));
      }
      return true;
    },
  };
}

// Removes the objects of a definition that is being deleted, and then the definition.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#delete-a-customresourcedefinition
import { ownMember } from '../../api/json.ts';
import type { KubeObject } from '../../api/kube-object.ts';
import type { WriteContext } from '../write/context.ts';
import { remove } from '../write/delete.ts';
import { controllerRequest } from './internal-requests.ts';
import type { Controller } from './loop.ts';

export function definitionController(context: WriteContext): Controller {
  const { store, kinds } = context;
  return {
    concerns: ({ resource, object, type }) =>
      resource.isCustom
        ? type === 'deleted'
        : resource.group === 'apiextensions.k8s.io' && object.metadata.deletionTimestamp !== undefined,
    run: async () => {
      const definitions = kinds.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
      if (definitions === undefined) return true;
      const ending = store
        .list(definitions)
        .filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
      const results = await Promise.all(ending.map((definition) => emptied(context, definition)));
      for (const [index, definition] of ending.entries()) {
        if (results[index] === true) store.remove(definitions, definition);
      }
      return results.every(Boolean);
    },
  };
}

/** Nobody is asked: the API server itself does this, past admission. */
async function emptied({ store, kinds, ...context }: WriteContext, { spec }: KubeObject): Promise<boolean> {
  const plural = ownMember(ownMember(spec, 'names'), 'plural');
  const resource = kinds.all().find((each) => each.isCustom && each.plural === plural);
  if (resource === undefined) return true;
  const unasked = { mutate: () => Promise.resolve(undefined), validate: () => Promise.resolve() };
  const writing = { ...context, store, kinds, admission: unasked };
  for (const object of store.list(resource)) {
    if (object.metadata.deletionTimestamp !== undefined) continue;
    await remove(writing, controllerRequest('apiserver', resource, object, {}));
  }
  return store.list(resource).length === 0;
}

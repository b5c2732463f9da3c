// Removes the objects of a definition that is being deleted, and then the definition.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#delete-a-customresourcedefinition
import type { KubeObject } from '../../base/kube-object.ts';
import { customKinds, definitionName, definitionKind } from '../kinds/custom-kinds.ts';
import type { WriteContext } from '../write/context.ts';
import { deleteAll } from './internal-requests.ts';
import type { Controller } from './loop.ts';

export function definitionController(context: WriteContext): Controller {
  const { store } = context;
  return {
    concerns: ({ resource, object, type }) =>
      resource.isCustom
        ? type === 'deleted'
        : resource === definitionKind && object.metadata.deletionTimestamp !== undefined,
    run: async () => {
      const ending = store
        .list(definitionKind)
        .filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
      const results = await Promise.all(ending.map((definition) => emptied(context, definition)));
      for (const [index, definition] of ending.entries()) {
        if (results[index] === true) store.remove(definitionKind, definition);
      }
      return results.every(Boolean);
    },
  };
}

/** Nobody is asked: the API server itself does this, past admission. */
async function emptied(context: WriteContext, { metadata }: KubeObject): Promise<boolean> {
  const { store } = context;
  const resource = customKinds.find((kind) => definitionName(kind) === metadata.name);
  if (resource === undefined) return true;
  const unasked = { mutate: () => Promise.resolve(undefined), validate: () => Promise.resolve() };
  const writing = { ...context, admission: unasked };
  const waiting = store.list(resource).filter(({ metadata: { deletionTimestamp } }) => !deletionTimestamp);
  await deleteAll(
    writing,
    'apiserver',
    waiting.map((object) => [resource, object]),
  );
  return store.list(resource).length === 0;
}

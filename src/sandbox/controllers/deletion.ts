// Finishes deletions: empties namespaces and definitions, and removes objects without owners.
import { ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { namespaceKind } from '../kinds/plain-kinds.ts';
import { allObjects, type WriteContext } from '../write/context.ts';
import { updateObject } from '../write/update.ts';
import { type Controller, controllerRequest, succeeds, deleteAll } from './controller.ts';
import { definitionName } from '../kinds/custom-kinds.ts';

const name = 'namespace-controller';

export function namespaceController(context: WriteContext): Controller {
  return {
    concerns: ({ resource, object, type }) =>
      resource.isNamespaced ? type === 'deleted' : object.metadata.deletionTimestamp !== undefined,
    run: async () => {
      const ending = context.store.list(namespaceKind).filter(isHeldByUs);
      const results = await Promise.all(ending.map((each) => finish(context, each)));
      return results.every(Boolean);
    },
  };
}

/** Other finalizers belong to other controllers. */
const ownFinalizer = 'kubernetes';

function isHeldByUs(namespace: KubeObject): boolean {
  return namespace.metadata.deletionTimestamp !== undefined && finalizersOf(namespace).includes(ownFinalizer);
}

function finalizersOf({ spec }: KubeObject): readonly unknown[] {
  const finalizers: unknown = ownMember(spec, 'finalizers');
  return Array.isArray(finalizers) ? finalizers : [];
}

async function finish(context: WriteContext, namespace: KubeObject): Promise<boolean> {
  const contents = () => allObjects(context, namespace.metadata.name);
  const waiting = contents().filter(([, { metadata }]) => metadata.deletionTimestamp === undefined);
  await deleteAll(context, name, waiting);
  if (contents().length > 0) return false;
  const finalizers = finalizersOf(namespace).filter((finalizer) => finalizer !== ownFinalizer);
  const body = { ...namespace, spec: finalizers.length === 0 ? {} : { finalizers } };
  const parts = { verb: 'update', subresource: 'finalize', body } as const;
  return await succeeds(updateObject(context, controllerRequest(name, namespaceKind, namespace, parts)));
}

export function definitionController(context: WriteContext): Controller {
  const { store, kinds } = context;
  const definitionKind = kinds.ofKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
  return {
    concerns: ({ resource, object, type }) =>
      resource.isCustom
        ? type === 'deleted'
        : resource === definitionKind && object.metadata.deletionTimestamp !== undefined,
    run: async () => {
      if (definitionKind === undefined) return true;
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

/** Skips admission, as the API server does when it deletes the objects of a definition. */
async function emptied(context: WriteContext, { metadata }: KubeObject): Promise<boolean> {
  const { store, kinds } = context;
  const resource = kinds.all().find((kind) => kind.isCustom && definitionName(kind) === metadata.name);
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

export function garbageCollector(context: WriteContext): Controller {
  return {
    concerns: ({ type, object }) => type === 'deleted' || (object.metadata.ownerReferences?.length ?? 0) > 0,
    run: async () => {
      const all = allObjects(context);
      const present = new Map(all.map(([, { metadata }]) => [metadata.uid, metadata.namespace]));
      const orphans = all.filter(([, { metadata }]) => {
        const { ownerReferences: owners = [], deletionTimestamp } = metadata;
        // An owner in another namespace counts as missing.
        const mayOwn = [undefined, metadata.namespace];
        const isThere = (uid?: string) => present.has(uid) && mayOwn.includes(present.get(uid));
        const isOwned = owners.length === 0 || owners.some(({ uid }) => isThere(uid));
        return !isOwned && deletionTimestamp === undefined;
      });
      return await deleteAll(context, 'generic-garbage-collector', orphans);
    },
  };
}

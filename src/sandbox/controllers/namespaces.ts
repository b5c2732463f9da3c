// Empties namespaces that are being deleted, and lets them go when nothing is left.
// https://kubernetes.io/docs/tasks/administer-cluster/namespaces/#deleting-a-namespace
import { ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { namespaceKind } from '../kinds/plain-kinds.ts';
import { allObjects, type WriteContext } from '../write/context.ts';
import { updateObject } from '../write/update.ts';
import { controllerRequest, succeeds, deleteAll } from './internal-requests.ts';
import type { Controller } from './loop.ts';

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

/** Those of others are theirs to take away. */
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

// Empties namespaces that are being deleted, and lets them go when nothing is left.
// https://kubernetes.io/docs/tasks/administer-cluster/namespaces/#deleting-a-namespace
import { ownMember } from '../../api/json.ts';
import type { KubeObject } from '../../api/kube-object.ts';
import { ApiError } from '../api-error.ts';
import type { Resource } from '../resource.ts';
import type { WriteContext } from '../write/context.ts';
import { remove } from '../write/delete.ts';
import { update } from '../write/update.ts';
import { controllerRequest } from './internal-requests.ts';
import type { Controller } from './loop.ts';

const name = 'namespace-controller';

export function namespaceController(context: WriteContext): Controller {
  const { store, kinds } = context;
  return {
    concerns: ({ resource, object, type }) =>
      resource.isNamespaced ? type === 'deleted' : object.metadata.deletionTimestamp !== undefined,
    run: async () => {
      const namespaces = kinds.find('', 'v1', 'namespaces');
      if (namespaces === undefined) return true;
      const ending = store.list(namespaces).filter(isHeldByUs);
      const results = await Promise.all(ending.map((each) => finish(context, namespaces, each)));
      return results.every(Boolean);
    },
  };
}

function isHeldByUs({ metadata, spec }: KubeObject): boolean {
  const finalizers = ownMember(spec, 'finalizers');
  return metadata.deletionTimestamp !== undefined && Array.isArray(finalizers) && finalizers.length > 0;
}

async function finish(context: WriteContext, namespaces: Resource, namespace: KubeObject): Promise<boolean> {
  const { store, kinds } = context;
  const contents = (): readonly (readonly [Resource, KubeObject])[] =>
    kinds
      .all()
      .filter(({ isNamespaced }) => isNamespaced)
      .flatMap((resource) =>
        store.list(resource, namespace.metadata.name).map((object) => [resource, object] as const),
      );
  const waiting = contents().filter(([, { metadata }]) => metadata.deletionTimestamp === undefined);
  const removals = waiting.map(([resource, object]) => removed(context, resource, object));
  await Promise.all(removals);
  if (contents().length > 0) return false;
  const body = { ...namespace, spec: {} };
  const parts = { verb: 'update', subresource: 'finalize', body } as const;
  return await done(update(context, controllerRequest(name, namespaces, namespace, parts)));
}

async function removed(context: WriteContext, resource: Resource, object: KubeObject): Promise<boolean> {
  return await done(remove(context, controllerRequest(name, resource, object, {})));
}

/** What is refused, or has changed meanwhile, is tried again. */
async function done(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.failure.code === 404;
  }
}

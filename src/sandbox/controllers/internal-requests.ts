// Requests that the sandbox makes of itself, as the controllers of a cluster do: admission sees them, RBAC need not.
import type { KubeObject } from '../../api/kube-object.ts';
import type { ObjectRequest } from '../request.ts';
import type { Resource } from '../resource.ts';
import { serviceAccountUser } from '../tokens.ts';

export function controllerRequest(
  controller: string,
  resource: Resource,
  object: KubeObject,
  parts: Partial<ObjectRequest>,
): ObjectRequest {
  return {
    user: serviceAccountUser('kube-system', controller, controller),
    verb: 'delete',
    resource,
    subresource: undefined,
    namespace: object.metadata.namespace,
    name: object.metadata.name,
    query: new URLSearchParams(),
    body: undefined,
    patchType: undefined,
    agent: 'reeve-sandbox',
    warn: () => undefined,
    signal: new AbortController().signal,
    ...parts,
  };
}

// Describes one write as webhooks and policies see it.
// https://pkg.go.dev/k8s.io/api/admission/v1#AdmissionRequest
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { Bindings } from '../../cel/expression.ts';
import type { Resource, ServedSubresource } from '../resource.ts';
import type { User } from '../access/users.ts';

export interface ReviewedWrite {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly resource: Resource;
  readonly subresource: ServedSubresource | undefined;
  readonly namespace: string | undefined;
  /** Empty for a create with generateName, and for each object of a deletecollection. */
  readonly name: string;
  /** Undefined for a delete. */
  readonly object: KubeObject | undefined;
  /** Undefined for a create. */
  readonly oldObject: KubeObject | undefined;
  readonly user: User;
  readonly dryRun: boolean;
  /** CreateOptions, UpdateOptions, PatchOptions (patches and applies) or DeleteOptions, with kind and apiVersion. */
  readonly options: JsonObject;
  readonly warn: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Returns the name of a Namespace for the Namespace itself, and an empty text for other cluster-scoped objects. */
export function namespaceNameOf({ resource, namespace, name }: ReviewedWrite): string {
  return resource.kind === 'Namespace' ? name : (namespace ?? '');
}

/** Returns the variables of expressions without namespaceObject, which is null in matchConditions. */
export function bindingsOf(write: ReviewedWrite): Bindings {
  return { object: write.object, oldObject: write.oldObject, request: admissionRequest(write) };
}

/** Returns the request without its objects, which expressions read as `object` and `oldObject`. */
export function admissionRequest(write: ReviewedWrite): JsonObject {
  const { resource, subresource, name, operation, user, dryRun, options } = write;
  const { group, version, plural } = resource;
  const kind = { group, version, kind: resource.kind };
  const requestResource = { group, version, resource: plural };
  return {
    kind,
    resource: requestResource,
    requestKind: kind,
    requestResource,
    ...(subresource === undefined ? {} : { subResource: subresource, requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespaceNameOf(write) === '' ? {} : { namespace: namespaceNameOf(write) }),
    operation,
    userInfo: user,
    dryRun,
    options,
  };
}

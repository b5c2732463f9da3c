// Says which Namespace a NamespaceClaim asks for, whose request it is, and which Namespace is its own.
import { kinds } from '../../api/kinds.ts';
import type { NamespaceClaim } from '../../api/namespace-claim/namespace-claim.ts';
import {
  annotationsOf,
  isTerminating,
  namespacedName,
  valueOf,
  type KubeObject,
  type ObjectRef,
} from '../../base/metadata.ts';
import type { CompileResult } from '../../base/problem.ts';
import type { Requester } from '../../rules/rule.ts';
import { apiVersion, claimAnnotation, claimUidAnnotation } from '../../schema/names.ts';

/** Reads a claim of the API server. Its other metadata is left out, because a later API server may accept more of it. */
export function readClaim({ metadata, spec }: KubeObject): CompileResult<NamespaceClaim> {
  const { name, namespace } = metadata;
  const { kind } = kinds.NamespaceClaim;
  return kinds.NamespaceClaim.parse({ apiVersion, kind, metadata: { name, namespace }, spec });
}

/** The Namespace as Reeve creates it. A claim that is being written has no UID yet. */
export function claimedNamespace({ spec }: NamespaceClaim, object: KubeObject): KubeObject {
  const { name, labels = {}, annotations = {} } = spec;
  const { uid } = object.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels,
      annotations: {
        ...annotations,
        [claimAnnotation]: namespacedName(object),
        ...(uid === undefined ? {} : { [claimUidAnnotation]: uid }),
      },
    },
  };
}

/** Names the claim that the Namespace was created for, as `<namespace>/<name>`. Undefined for any other Namespace. */
export function claimOf(namespaceObject: KubeObject | undefined): string | undefined {
  return valueOf(annotationsOf(namespaceObject), claimAnnotation);
}

export function claimRef(claim: string): ObjectRef {
  const [namespace = '', name = ''] = claim.split('/');
  return { apiVersion, kind: kinds.NamespaceClaim.kind, namespace, name };
}

/** Returns false for a Namespace of an earlier claim with the same name. */
export function isOfClaim(namespaceObject: KubeObject | undefined, claim: KubeObject): boolean {
  return (
    claim.metadata.uid !== undefined &&
    claimOf(namespaceObject) === namespacedName(claim) &&
    valueOf(annotationsOf(namespaceObject), claimUidAnnotation) === claim.metadata.uid
  );
}

/** Returns whether the deletion of the claim deletes this Namespace. */
export function deletesNamespace(
  { spec }: NamespaceClaim,
  claim: KubeObject,
  namespaceObject: KubeObject | undefined,
): namespaceObject is KubeObject {
  return (
    spec.deletionPolicy === 'Delete' &&
    namespaceObject !== undefined &&
    isOfClaim(namespaceObject, claim) &&
    !isTerminating(namespaceObject)
  );
}

/** Returns undefined for a claim that the webhook has not stamped. */
export function claimantOf({ spec: { requester } }: NamespaceClaim): Requester | undefined {
  return requester === undefined ? undefined : { ...requester, groups: requester.groups ?? [] };
}

// Rules of an API server about single objects: identity, immutable fields, errors, and what watches show.
import { isDeepStrictEqual } from 'node:util';
import { KubeError } from '../../src/base/kube-error.ts';
import type { KubeObject, ObjectMeta, ObjectRef } from '../../src/base/metadata.ts';
import type { WatchSink } from '../../src/base/watch-sink.ts';
import { without } from './memory-merge.ts';

export const clusterScoped: ReadonlySet<string> = new Set([
  'Namespace',
  'NamespacePolicy',
  'SecretShare',
  'SecurityIntent',
  'ClusterSecurityIntentBinding',
]);
export const withStatus: ReadonlySet<string> = new Set([
  'Namespace',
  'NamespacePolicy',
  'SecretShare',
  'ClusterSecurityIntentBinding',
  'SecurityIntentBinding',
  'ResourceQuota',
]);

/** A 403 is a missing right. */
export function failure(code: number, causes: readonly string[] = [], retryAfterMs?: number): KubeError {
  const reasons: Record<number, string> = {
    403: 'Forbidden',
    404: 'NotFound',
    409: 'Conflict',
    422: 'Invalid',
  };
  return new KubeError({
    code,
    reason: reasons[code] ?? 'InternalError',
    causes,
    ...(code === 403 ? { refusal: { by: 'rights', name: 'patch something' } } : {}),
    retryable: code === 0 || code === 429 || code >= 500,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

export function checkPreconditions({ metadata }: KubeObject, uid: unknown, resourceVersion: unknown): void {
  if (resourceVersion !== undefined && resourceVersion !== metadata['resourceVersion']) throw failure(409);
  if (uid !== undefined && uid !== metadata.uid) throw failure(422);
}

export function checkImmutable(known: KubeObject, next: KubeObject): void {
  if (known.kind === 'RoleBinding' && !isDeepStrictEqual(known['roleRef'], next['roleRef']))
    throw failure(422);
  if (known.kind !== 'Secret') return;
  if ((known['type'] ?? 'Opaque') !== (next['type'] ?? 'Opaque')) throw failure(422);
  const isSame = isDeepStrictEqual(known['data'], next['data']) && next['immutable'] === true;
  if (known['immutable'] === true && !isSame) throw failure(422);
}

export function onlyStatus(known: KubeObject, next: KubeObject, subresource: string): KubeObject {
  if (!withStatus.has(known.kind ?? '')) return next;
  if (subresource === 'status') return { ...known, status: next['status'] };
  return withoutUndefined({ ...next, status: known['status'] });
}

export function hasFinalizers({ metadata: { finalizers } }: KubeObject): boolean {
  return Array.isArray(finalizers) && finalizers.length > 0;
}

export function refTo({
  apiVersion = '',
  kind = '',
  metadata: { namespace, name = '' },
}: KubeObject): ObjectRef {
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) };
}

export function idOf({ kind, namespace = '', name }: ObjectRef): string {
  return `${kind}/${namespace}/${name}`;
}

export function withoutUndefined(object: object): KubeObject {
  return without(object, (value) => value === undefined) as KubeObject;
}

export function withoutUndefinedFields(metadata: object): ObjectMeta {
  return without(metadata, (value) => value === undefined) as ObjectMeta;
}

export interface MemoryWatch {
  readonly type: { readonly apiVersion: string; readonly kind: string };
  readonly namespace?: string;
  readonly name?: string;
  readonly metadataOnly?: boolean;
  readonly sink: WatchSink;
}

/** Returns whether the watch reports this object. */
export function covers({ type, namespace, name }: MemoryWatch, object: KubeObject): boolean {
  return (
    object.kind === type.kind &&
    object.apiVersion === type.apiVersion &&
    (namespace === undefined || object.metadata.namespace === namespace) &&
    (name === undefined || object.metadata.name === name)
  );
}

/** Returns the object as the watch shows it. */
export function shown({ metadataOnly = false }: MemoryWatch, object: KubeObject): KubeObject {
  if (!metadataOnly) return object;
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: object.metadata };
}

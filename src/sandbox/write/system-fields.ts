// Sets the metadata that only the server sets, and keeps the parts that a subresource does not write.
import { randomBytes } from 'node:crypto';
import type { KubeObject, ObjectMeta } from '../../base/kube-object.ts';
import type { Resource, ServedSubresource } from '../resource.ts';

const nameEnding = 5;
/**
 * Without vowels and similar letters, so that no words arise:
 * https://pkg.go.dev/k8s.io/apimachinery/pkg/util/rand#String
 */
const letters = 'bcdfghjklmnpqrstvwxz2456789';

const serverKept = [
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'selfLink',
];

/** A create ignores what a client sends in these fields. */
export function withoutSystemFields(object: KubeObject): KubeObject {
  const given = Object.entries(object.metadata).filter(([key]) => !serverKept.includes(key));
  return { ...object, metadata: Object.fromEntries(given) };
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#generated-values */
export function named(object: KubeObject): KubeObject {
  const { name, generateName = '' } = object.metadata;
  if (name !== undefined || generateName === '') return object;
  const ending = [...randomBytes(nameEnding)].map((byte) => letters[byte % letters.length]).join('');
  return { ...object, metadata: { ...object.metadata, name: `${generateName.slice(0, 58)}${ending}` } };
}

/** The preconditions have been checked, so an update has the same values here or none. */
export function withFieldsOf(stored: KubeObject, submitted: KubeObject): KubeObject {
  const kept = Object.entries(stored.metadata).filter(([key]) => serverKept.includes(key));
  const { metadata } = withoutSystemFields(submitted);
  return { ...submitted, metadata: { ...Object.fromEntries(kept), ...metadata } };
}

/** Empty metadata is left out: https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#ObjectMeta (omitempty) */
export function withoutEmpty({ metadata, ...rest }: KubeObject): KubeObject {
  const filled = Object.entries(metadata).filter(
    ([, value]) => typeof value !== 'object' || value === null || Object.keys(value).length > 0,
  );
  return { ...rest, metadata: Object.fromEntries(filled) };
}

/**
 * Groups whose status subresource does not write metadata. In other groups it can change labels.
 * https://pkg.go.dev/k8s.io/apiserver/pkg/registry/rest#RESTUpdateStrategy (PrepareForUpdate)
 */
const strictStatusGroups = ['apiextensions.k8s.io', 'admissionregistration.k8s.io', 'reeve.dev'];

/** Returns the submitted object with every part that this path does not write as it is stored. */
export function partOf(
  resource: Resource,
  subresource: ServedSubresource | undefined,
  submitted: KubeObject,
  stored: KubeObject | undefined,
): KubeObject {
  if (subresource === 'finalize') return withMember(submitted, 'status', stored);
  if (subresource === 'status') {
    if (!strictStatusGroups.includes(resource.group)) return withMember(submitted, 'spec', stored);
    return withMember({ ...submitted, metadata: statusMetadata(submitted, stored) }, 'spec', stored);
  }
  const kept = resource.subresources.includes('status') ? withMember(submitted, 'status', stored) : submitted;
  return stored !== undefined && resource.subresources.includes('finalize')
    ? withMember(kept, 'spec', stored)
    : kept;
}

function statusMetadata(submitted: KubeObject, stored: KubeObject | undefined): ObjectMeta {
  const { managedFields } = submitted.metadata;
  return { ...stored?.metadata, ...(managedFields === undefined ? {} : { managedFields }) };
}

function withMember(object: KubeObject, key: string, source: KubeObject | undefined): KubeObject {
  const { [key]: _, ...rest } = object;
  const value = source?.[key];
  return { ...rest, metadata: object.metadata, ...(value === undefined ? {} : { [key]: value }) };
}

// Reads one object out of a list or a watch: its metadata must be sound, and what nobody here reads is left out.
import { isJsonObject } from '../../base/json.ts';
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject, ObjectMeta } from '../../base/kube-object.ts';

/** Kind and version of an item, which a list says once for all of them. */
export interface ItemKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Undefined when it is not an object that the API server could have stored. */
export function watchedObject(value: unknown, itemKind?: ItemKind): KubeObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const { metadata, ...rest } = value;
  if (!isSound(metadata)) return undefined;
  // Often the larger half of an object, and only the API server reads them.
  const { managedFields: _, ...kept } = metadata;
  return { ...itemKind, ...rest, metadata: kept };
}

function isSound(metadata: unknown): metadata is ObjectMeta {
  return (
    isJsonObject(metadata) &&
    isText(metadata['name']) &&
    isText(metadata['uid']) &&
    isText(metadata['resourceVersion']) &&
    ['generateName', 'namespace', 'deletionTimestamp'].every((field) => isOptionalText(metadata[field])) &&
    ['labels', 'annotations'].every((field) => isOptionalMap(metadata[field])) &&
    isOptionalOwners(metadata['ownerReferences'])
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isOptionalMap(value: unknown): boolean {
  return (
    value === undefined ||
    (isJsonObject(value) && Object.values(value).every((text) => typeof text === 'string'))
  );
}

function isOptionalOwners(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every(isOwner));
}

function isOwner(value: unknown): boolean {
  return isJsonObject(value) && ownerFields.every((field) => isOptionalText(value[field]));
}

const ownerFields = ['apiVersion', 'kind', 'name', 'uid'];

/** What `metadata` says of the state that an object, a list or a bookmark stands for. */
export function resourceVersionOf({ metadata }: JsonObject): string | undefined {
  if (!isJsonObject(metadata)) return undefined;
  const { resourceVersion } = metadata;
  return isText(resourceVersion) ? resourceVersion : undefined;
}

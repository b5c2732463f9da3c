// Reads one object from a list or a watch: checks its metadata, and drops managedFields unless a watch keeps them.
import { isJsonObject } from '../../base/json.ts';
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject, ObjectMeta } from '../../base/kube-object.ts';
import type { WatchTarget } from './watch-target.ts';

/** Kind and version of the items of a list, which the items themselves do not have. */
export interface ItemKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Returns undefined when the API server could not have stored such an object. */
export function watchedObject(
  value: unknown,
  { keepsManagers = false }: Pick<WatchTarget, 'keepsManagers'>,
  itemKind?: ItemKind,
): KubeObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const { metadata, ...rest } = value;
  if (!hasValidMetadata(metadata)) return undefined;
  if (keepsManagers) return { ...itemKind, ...rest, metadata };
  // They are often more than half of an object.
  const { managedFields: _, ...kept } = metadata;
  return { ...itemKind, ...rest, metadata: kept };
}

function hasValidMetadata(metadata: unknown): metadata is ObjectMeta {
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

/** Returns `metadata.resourceVersion` of an object, a list or a bookmark. */
export function resourceVersionOf({ metadata }: JsonObject): string | undefined {
  if (!isJsonObject(metadata)) return undefined;
  const { resourceVersion } = metadata;
  return isText(resourceVersion) ? resourceVersion : undefined;
}

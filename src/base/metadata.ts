// Reads the metadata of objects whose keys anybody may have chosen: only own members count.
import type { KubeObject, StringMap } from './kube-object.ts';

const none: StringMap = Object.freeze({});

export type MetadataField = 'labels' | 'annotations';

export function metadataMap(object: KubeObject | undefined, field: MetadataField): StringMap {
  return object?.metadata[field] ?? none;
}

export function labelsOf(object: KubeObject | undefined): StringMap {
  return metadataMap(object, 'labels');
}

export function annotationsOf(object: KubeObject | undefined): StringMap {
  return metadataMap(object, 'annotations');
}

/** The value of a key, never something that the map inherits: `constructor` is a plain key. */
export function valueOf(map: StringMap, key: string): string | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

export function nameOf(object: KubeObject): string {
  return object.metadata.name ?? '';
}

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces: deletion has been asked for. */
export function isTerminating(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

export function isSameMap(a: StringMap, b: StringMap): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => valueOf(b, key) === valueOf(a, key));
}

/** The object with these keys in place of, or beside, those it has. */
export function withMetadata(
  object: KubeObject,
  field: MetadataField,
  additions: ReadonlyMap<string, string>,
): KubeObject {
  if (additions.size === 0) return object;
  // Spreading and Object.fromEntries define own members, so that a key such as `__proto__` stays a key.
  const merged = { ...metadataMap(object, field), ...Object.fromEntries(additions) };
  return { ...object, metadata: { ...object.metadata, [field]: merged } };
}

/** `metadata.labels["team"]`, as it stands in messages. */
export function keyPath(field: MetadataField, key: string): string {
  return `metadata.${field}[${JSON.stringify(key)}]`;
}

// Reads and changes the metadata of objects. Users choose the keys, so only own members count.
import { isJsonObject, ownMember } from './json.ts';
import { clipped } from './text.ts';

const none: StringMap = Object.freeze({});

export type MetadataField = 'labels' | 'annotations';

const words = { labels: 'label', annotations: 'annotation' } as const;
const maxKeyLength = 100;

export function metadataMap(object: KubeObject | undefined, field: MetadataField): StringMap {
  return object?.metadata[field] ?? none;
}

export function labelsOf(object: KubeObject | undefined): StringMap {
  return metadataMap(object, 'labels');
}

export function annotationsOf(object: KubeObject | undefined): StringMap {
  return metadataMap(object, 'annotations');
}

/** Returns the value of a key, never a member that the map inherits: `constructor` is a plain key. */
export function valueOf(map: StringMap, key: string): string | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Unambiguous among the objects of one kind, because neither a namespace nor such a name contains a slash. */
export function namespacedName({ metadata: { namespace = '', name = '' } }: KubeObject): string {
  return `${namespace}/${name}`;
}

export function nameOf(object: KubeObject): string {
  return object.metadata.name ?? '';
}

/**
 * Returns true when deletion was requested.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/#how-finalizers-work
 */
export function isTerminating(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

export function isSameMap(a: StringMap, b: StringMap): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => valueOf(b, key) === valueOf(a, key));
}

/** Returns the object with these keys added or replaced. */
export function withMetadata(
  object: KubeObject,
  field: MetadataField,
  additions: ReadonlyMap<string, string>,
): KubeObject {
  if (additions.size === 0) return object;
  // Spreading and Object.fromEntries define own members, so a key such as `__proto__` stays a key.
  const merged = { ...metadataMap(object, field), ...Object.fromEntries(additions) };
  return { ...object, metadata: { ...object.metadata, [field]: merged } };
}

/** Returns the members of a value that are texts. */
export function textsOf(value: unknown): StringMap {
  if (!isJsonObject(value)) return none;
  const texts = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(texts);
}

/** Reads the name, the labels and the annotations of rendered metadata. */
export function writtenMetadata(value: unknown) {
  const [labels, annotations] = [ownMember(value, 'labels'), ownMember(value, 'annotations')];
  return {
    name: String(ownMember(value, 'name')),
    labels: textsOf(labels),
    annotations: textsOf(annotations),
  };
}

/** Names a label or annotation in a sentence: `label team`. */
export function keyText(field: MetadataField, key: string): string {
  return `${words[field]} ${clipped(key, maxKeyLength)}`;
}

/** The path of a key as messages show it: `metadata.labels["team"]`. */
export function keyPath(field: MetadataField, key: string): string {
  return `metadata.${field}[${JSON.stringify(key)}]`;
}

// Kubernetes objects as plain data: the fields that every kind shares.

export type StringMap = Readonly<Record<string, string>>;

export interface OwnerReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
}

export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly deletionTimestamp?: string;
  readonly [field: string]: unknown;
}

/** Any Kubernetes object as received. Only its metadata has been checked. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** Identifies one object. The namespace is undefined for cluster-scoped kinds. */
export interface ObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

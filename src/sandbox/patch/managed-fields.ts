// Who owns which fields of an object: metadata.managedFields, read, followed through a write, and written.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
import { ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { apiVersionOf, type Resource, type ServedSubresource } from '../resource.ts';
import { difference, isFieldsV1, union, type FieldSet } from './field-set.ts';
import { changes } from './field-tree.ts';

export interface Manager {
  readonly name: string;
  readonly subresource: ServedSubresource | undefined;
  /** RFC 3339. */
  readonly time: string;
}

/** One entry of managedFields. Its texts are compared and shown, and nothing else. */
export interface FieldOwner {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType: 'FieldsV1';
  readonly fieldsV1: FieldSet;
  readonly subresource?: string;
}

/** By who they are. A write leaves them in their order. */
type FieldOwners = ReadonlyMap<string, FieldOwner>;

export function fieldOwnerKey({ manager, operation, subresource }: FieldOwner): string {
  return JSON.stringify([manager, operation, subresource]);
}

function isFieldOwner(entry: unknown): entry is FieldOwner {
  const operation = ownMember(entry, 'operation');
  return (operation === 'Apply' || operation === 'Update') && isFieldsV1(ownMember(entry, 'fieldsV1'));
}

/** Nobody where the list cannot be read. */
export function fieldOwnersOf(object: KubeObject | undefined): FieldOwners {
  const entries: unknown = object?.metadata['managedFields'];
  const owners = Array.isArray(entries) && entries.every(isFieldOwner) ? entries : [];
  return new Map(owners.map((owner) => [fieldOwnerKey(owner), owner]));
}

/** One that owns nothing yet. */
export function newFieldOwner(
  resource: Resource,
  manager: Manager,
  operation: FieldOwner['operation'],
): FieldOwner {
  const { name, subresource, time } = manager;
  const entry = { manager: name, operation, apiVersion: apiVersionOf(resource), time } as const;
  const through = subresource === undefined ? {} : { subresource };
  return { ...entry, fieldsType: 'FieldsV1', fieldsV1: undefined, ...through };
}

/** After a write: the writer owns what it says, and all others lose what the write has touched. */
export function withFieldOwners(
  object: KubeObject,
  owners: FieldOwners,
  writer: FieldOwner,
  touched: FieldSet,
): KubeObject {
  const left = new Map(owners);
  for (const [key, owner] of owners) {
    left.set(key, { ...owner, fieldsV1: difference(owner.fieldsV1, touched) });
  }
  // Who changes nothing keeps the time of before: nothing at all is written then.
  const same = touched === undefined ? owners.get(fieldOwnerKey(writer)) : undefined;
  left.set(fieldOwnerKey(writer), { ...writer, ...same, fieldsV1: writer.fieldsV1 });
  const { managedFields: _, ...metadata } = object.metadata;
  const managedFields = [...left.values()].filter(({ fieldsV1 }) => fieldsV1 !== undefined);
  return { ...object, metadata: managedFields.length === 0 ? metadata : { ...metadata, managedFields } };
}

const ownedByNobody =
  /^(?:name|namespace|uid|resourceVersion|generation|creationTimestamp|deletion\w+|selfLink|managedFields)$/;

export function ownable(object: KubeObject): KubeObject {
  const { apiVersion: _, kind: __, metadata, ...rest } = object;
  const kept = Object.entries(metadata).filter(([name]) => !ownedByNobody.test(name));
  return { ...rest, metadata: Object.fromEntries(kept) };
}

/** What a write adds or gives another value, and that together with what it takes away. */
export function effectOf(
  resource: Resource,
  before: KubeObject | undefined,
  after: KubeObject,
): readonly [changed: FieldSet, touched: FieldSet] {
  // In the types of built-in kinds, these two are always there.
  const parts = resource.isCustom ? {} : { spec: {}, status: {} };
  const from = { ...parts, ...ownable(before ?? { metadata: {} }) };
  const to = { ...parts, ...ownable(after) };
  const changed = changes(resource, from, to);
  return [changed, union(changed, changes(resource, to, from))];
}

/** For every write but an apply: `next` with the managedFields that follow from what it changes of `stored`. */
export function withManagedFields(
  resource: Resource,
  next: KubeObject,
  stored: KubeObject | undefined,
  manager: Manager,
): KubeObject {
  // A list that is submitted counts, and one that says nothing, as [{}], asks that all ownership be forgotten.
  const submitted: unknown = next.metadata['managedFields'];
  const isSubmitted = manager.subresource === undefined && Array.isArray(submitted) && submitted.length > 0;
  const owners = fieldOwnersOf(isSubmitted ? next : stored);
  const writer = newFieldOwner(resource, manager, 'Update');
  // Nobody is recorded any more until the first apply.
  if (stored !== undefined && owners.size === 0) return withFieldOwners(next, owners, writer, undefined);
  const [changed, touched] = effectOf(resource, stored, next);
  const kept = difference(owners.get(fieldOwnerKey(writer))?.fieldsV1, touched);
  return withFieldOwners(next, owners, { ...writer, fieldsV1: union(changed, kept) }, touched);
}

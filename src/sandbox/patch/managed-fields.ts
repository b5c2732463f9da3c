// Tracks which manager owns which fields: metadata.managedFields.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
import { ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { apiVersionOf, type Resource, type ServedSubresource } from '../resource.ts';
import { difference, isFieldsV1, union, type FieldSet } from './field-set.ts';
import { changes } from './field-tree.ts';

export interface Manager {
  readonly name: string;
  readonly subresource: ServedSubresource | undefined;
  /** In RFC 3339. */
  readonly time: string;
}

/** One entry of managedFields. Its texts are compared and shown only. */
export interface FieldOwner {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType: 'FieldsV1';
  readonly fieldsV1: FieldSet;
  readonly subresource?: string;
}

/** The key identifies the owner. A write keeps their order. */
type FieldOwners = ReadonlyMap<string, FieldOwner>;

export function fieldOwnerKey({ manager, operation, subresource }: FieldOwner): string {
  return JSON.stringify([manager, operation, subresource]);
}

function isFieldOwner(entry: unknown): entry is FieldOwner {
  const operation = ownMember(entry, 'operation');
  return (operation === 'Apply' || operation === 'Update') && isFieldsV1(ownMember(entry, 'fieldsV1'));
}

/** Returns no owner when the list cannot be read. */
export function fieldOwnersOf(object: KubeObject | undefined): FieldOwners {
  const entries: unknown = object?.metadata['managedFields'];
  const owners = Array.isArray(entries) && entries.every(isFieldOwner) ? entries : [];
  return new Map(owners.map((owner) => [fieldOwnerKey(owner), owner]));
}

/** Returns an owner without fields. */
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

/** After a write, the writer owns its fields, and all others lose the fields that the write has touched. */
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
  // A writer that changes nothing keeps its old time, so that the object stays equal.
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

/** Returns the fields that a write adds or changes, and these together with the fields it removes. */
export function effectOf(
  resource: Resource,
  before: KubeObject | undefined,
  after: KubeObject,
): readonly [changed: FieldSet, touched: FieldSet] {
  // Built-in types always have these two.
  const parts = resource.isCustom ? {} : { spec: {}, status: {} };
  const from = { ...parts, ...ownable(before ?? { metadata: {} }) };
  const to = { ...parts, ...ownable(after) };
  const changed = changes(resource, from, to);
  return [changed, union(changed, changes(resource, to, from))];
}

/** Returns `next` with the managedFields after any write except an apply. */
export function withManagedFields(
  resource: Resource,
  next: KubeObject,
  stored: KubeObject | undefined,
  manager: Manager,
): KubeObject {
  // A submitted list counts. An empty entry, as in [{}], asks to forget all owners.
  const submitted: unknown = next.metadata['managedFields'];
  const isSubmitted = manager.subresource === undefined && Array.isArray(submitted) && submitted.length > 0;
  const owners = fieldOwnersOf(isSubmitted ? next : stored);
  const writer = newFieldOwner(resource, manager, 'Update');
  // After that, no owner is recorded until the first apply.
  if (stored !== undefined && owners.size === 0) return withFieldOwners(next, owners, writer, undefined);
  const [changed, touched] = effectOf(resource, stored, next);
  const kept = difference(owners.get(fieldOwnerKey(writer))?.fieldsV1, touched);
  return withFieldOwners(next, owners, { ...writer, fieldsV1: union(changed, kept) }, touched);
}

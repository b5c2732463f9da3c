// Tracks which manager owns which fields: metadata.managedFields.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
import { ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { apiVersionOf, type Resource, type ServedSubresource } from '../resource.ts';
import {
  difference,
  isFieldsV1,
  union,
  type FieldSet,
  changes,
  intersection,
  shownFields,
  claimed,
  mergedTrees,
  withoutFields,
} from './field-tree.ts';
import { ApiError, badRequestError } from '../api-error.ts';
import { patchedObject } from './merge-patch.ts';

interface Manager {
  readonly name: string;
  readonly subresource: ServedSubresource | undefined;
  /** In RFC 3339. */
  readonly time: string;
}

/** An entry of managedFields. The texts are only compared and shown. */
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

function fieldOwnerKey({ manager, operation, subresource }: FieldOwner): string {
  return JSON.stringify([manager, operation, subresource]);
}

function isFieldOwner(entry: unknown): entry is FieldOwner {
  const operation = ownMember(entry, 'operation');
  return (operation === 'Apply' || operation === 'Update') && isFieldsV1(ownMember(entry, 'fieldsV1'));
}

/** Returns no owner when the list cannot be read. */
function fieldOwnersOf(object: KubeObject | undefined): FieldOwners {
  const entries: unknown = object?.metadata['managedFields'];
  const owners = Array.isArray(entries) && entries.every(isFieldOwner) ? entries : [];
  return new Map(owners.map((owner) => [fieldOwnerKey(owner), owner]));
}

/** Returns an owner without fields. */
function newFieldOwner(resource: Resource, manager: Manager, operation: FieldOwner['operation']): FieldOwner {
  const { name, subresource, time } = manager;
  const entry = { manager: name, operation, apiVersion: apiVersionOf(resource), time } as const;
  const through = subresource === undefined ? {} : { subresource };
  return { ...entry, fieldsType: 'FieldsV1', fieldsV1: undefined, ...through };
}

/** After a write, the writer owns its fields, and all others lose the fields that the write has touched. */
function withFieldOwners(
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

function ownable(object: KubeObject): KubeObject {
  const { apiVersion: _, kind: __, metadata, ...rest } = object;
  const kept = Object.entries(metadata).filter(([name]) => !ownedByNobody.test(name));
  return { ...rest, metadata: Object.fromEntries(kept) };
}

/** Returns the fields that a write adds or changes, and these together with the fields it removes. */
function effectOf(
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

// Implements server-side apply: a manager states fields and owns exactly these afterwards.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/

interface Apply {
  readonly resource: Resource;
  /** The object with its managedFields. Undefined when the apply creates the object. */
  readonly stored: KubeObject | undefined;
  readonly applied: KubeObject;
  readonly manager: Manager;
  readonly force: boolean;
}

/**
 * Returns the merged object with its managedFields. Throws 409 with a cause for each field of another manager that
 * would change.
 */
export function applied({ resource, stored, applied: wanted, manager, force }: Apply): KubeObject {
  if ((wanted.metadata['managedFields'] ?? null) !== null) {
    throw badRequestError('metadata.managedFields must be nil');
  }
  const before = stored === undefined ? { metadata: {} } : tracked(resource, stored, manager);
  // An apply to the object does not change the status, and an apply to the status does not change the spec.
  const { [manager.subresource === 'status' ? 'spec' : 'status']: _, ...config } = wanted;
  const claims = difference(claimed(resource, ownable(config)), { 'f:metadata': {} });
  const writer = { ...newFieldOwner(resource, manager, 'Apply'), fieldsV1: claims };
  const owners = fieldOwnersOf(before);
  const others = [...owners.values()].filter((owner) => fieldOwnerKey(owner) !== fieldOwnerKey(writer));
  const kept = others.reduce((all, { fieldsV1 }) => union(all, fieldsV1), claims);
  const dropped = difference(owners.get(fieldOwnerKey(writer))?.fieldsV1, kept);
  const rest = withoutFields(resource, before, dropped);
  const next = patchedObject(mergedTrees(resource, rest, config));
  const [changed, touched] = effectOf(resource, before, next);
  if (!force) refuseConflicts(others, changed);
  return withFieldOwners(next, owners, writer, touched);
}

/** Fields from before the first recorded write belong to a manager of their own. */
function tracked(resource: Resource, stored: KubeObject, manager: Manager): KubeObject {
  if (fieldOwnersOf(stored).size > 0) return stored;
  return withManagedFields(resource, stored, undefined, { ...manager, name: 'before-first-apply' });
}

function refuseConflicts(owners: readonly FieldOwner[], changed: FieldSet): void {
  const causes = owners.flatMap((owner) =>
    shownFields(intersection(owner.fieldsV1, changed)).map((field) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${shownOwner(owner)}`,
      field,
    })),
  );
  if (causes.length === 0) return;
  const lines = causes.map(({ message, field }) => `${message}: ${field}`);
  const what = lines.length === 1 ? `1 conflict: ${lines.join()}` : [`${lines.length} conflicts:`, ...lines];
  const message = `Apply failed with ${[what].flat().join('\n- ')}`;
  throw new ApiError({ code: 409, reason: 'Conflict', message, details: { causes } });
}

function shownOwner({ manager, operation, subresource, apiVersion }: FieldOwner): string {
  const through = subresource === undefined ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  const since = operation === 'Update' ? ` using ${apiVersion}` : '';
  return `${JSON.stringify(manager)}${through}${since}`;
}

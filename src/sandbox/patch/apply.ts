// Implements server-side apply: a manager states fields and owns exactly these afterwards.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/
import type { KubeObject } from '../../base/kube-object.ts';
import { ApiError, badRequestError } from '../api-error.ts';
import type { Resource } from '../resource.ts';
import { difference, intersection, shownFields, union, type FieldSet } from './field-set.ts';
import { claimed, mergedTrees, withoutFields } from './field-tree.ts';
import { effectOf, fieldOwnerKey, ownable, newFieldOwner, fieldOwnersOf } from './managed-fields.ts';
import { withManagedFields, withFieldOwners, type Manager, type FieldOwner } from './managed-fields.ts';
import { patchedObject } from './merge-patch.ts';

export interface Apply {
  readonly resource: Resource;
  /** Has its managedFields; undefined when the apply creates the object. */
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

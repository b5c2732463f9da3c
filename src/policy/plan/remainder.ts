// Describes what an adopted object loses, and what stays when Reeve gives it back: fields that Kubernetes does not let go.
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { type KubeObject, type StringMap, annotationsOf, valueOf } from '../../base/metadata.ts';
import { rfc3339 } from '../../base/time.ts';
import {
  adoptedAnnotation,
  adoptLabel,
  fieldManager,
  isOurKey,
  managedByLabel,
  modeAnnotation,
  orphanedFromKey,
  withoutMarks,
} from '../../schema/names.ts';
import { clipped, listed } from '../../base/text.ts';
import { formerly, type Observed, type Ownership } from './observed.ts';
import { nameOfProvider, type ProviderId } from '../terms/provider-id.ts';
import type { WriteStep } from './plan-claim.ts';

interface Note {
  readonly message: string;
}

/** Describes what an adopted object loses and keeps when Reeve gives it back. `removed`: keys of a Secret. */
export function givenBackNote(given: {
  readonly stays: readonly string[];
  readonly removed: readonly string[];
}): Note {
  const { stays, removed } = given;
  const isEmpty = stays.length === 0 ? ', so it is empty now' : '';
  const lost =
    removed.length === 0
      ? ''
      : `; removed its keys ${listed(removed)}${isEmpty}; what it held before its adoption does not come back`;
  const left = stays.length === 0 ? '' : `; still there of what Reeve wrote: ${stays.join(', ')}`;
  return { message: `existed before Reeve, so not deleted${lost}${left}` };
}

/** Describes which keys of a copy its adoption removed. Undefined if the adoption removed none. */
export function adoptionNote({ live, surplus }: Pick<WriteStep, 'live' | 'surplus'>): Note | undefined {
  const keys = [...surplus.data, ...surplus.binaryData];
  if (live === undefined || live.owner !== undefined || keys.length === 0) return undefined;
  return { message: `removed its keys ${listed(keys)}, which the share does not have` };
}

/** Describes what the adoption deletes of a replaced object: the content that its owner had written. */
export function replacedNote(live: Pick<Observed, 'owner' | 'orphanedFrom' | 'type' | 'content'>): Note {
  const isNew = live.owner === undefined && live.orphanedFrom === undefined;
  const lost = isNew ? `what it held before${contentText(live)} does not come back, because it was ` : '';
  return { message: `${lost}deleted and created again` };
}

/** Returns the content in brackets: the type and keys of a Secret, or the role and subjects of a RoleBinding. */
function contentText({ type, content }: Pick<Observed, 'type' | 'content'>): string {
  if (content.kind === 'copy') {
    const { type: own, keys, binaryKeys } = content.facts;
    return ` (${type.kind === 'Secret' ? `type ${clipped(own)}, ` : ''}keys ${listed([...keys, ...binaryKeys])})`;
  }
  if (content.kind !== 'object' || type.kind !== 'RoleBinding') return '';
  const { roleRef, subjects } = content.object;
  const names = Array.isArray(subjects) ? subjects.map(kindAndName) : [];
  return ` (${kindAndName(roleRef)} for ${listed(names) || 'no subject'})`;
}

function kindAndName(value: unknown): string {
  return clipped(`${String(ownMember(value, 'kind'))}/${String(ownMember(value, 'name'))}`);
}

export interface KeptMetadata {
  readonly labels: StringMap;
  readonly annotations: StringMap;
}

/** Returns labels and annotations of an adopted object that neither Reeve nor the replacement sets. */
export function keptMetadata(
  { annotations, labels }: KubeObject['metadata'],
  { isAdopted, owner, content }: Observed,
): KeptMetadata | undefined {
  if (!isAdopted && owner !== undefined) return undefined;
  const live = content.kind === 'object' ? content.object.metadata : undefined;
  const metadata = content.kind === 'copy' ? content.metadata : live;
  if (metadata === undefined) return undefined;
  const theirs = {
    labels: without(metadata.labels, labels),
    annotations: without(metadata.annotations, annotations),
  };
  return Object.values(theirs).every((each) => Object.keys(each).length === 0) ? undefined : theirs;
}

function without(all: StringMap | undefined, own: unknown): StringMap {
  const entries = Object.entries(all ?? {});
  return Object.fromEntries(
    entries.filter(([key]) => ownMember(own, key) === undefined && (key === adoptLabel || !isOurKey(key))),
  );
}

/** One way to give an object back. `body` replaces everything that Reeve applied. */
interface Remainder {
  readonly body: JsonObject;
  /** Fields that stay as Reeve set them, for the event. */
  readonly stays: readonly string[];
}

/** Returns the ways to give the object back, smallest first. The API server refuses bodies that lack a required field. */
export function remaindersOf(object: KubeObject): readonly Remainder[] {
  switch (object.kind) {
    // Immutable. Without subjects, the binding grants nothing.
    case 'RoleBinding':
      return [{ body: { roleRef: object['roleRef'] }, stays: ['roleRef'] }];
    // Without its rules it would isolate all Pods of the namespace:
    // https://kubernetes.io/docs/concepts/services-networking/network-policies/#default-deny-all-ingress-traffic
    case 'NetworkPolicy':
      return [];
    case 'Secret':
      return secretRemainders(object);
    case undefined:
    default:
      return [{ body: {}, stays: [] }];
  }
}

/**
 * The smallest valid values of required keys.
 * https://github.com/kubernetes/kubernetes/blob/v1.36.0/pkg/apis/core/validation/validation.go (ValidateSecret)
 */
const emptied: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'kubernetes.io/tls': { 'tls.crt': '', 'tls.key': '' },
  'kubernetes.io/dockerconfigjson': { '.dockerconfigjson': '{}' },
  'kubernetes.io/dockercfg': { '.dockercfg': '{}' },
  'kubernetes.io/basic-auth': { username: '' },
  'kubernetes.io/ssh-auth': { 'ssh-privatekey': 'removed' },
};

function secretRemainders({ type, immutable }: KubeObject): readonly Remainder[] {
  if (immutable === true) return [];
  const values = Object.entries(emptied[typeof type === 'string' ? type : ''] ?? {});
  const data = values.map(([key, value]) => [key, Buffer.from(value).toString('base64')] as const);
  const stays = values.map(([key]) => `key ${key} (emptied)`);
  return [
    { body: { type }, stays: [] },
    ...(values.length === 0 ? [] : [{ body: { type, data: Object.fromEntries(data) }, stays }]),
  ];
}

/**
 * Returns managedFields in which all fields that Reeve ever set count as applied, so that an apply can remove them. Returns
 * undefined if they already count. https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */
export function asApplied(managedFields: unknown): readonly unknown[] | undefined {
  const entries: readonly unknown[] = Array.isArray(managedFields) ? managedFields : [];
  const ours = entries.filter(isOurs);
  const updated = ours.find(({ operation }) => operation === 'Update');
  if (updated === undefined) return undefined;
  const fieldsV1 = ours.map((entry) => entry['fieldsV1']).reduce(union);
  return [...entries.filter((entry) => !isOurs(entry)), { ...updated, operation: 'Apply', fieldsV1 }];
}

function isOurs(entry: unknown): entry is JsonObject {
  return isJsonObject(entry) && entry['manager'] === fieldManager && (entry['subresource'] ?? '') === '';
}

function union(one: unknown, other: unknown): unknown {
  if (!isJsonObject(one) || !isJsonObject(other)) return one ?? other;
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => [name, union(one[name], other[name])]));
}

// Writes the metadata of an object that Reeve leaves to its namespace.

/** Returns a part of a merge patch that removes our marks, restores the label managed-by, and names the previous owner. */
export function orphanMetadata(owner: ProviderId, { adoptionMark: mark }: Pick<Ownership, 'adoptionMark'>) {
  const { labels, annotations } = withoutMarks;
  return {
    labels: {
      ...labels,
      [managedByLabel]: managerIn(mark) ?? null,
      [orphanedFromKey]: nameOfProvider(owner),
    },
    annotations: { ...annotations, [orphanedFromKey]: owner },
  };
}

/** Returns a part of a merge patch that removes all our marks and leaves the object to its namespace. */
export function leftMetadata({ adoptionMark: mark }: Pick<Ownership, 'adoptionMark'>) {
  const { labels, annotations } = withoutMarks;
  return {
    labels: { ...labels, [managedByLabel]: managerIn(mark) ?? null },
    annotations: { ...annotations, [modeAnnotation]: null, [adoptedAnnotation]: null },
  };
}

/** Says that the RoleBinding now grants access without an end, because its provider left it behind. */
export function endlessNote({ expiresAt }: { readonly expiresAt: number | undefined }) {
  return expiresAt === undefined
    ? undefined
    : { message: `it was to end at ${rfc3339(new Date(expiresAt))}, and stays without an end` };
}

/** Returns the value of app.kubernetes.io/managed-by that the object had before its adoption. */
export function managedBefore(object: KubeObject): string | undefined {
  return managerIn(valueOf(annotationsOf(object), adoptedAnnotation));
}

function managerIn(mark: string | undefined): string | undefined {
  return mark?.startsWith(formerly) === true ? mark.slice(formerly.length) : undefined;
}

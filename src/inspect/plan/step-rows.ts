// Turns the steps of the reconciler's plan into rows: what Reeve would write, and how the object would differ.
import {
  type KubeObject,
  type StringMap,
  annotationsOf,
  labelsOf,
  type MetadataField,
} from '../../base/metadata.ts';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { isWhollyOurs } from '../../policy/plan/desired-object.ts';
import { hidesValues } from '../input/provided-objects.ts';
import type { Observed } from '../../policy/plan/observed.ts';
import type { AccountStep } from '../../policy/plan/plan-account.ts';
import type { WriteStep } from '../../policy/plan/plan-claim.ts';
import { serviceAccountType, type ObjectType } from '../../base/object-type.ts';
import type { DoneStep } from '../../policy/plan/plan.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import type { PlanChange, PlanDifference } from '../output-schemas/plan-output.ts';
import { isDeepStrictEqual } from 'node:util';
import { appliedAnnotation, fieldManager, fieldsAnnotation } from '../../schema/names.ts';
import { renderPath, type Path } from '../../base/problem.ts';
import { clipped } from '../../base/text.ts';

type Removal = Extract<DoneStep, { readonly kind: 'delete' | 'release' }>;

/** Returns undefined if the step would write nothing. */
export function stepRow(step: DoneStep, state: ClusterState): PlanChange | undefined {
  if (step.kind === 'delete' || step.kind === 'release') return removalRow(step);
  if (step.kind === 'fields') return accountRow(step);
  const { claim, live, object } = step;
  const about = { object: plannedObject(claim, object.metadata.namespace), provider: claim.provider };
  if (live === undefined) return { action: 'create', ...about, certain: true };
  const stored = storedForm(live, state);
  const set = stored === undefined ? undefined : fieldsOfReeve(stored);
  // An object of another owner is always written.
  const isUnsure = step.kind === 'dry-run' && live.owner === claim.provider;
  if (isUnsure && set !== undefined && holdsAll(set, contentOf(object))) return undefined;
  const diff = stored === undefined ? [] : changedFields(comparedPart(stored, step), object);
  if (step.kind === 'replace')
    return { action: 're-create', ...about, certain: true, message: whyReplaced(step), diff };
  // Without managedFields, only the API server knows whether it has stored the same value in another form.
  return { action: 'update', ...about, certain: !isUnsure, diff };
}

function removalRow({ kind, owner, live, isExpired, ...step }: Removal): PlanChange {
  const about = { object: plannedObject(live, live.namespace), provider: owner, certain: true };
  const expiry = isExpired ? { reason: 'Expired', message: 'its end has come' } : {};
  const held = live.isHeld ? { message: heldByFinalizers } : {};
  if (kind === 'delete') return { action: 'delete', ...about, ...expiry, ...held };
  const isOrphaned = 'isOrphaned' in step && step.isOrphaned;
  const isLeft = 'isCreatedOnce' in step && step.isCreatedOnce;
  const message =
    isOrphaned || isLeft
      ? 'the object stays, and Reeve no longer manages it'
      : 'another client created the object, so Reeve removes only what it added';
  return { action: 'release', ...about, ...expiry, message };
}

function accountRow({ live, applies, claims, leaving }: AccountStep): PlanChange {
  const owners = [...claims.map(({ provider }) => provider), ...leaving];
  const metadata = { name: live.name, namespace: live.namespace };
  const wanted = applies.flatMap(({ fields }) => (Object.keys(fields).length === 0 ? [] : [fields])).at(-1);
  const before = {
    ...serviceAccountType,
    metadata,
    ...(live.pullSecrets.length === 0
      ? {}
      : { imagePullSecrets: live.pullSecrets.map((name) => ({ name })) }),
    ...(live.automount === undefined ? {} : { automountServiceAccountToken: live.automount }),
  };
  const [provider, ...others] = new Set(owners);
  const taken = leaving.length === 0 ? [] : [`the fields of ${leaving.join(' and ')} are taken back`];
  const more = others.length === 0 ? [] : [`also for ${others.join(' and ')}`];
  const diff = wanted === undefined ? [] : changedFields(before, { ...before, ...wanted });
  const isMarked = wanted !== undefined && diff.length === 0;
  const marked = isMarked ? [`the annotation ${fieldsAnnotation} says which policies added its fields`] : [];
  const message = [...taken, ...more, ...marked].join('; ');
  return {
    action: 'update',
    object: plannedObject({ type: serviceAccountType, name: live.name }, live.namespace),
    ...(provider === undefined ? {} : { provider }),
    certain: true,
    ...(message === '' ? {} : { message }),
    diff,
  };
}

export function plannedObject(
  { type, name }: { readonly type: ObjectType; readonly name: string },
  namespace?: string,
) {
  const { apiVersion, kind } = type;
  return { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name };
}

/** Reads the content of a Secret from the state, because the reconciler keeps only a hash. */
function storedForm(
  { content, type, namespace, name }: Observed,
  state: ClusterState,
): KubeObject | undefined {
  return content.kind === 'object' ? content.object : state.find(type, namespace, name);
}

function contentOf({ apiVersion: _version, kind: _kind, ...content }: KubeObject) {
  const { labels, annotations } = content.metadata;
  return { ...content, metadata: { labels, annotations } };
}

/** Returns the live fields that Reeve owns, sets or removes. */
function comparedPart(stored: KubeObject, { claim, object, surplus }: WriteStep): KubeObject {
  const set = fieldsOfReeve(stored);
  const isWhole = isWhollyOurs(claim) || Object.keys(surplus.fields).length > 0;
  const content = isWhole ? stored : ownPart(stored, object, set);
  const owned = ownMember(set, 'f:metadata');
  const pick = (field: MetadataField, map: StringMap, wanted: StringMap): StringMap =>
    Object.fromEntries(
      Object.entries(map).filter(
        ([key]) =>
          Object.hasOwn(wanted, key) ||
          surplus[field].includes(key) ||
          ownMember(ownMember(owned, `f:${field}`), `f:${key}`) !== undefined,
      ),
    );
  return {
    ...(isJsonObject(content) ? content : {}),
    kind: object.kind ?? '',
    metadata: {
      labels: pick('labels', labelsOf(stored), labelsOf(object)),
      annotations: pick('annotations', annotationsOf(stored), annotationsOf(object)),
    },
  };
}

function whyReplaced({ claim, object, live }: WriteStep): string {
  const isOfOtherType =
    claim.type.kind === 'Secret' &&
    live?.content.kind === 'copy' &&
    live.content.facts.type !== object['type'];
  const unchanging = claim.content.kind === 'copy' ? 'immutable data' : 'roleRef';
  const why = `the API server does not allow a change of ${isOfOtherType ? 'the type' : unchanging}`;
  return live?.isHeld === true ? `${why}; ${heldByFinalizers}` : why;
}

/** The re-creation ends after the deletion, until another client removes the finalizers. */
export const heldByFinalizers = 'the object has finalizers, so it stays until they are removed';

// Compares two forms of an object, field by field. Of a Secret only the names of keys are compared.

const maxValueLength = 1000;

/** Returns true where no value may be shown: in all fields of a Secret that could hold its values. */
type IsHidden = (path: Path) => boolean;

/** `before` and `after` hold only the fields to compare. */
export function changedFields(before: KubeObject, after: KubeObject): readonly PlanDifference[] {
  const isSecret = hidesValues(before) || hidesValues(after);
  const isHidden: IsHidden = ([first, second]) =>
    isSecret && !(first === 'metadata' && second === 'labels') && first !== 'type' && first !== 'immutable';
  return differences([], compared(before), compared(after), isHidden);
}

/** Drops the hash of the applied object, which means nothing to people. */
function compared({ metadata, ...object }: KubeObject): JsonObject {
  const { apiVersion: _version, kind: _kind, status: _status, ...content } = object;
  const { labels, annotations = {} } = metadata;
  const { [appliedAnnotation]: _hash, ...shown } = annotations;
  return { ...content, metadata: { labels, annotations: shown } };
}

function differences(
  path: Path,
  before: unknown,
  after: unknown,
  isHidden: IsHidden,
): readonly PlanDifference[] {
  if (isDeepStrictEqual(before, after)) return [];
  const [old, next] = [before ?? emptyLike(after), after ?? emptyLike(before)];
  if (isJsonObject(old) && isJsonObject(next) && !isLeaf(old, next)) {
    const names = [...new Set([...Object.keys(old), ...Object.keys(next)])].sort();
    return names.flatMap((name) =>
      differences([...path, name], ownMember(old, name), ownMember(next, name), isHidden),
    );
  }
  if (Array.isArray(old) && Array.isArray(next)) {
    const items = changedItems(path, old, next, isHidden);
    if (items.length > 0) return items;
  }
  return [difference(path, before, after, isHidden)];
}

/** An empty object has no fields to name, so it is shown as a whole when it appears or disappears. */
function isLeaf(a: JsonObject, b: JsonObject): boolean {
  return Object.keys(a).length === 0 && Object.keys(b).length === 0;
}

function emptyLike(value: unknown): unknown {
  return isJsonObject(value) ? {} : undefined;
}

/** An item that only moves is no change. Returns nothing if only the order differs. */
function changedItems(
  path: Path,
  before: readonly unknown[],
  after: readonly unknown[],
  isHidden: IsHidden,
): readonly PlanDifference[] {
  const removed = without(before, after);
  const added = without(after, before);
  const [old, next] = [removed[0], added[0]];
  if (removed.length === 1 && added.length === 1 && old !== undefined && next !== undefined)
    return differences([...path, next.index], old.item, next.item, isHidden);
  return [
    ...removed.map(({ index, item }) => difference([...path, index], item, undefined, isHidden)),
    ...added.map(({ index, item }) => difference([...path, index], undefined, item, isHidden)),
  ];
}

function without(items: readonly unknown[], others: readonly unknown[]) {
  const left = [...others];
  return items.flatMap((item, index) => {
    const found = left.findIndex((each) => isDeepStrictEqual(each, item));
    if (found === -1) return [{ index, item }];
    left.splice(found, 1);
    return [];
  });
}

function difference(path: Path, before: unknown, after: unknown, isHidden: IsHidden): PlanDifference {
  const replaced = after === undefined ? 'removed' : 'changed';
  const change = before === undefined ? 'added' : replaced;
  const named = { path: renderPath(path), change } as const;
  if (isHidden(path)) return named;
  const [old, next] =
    typeof before === 'string' && typeof after === 'string' ? changedLines(before, after) : [before, after];
  return {
    ...named,
    ...(old === undefined ? {} : { before: valueText(old) }),
    ...(next === undefined ? {} : { after: valueText(next) }),
  };
}

/** Shows only the lines between the first and the last change of a text. */
function changedLines(before: string, after: string): readonly [string, string] {
  const [old, next] = [before.split('\n'), after.split('\n')];
  const shorter = Math.min(old.length, next.length);
  let start = 0;
  while (start < shorter - 1 && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < shorter - 1 - start && old.at(-1 - end) === next.at(-1 - end)) end += 1;
  return [old.slice(start, old.length - end).join('\n'), next.slice(start, next.length - end).join('\n')];
}

/** JSON is valid YAML. Simple keys are written without quotes. */
function valueText(value: unknown): string {
  return clipped(flow(value), maxValueLength);
}

function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, each]) => `${keyText(key)}: ${flow(each)}`);
  return `{${members.join(', ')}}`;
}

function keyText(key: string): string {
  return /^[A-Za-z][\w./-]*$/.test(key) ? key : JSON.stringify(key);
}

// Reads managedFields: the fields of an object that Reeve owns, and whether Reeve still owns all that it wrote.

/** A set of fields as in managedFields. https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management */
type FieldSet = Readonly<Record<string, unknown>>;

/** Returns the fields that Reeve has applied. Undefined if the object was read without managers. */
export function fieldsOfReeve({ metadata }: KubeObject): FieldSet | undefined {
  const all: unknown = metadata['managedFields'];
  if (!Array.isArray(all)) return undefined;
  const entry: unknown = all.find(
    (each) =>
      ownMember(each, 'manager') === fieldManager &&
      ownMember(each, 'operation') === 'Apply' &&
      ownMember(each, 'subresource') === undefined,
  );
  return setOf(ownMember(entry, 'fieldsV1'));
}

/**
 * Returns whether all of these fields belong to the set. When another client changes a field, the field leaves the set. A value
 * that differs but is still in the set was only stored in another form: `1000m` as `1`.
 */
export function holdsAll(set: FieldSet, wanted: unknown): boolean {
  // A field without parts is owned as a whole.
  if (Object.keys(set).length === 0) return true;
  if (Array.isArray(wanted))
    return wanted.every((item) => {
      const part = partOfItem(set, item);
      return part !== undefined && holdsAll(part, item);
    });
  if (!isJsonObject(wanted)) return true;
  return Object.entries(wanted).every(([name, value]) => {
    const part = ownMember(set, `f:${name}`);
    return value === null || (isJsonObject(part) && holdsAll(part, value));
  });
}

/** Returns the live value without fields that are neither in the set nor wanted. */
export function ownPart(live: unknown, wanted: unknown, set: FieldSet = {}): unknown {
  if (Array.isArray(live)) {
    const isByItem = Object.keys(set).some((key) => key !== '.');
    return isByItem ? live.filter((item) => partOfItem(set, item) !== undefined) : live;
  }
  if (!isJsonObject(live) || (wanted !== undefined && !isJsonObject(wanted))) return live;
  if (wanted === undefined && Object.keys(set).length === 0) return live;
  const kept = Object.entries(live).flatMap(([name, value]) => {
    const [part, next] = [ownMember(set, `f:${name}`), ownMember(wanted, name)];
    return part === undefined && next === undefined
      ? []
      : [[name, ownPart(value, next, setOf(part))] as const];
  });
  return Object.fromEntries(kept);
}

function partOfItem(set: FieldSet, item: unknown): FieldSet | undefined {
  for (const [key, part] of Object.entries(set)) {
    const selector = key.startsWith('v:') || key.startsWith('k:') ? parsed(key.slice(2)) : undefined;
    if (selector === undefined) continue;
    const isSelected = isJsonObject(selector)
      ? Object.entries(selector).every(([name, value]) => ownMember(item, name) === value)
      : selector === item;
    if (isSelected) return setOf(part) ?? {};
  }
  return undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function setOf(value: unknown): FieldSet | undefined {
  return isJsonObject(value) ? value : undefined;
}

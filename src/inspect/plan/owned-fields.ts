// Reads managedFields: which fields of an object are Reeve's, and whether all that it wrote is still its own.
import { fieldManager } from '../../schema/names.ts';
import { isJsonObject, ownMember } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';

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
 * Returns whether all of these fields belong to the set. A field that another client changes leaves the set, so a value that
 * differs and is still in it was only stored in another form: `1000m` as `1`.
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

/** Returns the live value without what neither belongs to the set nor is wanted. */
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

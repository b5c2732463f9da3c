// Sees an object as a tree of fields: merges trees, compares them, and removes fields.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, ownMember } from '../../base/json.ts';
import type { Resource } from '../resource.ts';

type Members = ReadonlyMap<PathElement, unknown>;

/**
 * Maps of built-in kinds that are owned as one field: x-kubernetes-map-type in
 * https://github.com/kubernetes/kubernetes/tree/master/api/openapi-spec
 */
const atomicMaps =
  /^(?:involvedObject|related|roleRef|secrets\/\*|spec\/(?:match(?:Constraints|Resources)|param(?:Kind|Ref)|podSelector|scopeSelector|variables\/\*)|webhooks\/\*\/(?:namespace|object)Selector)$/;

/**
 * Returns the keys of the items of a list. An empty list means a set, undefined a list that is replaced as a whole.
 */
export function listKeysAt({ listKeys }: Pick<Resource, 'listKeys'>, place: string) {
  return Object.hasOwn(listKeys, place) ? listKeys[place] : undefined;
}

/** Returns undefined for an item that lacks a key. */
export function elementOf(item: unknown, keys: readonly string[]): PathElement | undefined {
  if (keys.length === 0) return `v:${JSON.stringify(item)}`;
  const pairs = keys.toSorted().map((key) => [key, ownMember(item, key)] as const);
  const isWhole = pairs.every(([, value]) => value !== undefined);
  return isWhole ? `k:${JSON.stringify(Object.fromEntries(pairs))}` : undefined;
}

/** Returns `spec/ports/*` for an item of the list `spec/ports`. */
export function placeUnder(place: string, element: PathElement): string {
  const name = element.startsWith('f:') ? element.slice(2) : '*';
  return place === '' ? name : `${place}/${name}`;
}

/**
 * Returns the fields below a value. Undefined for a value that is one field, such as a list of items without keys.
 */
function membersOf(resource: Resource, place: string, value: unknown): Members | undefined {
  if (isJsonObject(value)) {
    const isAtomic = place === 'metadata/ownerReferences/*' || (!resource.isCustom && atomicMaps.test(place));
    return isAtomic ? undefined : new Map(Object.entries(value).map(([key, member]) => [`f:${key}`, member]));
  }
  const keys = listKeysAt(resource, place);
  if (!Array.isArray(value) || keys === undefined) return undefined;
  const members = new Map(value.map((item: unknown) => [elementOf(item, keys) ?? '', item]));
  return members.size === value.length && !members.has('') ? members : undefined;
}

/** Returns a list or map, like `like`, with these members. */
function rebuilt(like: unknown, members: Members): unknown {
  if (Array.isArray(like)) return [...members.values()];
  return Object.fromEntries([...members].map(([element, member]) => [element.slice(2), member]));
}

/** An applied null claims the field and keeps its value. */
export function mergedTrees(resource: Resource, there: unknown, applied: unknown, place = ''): unknown {
  if (applied === undefined || applied === null) return there;
  const own = membersOf(resource, place, applied);
  if (own === undefined) return applied;
  const members: Members = membersOf(resource, place, there) ?? new Map();
  // An apply of all items sets their order; other items are added to the end.
  const isWhole = [...members.keys()].every((element) => own.has(element));
  const merged = new Map<PathElement, unknown>();
  for (const element of isWhole ? own.keys() : [...members.keys(), ...own.keys()]) {
    const under = placeUnder(place, element);
    const value = mergedTrees(resource, members.get(element), own.get(element), under);
    if (value !== undefined) merged.set(element, value);
  }
  return rebuilt(applied, merged);
}

/** Returns the fields of `after` that are missing in `before` or have another value there. */
export function changes(resource: Resource, before: unknown, after: unknown, place = ''): FieldSet {
  const [then, now] = [membersOf(resource, place, before), membersOf(resource, place, after)];
  const isSame = (then !== undefined && now !== undefined) || isDeepStrictEqual(before, after);
  const under = Array.from(now ?? [], ([element, member]) => {
    const inner = changes(resource, then?.get(element), member, placeUnder(place, element));
    return [element, inner] as const;
  });
  return fieldSet(!isSame, under);
}

/** Returns what an applied object claims: fields without fields below them, and items of lists. */
export function claimed(resource: Resource, object: unknown): FieldSet {
  const leaves = (set: FieldSet, own: PathElement): FieldSet => {
    const under = elementsUnder(set).map((element) => [element, leaves(set?.[element], element)] as const);
    return fieldSet(under.length === 0 || own.startsWith('k:'), under);
  };
  return leaves(changes(resource, undefined, object), '');
}

/** Returns undefined when nothing is left of the value. A map stays while it has members. */
export function withoutFields(resource: Resource, value: unknown, gone: FieldSet, place = ''): unknown {
  if (gone === undefined) return value;
  const members = membersOf(resource, place, value);
  if (members === undefined || members.size === 0) return includes(gone) ? undefined : value;
  const left = new Map<PathElement, unknown>();
  for (const [element, member] of members) {
    const inner = gone[element];
    const isItem = element.startsWith('k:') && includes(inner);
    const rest = isItem ? undefined : withoutFields(resource, member, inner, placeUnder(place, element));
    if (rest !== undefined) left.set(element, rest);
  }
  return left.size === 0 ? undefined : rebuilt(value, left);
}

// Works with sets of fields in the format of metadata.managedFields, FieldsV1.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/#System

/** `f:name` is a field, `k:{"type":"Ready"}` an item of a list, `v:"x"` an item of a set. */
export type PathElement = string;

/** `{}` is a field without fields below it. A field with others below it is in the set when it has the key `.`. */
interface FieldsV1 {
  readonly [element: PathElement]: FieldsV1;
}
/** Undefined is the empty set. */
export type FieldSet = FieldsV1 | undefined;

export function isFieldsV1(value: unknown): value is FieldsV1 {
  if (!isJsonObject(value)) return false;
  return Object.entries(value).every(([element, set]) => /^(?:\.$|[fkv]:)/.test(element) && isFieldsV1(set));
}

function includes(set: FieldSet): boolean {
  return set !== undefined && (set['.'] !== undefined || Object.keys(set).length === 0);
}

/** Builds the set of one field and the fields below it. */
function fieldSet(isIncluded: boolean, under: readonly (readonly [PathElement, FieldSet])[]): FieldSet {
  const entries = under.flatMap(([element, set]) => (set === undefined ? [] : [[element, set] as const]));
  if (entries.length === 0) return isIncluded ? {} : undefined;
  return Object.fromEntries<FieldsV1>(isIncluded ? [['.', {}], ...entries] : entries);
}

function elementsUnder(set: FieldSet): readonly PathElement[] {
  return Object.keys(set ?? {}).filter((element) => element !== '.');
}

export function union(one: FieldSet, other: FieldSet): FieldSet {
  return combined(one, other, (isInOne, isInOther) => isInOne || isInOther);
}

export function difference(one: FieldSet, other: FieldSet): FieldSet {
  return combined(one, other, (isInOne, isInOther) => isInOne && !isInOther);
}

export function intersection(one: FieldSet, other: FieldSet): FieldSet {
  return difference(one, difference(one, other));
}

type Rule = (isInOne: boolean, isInOther: boolean) => boolean;

function combined(one: FieldSet, other: FieldSet, rule: Rule): FieldSet {
  const elements = new Set([...elementsUnder(one), ...elementsUnder(other)]);
  const under = Array.from(elements, (element) => {
    return [element, combined(one?.[element], other?.[element], rule)] as const;
  });
  return fieldSet(rule(includes(one), includes(other)), under);
}

/** Returns paths as conflicts name them: `.status.conditions[type="Ready"].status`. */
export function shownFields(set: FieldSet, path = ''): readonly string[] {
  const under = elementsUnder(set).flatMap((element) =>
    shownFields(set?.[element], `${path}${shownElement(element)}`),
  );
  return includes(set) ? [path, ...under] : under;
}

function shownElement(element: PathElement): string {
  const text = element.slice(2);
  if (element.startsWith('f:')) return `.${text}`;
  if (element.startsWith('v:')) return `[=${text}]`;
  return `[${text.slice(1, -1).replaceAll(/"(\w+)":/g, '$1=')}]`;
}

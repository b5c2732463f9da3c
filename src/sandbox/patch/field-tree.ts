// An object as a tree of fields: which values have fields of their own, how trees merge, and in what they differ.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, ownMember } from '../../base/json.ts';
import type { Resource } from '../resource.ts';
import { elementsUnder, fieldSet, includes, type PathElement, type FieldSet } from './field-set.ts';

type Members = ReadonlyMap<PathElement, unknown>;

/** Maps that are one field, of built-in kinds: x-kubernetes-map-type in https://github.com/kubernetes/kubernetes/tree/master/api/openapi-spec */
const atomicMaps =
  /^(?:involvedObject|related|roleRef|secrets\/\*|spec\/(?:match(?:Constraints|Resources)|param(?:Kind|Ref)|podSelector|scopeSelector|variables\/\*)|webhooks\/\*\/(?:namespace|object)Selector)$/;

/** What identifies the items of a list; empty for a set, undefined for a list that is replaced as a whole. */
export function listKeysAt({ listKeys }: Pick<Resource, 'listKeys'>, place: string) {
  return Object.hasOwn(listKeys, place) ? listKeys[place] : undefined;
}

/** Undefined for an item without one of its keys. */
export function elementOf(item: unknown, keys: readonly string[]): PathElement | undefined {
  if (keys.length === 0) return `v:${JSON.stringify(item)}`;
  const pairs = keys.toSorted().map((key) => [key, ownMember(item, key)] as const);
  const isWhole = pairs.every(([, value]) => value !== undefined);
  return isWhole ? `k:${JSON.stringify(Object.fromEntries(pairs))}` : undefined;
}

/** `spec/ports/*` for the items of the list `spec/ports`. */
export function placeUnder(place: string, element: PathElement): string {
  const name = element.startsWith('f:') ? element.slice(2) : '*';
  return place === '' ? name : `${place}/${name}`;
}

/** The fields that a value has of its own; undefined where it is one field itself, and so are lists whose items cannot be told apart. */
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

/** A value of the form of `like` with these members. */
function rebuilt(like: unknown, members: Members): unknown {
  if (Array.isArray(like)) return [...members.values()];
  return Object.fromEntries([...members].map(([element, member]) => [element.slice(2), member]));
}

/** Where an applied value is null, it is owned, but what is there stays. */
export function mergedTrees(resource: Resource, there: unknown, applied: unknown, place = ''): unknown {
  if (applied === undefined || applied === null) return there;
  const own = membersOf(resource, place, applied);
  if (own === undefined) return applied;
  const members: Members = membersOf(resource, place, there) ?? new Map();
  // A list has the order of whoever applies all of it; others add to its end.
  const isWhole = [...members.keys()].every((element) => own.has(element));
  const merged = new Map<PathElement, unknown>();
  for (const element of isWhole ? own.keys() : [...members.keys(), ...own.keys()]) {
    const under = placeUnder(place, element);
    const value = mergedTrees(resource, members.get(element), own.get(element), under);
    if (value !== undefined) merged.set(element, value);
  }
  return rebuilt(applied, merged);
}

/** Of `after`: what is not in `before`, or has another value there. */
export function changes(resource: Resource, before: unknown, after: unknown, place = ''): FieldSet {
  const [then, now] = [membersOf(resource, place, before), membersOf(resource, place, after)];
  const isSame = (then !== undefined && now !== undefined) || isDeepStrictEqual(before, after);
  const under = Array.from(now ?? [], ([element, member]) => {
    const inner = changes(resource, then?.get(element), member, placeUnder(place, element));
    return [element, inner] as const;
  });
  return fieldSet(!isSame, under);
}

/** What an applied object claims: fields with nothing under them, and the items of lists. */
export function claimed(resource: Resource, object: unknown): FieldSet {
  const leaves = (set: FieldSet, own: PathElement): FieldSet => {
    const under = elementsUnder(set).map((element) => [element, leaves(set?.[element], element)] as const);
    return fieldSet(under.length === 0 || own.startsWith('k:'), under);
  };
  return leaves(changes(resource, undefined, object), '');
}

/** Undefined where nothing is left of the value. Maps are left as long as anything is in them. */
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

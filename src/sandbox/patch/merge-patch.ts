// Applies JSON merge patches, and strategic ones, which also merge lists whose items have keys.
// https://www.rfc-editor.org/rfc/rfc7396
// https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
import { isJsonObject, ownMember, withMergePatch, type JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { badRequestError } from '../api-error.ts';
import type { Resource } from '../resource.ts';
import { elementOf, listKeysAt, placeUnder, type PathElement } from './field-tree.ts';

/** Undefined for a plain merge patch. */
type Lists = Pick<Resource, 'listKeys'>;

export function mergePatched(object: KubeObject, patch: unknown, lists?: Lists): KubeObject {
  if (!isJsonObject(patch)) throw badRequestError('error decoding patch: a merge patch is an object');
  return patchedObject(
    lists === undefined ? withMergePatch(object, patch) : mergedMap(lists, '', object, patch),
  );
}

/** Returns the patched value as an object. Missing metadata becomes empty, and the missing name is refused later. */
export function patchedObject(value: unknown): KubeObject {
  const metadata = isJsonObject(value) ? (value['metadata'] ?? {}) : undefined;
  if (isJsonObject(value) && isJsonObject(metadata)) return { ...value, metadata };
  throw badRequestError('the patch does not leave an object with metadata');
}

const listDirective = /^\$(?:deleteFromPrimitiveList|setElementOrder)\//;

function mergedMap(lists: Lists, place: string, there: unknown, patch: JsonObject): JsonObject {
  const isKept = isJsonObject(there) && directiveOf(patch) !== 'replace';
  const result = new Map(Object.entries(isKept ? there : {}));
  for (const key of new Set(Object.keys(patch).map((name) => name.replace(listDirective, '')))) {
    if (key === '$patch' || key === '$retainKeys') continue;
    const value = mergedField(lists, placeUnder(place, `f:${key}`), result.get(key), [key, patch]);
    if (value === undefined) result.delete(key);
    else result.set(key, value);
  }
  return Object.fromEntries(result);
}

type Field = readonly [key: string, patch: JsonObject];

function mergedField(lists: Lists, place: string, there: unknown, [key, patch]: Field): unknown {
  const value = ownMember(patch, key);
  if (value === null || directiveOf(value) === 'delete') return undefined;
  if (isJsonObject(value)) return mergedMap(lists, place, there, value);
  const keys = listKeysAt(lists, place);
  if (keys === undefined || (value !== undefined && !Array.isArray(value))) return value ?? there;
  const items = mergedItems(lists, place, itemsOf(there, keys), itemsOf(value, keys));
  const gone = itemsOf(ownMember(patch, `$deleteFromPrimitiveList/${key}`), keys);
  const order = itemsOf(ownMember(patch, `$setElementOrder/${key}`), keys);
  const elements = [...order.keys(), ...items.keys()].filter((one) => items.has(one) && !gone.has(one));
  return Array.from(new Set(elements), (element) => items.get(element));
}

type Items = ReadonlyMap<PathElement, unknown>;

function mergedItems(lists: Lists, place: string, there: Items, patched: Items): Items {
  const isReplaced = [...patched.values()].some((item) => directiveOf(item) === 'replace');
  const items = new Map(isReplaced ? [] : there);
  for (const [element, item] of patched) {
    const isMap = isJsonObject(item);
    if (['delete', 'replace'].includes(String(directiveOf(item)))) items.delete(element);
    else items.set(element, isMap ? mergedMap(lists, `${place}/*`, items.get(element), item) : item);
  }
  return items;
}

/** An item without its key is a new item every time and is refused later. */
function itemsOf(value: unknown, keys: readonly string[]): Items {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return new Map(list.map((item) => [elementOf(item, keys) ?? JSON.stringify(item), item]));
}

function directiveOf(patch: unknown): unknown {
  return ownMember(patch, '$patch');
}

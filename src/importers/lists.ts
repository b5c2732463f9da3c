// Small work on lists and fields that several importers have in common.
import { isJsonObject, type JsonObject } from '../base/json.ts';

/** Leaves missing and empty fields out. False, 0 and "" are values; undefined, {} and [] are not. */
export function filled(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === undefined || (isJsonObject(value) && Object.keys(value).length === 0);
}

export function distinct<T>(items: readonly T[]): readonly T[] {
  return [...new Map(items.map((each) => [JSON.stringify(each), each])).values()];
}

/** An empty list gives one empty part. */
export function inParts<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  if (items.length <= size) return [items];
  return [items.slice(0, size), ...inParts(items.slice(size), size)];
}

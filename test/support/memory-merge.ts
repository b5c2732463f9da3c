// Merges an applied object into the stored object, as an API server does.
import { isJsonObject, ownMember, type JsonObject } from '../../src/base/json.ts';
import type { KubeObject } from '../../src/base/metadata.ts';

/** Lists that are merged by the type of their items. All other lists are replaced as a whole. */
const keyedLists = new Set(['conditions']);

/** Removes fields that were applied before and are left out now. Fields of others stay. */
export function appliedTo(known: KubeObject, before: JsonObject, wanted: KubeObject): KubeObject {
  return merged(removed(known, before, wanted), wanted) as KubeObject;
}

export function without<T extends object>(object: T, isUnwanted: (value: unknown) => boolean): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => !isUnwanted(value))) as T;
}

function removed(known: JsonObject, before: JsonObject, wanted: JsonObject): JsonObject {
  const entries = Object.entries(known).flatMap(([key, value]): [string, unknown][] => {
    const [old, next] = [ownMember(before, key), ownMember(wanted, key)];
    if (old === undefined) return [[key, value]];
    if (isJsonObject(value) && isJsonObject(old)) {
      const rest = removed(value, old, isJsonObject(next) ? next : {});
      return next === undefined && Object.keys(rest).length === 0 ? [] : [[key, rest]];
    }
    return next === undefined ? [] : [[key, value]];
  });
  return Object.fromEntries(entries);
}

function merged(known: unknown, wanted: unknown, key = ''): unknown {
  if (isJsonObject(known) && isJsonObject(wanted)) {
    const keys = [...new Set([...Object.keys(known), ...Object.keys(wanted)])];
    return Object.fromEntries(
      keys.map((name) => [
        name,
        Object.hasOwn(wanted, name) ? merged(ownMember(known, name), wanted[name], name) : known[name],
      ]),
    );
  }
  if (keyedLists.has(key) && Array.isArray(known) && Array.isArray(wanted))
    return mergedByType(known, wanted);
  return wanted;
}

function mergedByType(known: readonly unknown[], wanted: readonly unknown[]): readonly unknown[] {
  const isApplied = (item: unknown) =>
    wanted.some((each) => ownMember(each, 'type') === ownMember(item, 'type'));
  return [...known.filter((item) => !isApplied(item)), ...wanted];
}

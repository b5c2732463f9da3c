// How an API server puts an applied object, or a merge patch, into the one that it has.
import { isJsonObject, type JsonObject } from '../../src/api/json.ts';
import type { KubeObject } from '../../src/api/kube-object.ts';

/** Lists of these are maps by the type of their items; all others are replaced as a whole. */
const keyedLists = new Set(['conditions']);

/** What was applied before and is left out now goes; what others have put there stays. */
export function appliedTo(known: KubeObject, before: JsonObject, wanted: KubeObject): KubeObject {
  return merged(removed(known, before, wanted), wanted) as KubeObject;
}

/** https://www.rfc-editor.org/rfc/rfc7396 */
export function mergedInto(known: KubeObject, patch: JsonObject): KubeObject {
  return patched(known, patch) as KubeObject;
}

export function without<T extends object>(object: T, isUnwanted: (value: unknown) => boolean): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => !isUnwanted(value))) as T;
}

function removed(known: JsonObject, before: JsonObject, wanted: JsonObject): JsonObject {
  const entries = Object.entries(known).flatMap(([key, value]): [string, unknown][] => {
    const [old, next] = [own(before, key), own(wanted, key)];
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
        Object.hasOwn(wanted, name) ? merged(own(known, name), wanted[name], name) : known[name],
      ]),
    );
  }
  if (keyedLists.has(key) && Array.isArray(known) && Array.isArray(wanted))
    return mergedByType(known, wanted);
  return wanted;
}

function mergedByType(known: readonly unknown[], wanted: readonly unknown[]): readonly unknown[] {
  const isApplied = (item: unknown) => wanted.some((each) => own(each, 'type') === own(item, 'type'));
  return [...known.filter((item) => !isApplied(item)), ...wanted];
}

function patched(known: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const before = isJsonObject(known) ? known : {};
  const entries = Object.entries(before).filter(([key]) => own(patch, key) !== null);
  const result = new Map<string, unknown>(entries);
  for (const [key, value] of Object.entries(patch)) {
    if (value !== null && value !== undefined) result.set(key, patched(own(before, key), value));
  }
  return Object.fromEntries(result);
}

function own(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
